"""What brokers leave on the disk that are killed in the middle of their work, against what the engine says of a crash.

Each scenario is played at its own times and killed (SIGKILL) at each of its instants; a broker drains a copy of what
was left. Everything that the engine calls sure must be there, and nothing that it calls lost; no message whose durable,
blocking send was answered may be missing, whatever the engine says. ``PAGECTL_SEED`` chooses other random scenarios.
``PAGECTL_RECORD`` names a file that what was observed is written to, for ``tests/recorded/crashes``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from broker_jars import CURRENT, oracle
from crash_broker import left_behind
from crash_scenarios import Line, all_scenarios, observation, promised

pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
SEED = int(os.environ.get("PAGECTL_SEED", "16"))


@pytest.mark.parametrize("version", CURRENT)
def test_a_killed_broker_leaves_what_is_promised(version: str, tmp_path: Path) -> None:
    oracle()
    runs = [(one, one.until(instant)) for one in all_scenarios(SEED) for instant in one.instants]
    wrong: list[str] = []
    kept: list[Line] = []
    unsure = 0
    for (one, lines), (killed, delivered) in zip(runs, left_behind(version, runs, tmp_path), strict=True):
        where = f"{one.name} at {lines[-1]['t'] // 1_000_000} ms"
        promise = promised(one.configuration, lines, version, tmp_path)
        observed = {name: set(seqs) for name, seqs in delivered.items()}
        wrong += [f"{where}: {text}" for text in promise.wrong(observed)]
        unsure += sum(len(promise.possible[name] - promise.sure[name]) for name in promise.sure)
        wrong += [f"{where}: answered, and not there: {seq}" for seq in one.broken(lines, killed.answered, observed)]
        if all(promise.sure[name] == promise.possible[name] for name in promise.sure):
            ours = {name: count for name, count in killed.paged().items() if name in promise.paged}
            theirs = {name: promise.paged[name] for name in ours}
            wrong += [] if ours == theirs else [f"{where}: outstanding in pages: {ours}, promised {theirs}"]
        kept.append(observation(one, lines, version, killed.answered, delivered))
    print(f"{version}: {len(runs)} kills, {unsure} messages the engine is not sure of, {len(wrong)} contradictions")
    if "PAGECTL_RECORD" in os.environ:
        with Path(os.environ["PAGECTL_RECORD"]).open("a") as out:
            out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in kept)
    assert not wrong, "\n".join(wrong)
