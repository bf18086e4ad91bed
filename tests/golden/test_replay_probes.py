"""The engine decides what brokers of eight releases decided at the limits: every step's state and every page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_scenarios import EDITIONS, Run, probes, settings_of

from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.trace.operations import CreateQueue, TraceHeader

ARCHIVE = Path(__file__).parents[1] / "recorded" / "replays" / "probes.tar.xz"
READ_TOO_EARLY = {
    # the probe looks 25 ms after the send; here the broker's page or count came later, and the next step shows it
    "2.28.0/page-tx": {59, 76},
    "2.17.0/page-nondurable": {34},
}
FOUND = probes(ARCHIVE)


@pytest.mark.parametrize("name", [name for name, probe in FOUND.items() if probe["error"] is None])
def test_steps_and_pages_are_the_brokers(name: str) -> None:
    run = Run(FOUND[name], profile_of(EDITIONS[name.split("/")[0]]))
    run.go()
    early = READ_TOO_EARLY.get(name, set())
    wrong = [said for said in run.different if int(said.split()[1]) not in early]
    print(f"{name}: {run.steps} steps, {len(wrong)} different")
    assert wrong == []
    assert len({said.split()[1] for said in run.different}) == len(early)


@pytest.mark.parametrize("name", [name for name, probe in FOUND.items() if probe["error"] is not None])
def test_store_is_refused_where_the_broker_refuses_it(name: str) -> None:
    # Up to 2.19 a broker refuses page-size-bytes >= max-size-bytes.
    probe: dict[str, Any] = FOUND[name]
    engine = Engine(settings_of(probe), profile_of(EDITIONS[name.split("/")[0]]), TraceHeader("probe"))
    result = engine.apply(CreateQueue("q", "probe", t=0))
    assert result.r == "failed"
    assert not engine.broker.stores
