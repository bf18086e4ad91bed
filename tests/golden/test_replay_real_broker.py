"""The engine decides what the real broker 2.56.0 decided: every operation, every field."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay_scenarios import Scenario, compared, replayed, scenarios

from pagefmt.editions import Edition

FOLDER = Path(__file__).parents[1] / "recorded" / "replays"
RECORDED = {
    name: scenario
    for archive in ("broker", "features", "fresh")
    for name, scenario in scenarios(FOLDER / f"{archive}-2.56.0.tar.xz").items()
}
NOT_YET = {"duplicates": "operation 44: the recorder does not see a duplicate in a transaction, and says unknown"}


def not_yet(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(strict=True, reason=NOT_YET[name])] if name in NOT_YET else []


@pytest.mark.parametrize(
    "scenario", [pytest.param(one, id=name, marks=not_yet(name)) for name, one in RECORDED.items()]
)
def test_outcome_is_the_brokers(scenario: Scenario) -> None:
    result = compared(scenario, replayed(scenario))
    print(f"{scenario.name}: {result.operations} operations, {result.different} different, {result.fields} fields")
    assert result.first is None


OLDER = {
    f"{edition.release}/{name}": (edition, scenario)
    for edition in (Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_28)
    for name, scenario in scenarios(FOLDER / f"fresh-{edition.release}.tar.xz").items()
}


@pytest.mark.parametrize("name", OLDER)
def test_outcome_is_the_older_brokers(name: str) -> None:
    edition, scenario = OLDER[name]
    result = compared(scenario, replayed(scenario, edition))
    print(f"{name}: {result.operations} operations, {result.different} different, {result.fields} fields")
    assert result.first is None
