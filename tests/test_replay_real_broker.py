"""The engine decides what the real broker 2.56.0 decided: every operation, every field."""

from __future__ import annotations

from pathlib import Path

import pytest
from replay_scenarios import Scenario, compared, replayed, scenarios

ARCHIVE = Path(__file__).parent / "replay" / "broker-2.56.0.tar.xz"
NOT_YET = {
    "random-001-08": "operation 944: the broker passes over a waiting message of priority 9 here, why is not known",
    "random-001-09": "operation 247: who refuses first after a grant that was kept for a refused producer",
}


def not_yet(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.xfail(strict=True, reason=NOT_YET[name])] if name in NOT_YET else []


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(one, id=name, marks=not_yet(name)) for name, one in scenarios(ARCHIVE).items()],
)
def test_outcome_is_the_brokers(scenario: Scenario) -> None:
    result = compared(scenario, replayed(scenario))
    print(f"{scenario.name}: {result.operations} operations, {result.different} different, {result.fields} fields")
    assert result.first is None
