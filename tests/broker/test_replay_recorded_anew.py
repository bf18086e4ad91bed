"""Traces that nobody has seen: made now by the oracle's generator, recorded on a real 2.56.0, and replayed.

``PAGECTL_SEED`` chooses others. Each is recorded three times; what differs between the recordings is left out, and so
is what the broker is known to decide by chance (see ``replay/README.md``).
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from broker_jars import load, recorder
from replay_scenarios import Line, Scenario, flat, replayed, with_full_states

pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
SEED = int(os.environ.get("PAGECTL_SEED", "71"))
TRACES = 2
OPERATIONS = 200
RUNS = 3
BY_CHANCE = {"mem_n", "mem_bytes", "reached_broker"}


@pytest.fixture(scope="module")
def programs() -> tuple[ModuleType, ModuleType]:
    folder = recorder()
    sys.path.insert(0, str(folder))
    return load(folder / "gen.py"), load(folder / "run.py")


@pytest.mark.parametrize("number", range(TRACES))
def test_outcome_is_the_brokers(number: int, tmp_path: Path, programs: tuple[ModuleType, ModuleType]) -> None:
    made, recorded = programs
    rng = random.Random(f"anew/{SEED}/{number}")
    trace = made.Trace("anew", rng)
    made.write(str(tmp_path), "anew", trace, made.random_scenario(trace, OPERATIONS))
    folder = tmp_path / "anew"
    for run in range(RUNS):
        failed = recorded.run_batch([str(folder)], run, recorded.classpath("target-2.56.0"), "invm", 600)
        assert not failed, failed
    outcomes = [str(folder / f".run{run}.jsonl") for run in range(RUNS)]
    by_chance = recorded.compare(outcomes)
    timing = {"timing_dependent": by_chance, "stable_until": recorded.stable_until(by_chance)}
    read = [(folder / name).read_bytes() for name in ("broker.xml", "trace.jsonl", ".run0.jsonl")]
    scenario = Scenario(f"{SEED}/{number}", *read, timing)
    wrong = differences(scenario, replayed(scenario))
    print(f"seed {SEED}, trace {number}: {len(trace.ops)} operations, {len(by_chance)} fields by chance, {wrong}")
    assert not wrong


def differences(scenario: Scenario, found: list[Line]) -> list[str]:
    """Return every differing field of the outcome lines, except those that vary by timing or chance."""
    skip = {(i, key) for i, key in scenario.timing["timing_dependent"]}
    until = scenario.timing["stable_until"]
    expected = with_full_states([json.loads(line) for line in scenario.outcome.splitlines()])
    wrong = []
    for theirs, ours in list(zip(expected, with_full_states(found), strict=True))[1:]:
        i = "end" if "end" in theirs else theirs["i"]
        if until is not None and (i == "end" or (until != "end" and i >= until)):
            break
        mine = dict(flat(ours))
        for key, value in flat(theirs):
            other = mine.get(key)
            if key == "got":
                value, other = sorted(value), sorted(other or [])
            if value != other and (i, key) not in skip and key.split(".")[-1] not in BY_CHANCE:
                wrong.append(f"{i} {key}: broker {value!r}, engine {other!r}")
    return wrong
