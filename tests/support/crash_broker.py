"""A real broker that plays a trace and is killed (SIGKILL) at the instant where the trace crashes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from broker_drains import drains, failure, queues
from broker_jars import class_path, compiled
from crash_scenarios import CrashScenario, Line

from pageengine.trace.operations import NS_PER_MS
from pagefmt.vectors import load_state

PROGRAM = Path(__file__).resolve().parents[1] / "oracle_java" / "CrashBroker.java"
LATE_MS = 40
"""An operation that began later than this, or a disk that stood still for longer, makes the run worthless: the instants
of scenarios lie 43 ms from events, or more."""
TRIES = 10
WARM = "paged.warm"
"""The program warms up with a queue of this name."""
AT_ONCE = int(os.environ.get("PAGECTL_CRASH_BROKERS", "2"))
JAVA = ("java", "-Xmx300m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp")


@dataclass
class Killed:
    """A run: the folder that was left (``data`` and the configuration), and what the clients had got to know."""

    folder: Path
    answered: list[int]

    def paged(self) -> dict[str, int]:
        """Return how many messages are outstanding in the pages of each queue."""
        state = load_state(*(self.folder / "data" / name for name in ("paging", "journal", "bindings")))
        loads = [load for store in state.stores() for load in store.summary().queues]
        return {load.binding.name: load.messages for load in loads if load.binding is not None}


class LateRun(Exception):
    """The machine was too busy to keep the times of the trace."""


def killed(classes: str, scenario: CrashScenario, lines: Sequence[Line], folder: Path) -> Killed:
    """Play the trace until its crash, and kill the broker there."""
    for number in range(TRIES):
        try:
            return _killed(classes, scenario, lines, folder / str(number))
        except LateRun as late:
            reason = late
            time.sleep(number)
    raise AssertionError(f"{scenario.name}: {TRIES} runs were late: {reason}")


def _killed(classes: str, scenario: CrashScenario, lines: Sequence[Line], folder: Path) -> Killed:
    folder.mkdir(parents=True)
    (folder / "broker.xml").write_text(scenario.configuration)
    trace = folder.with_suffix(".ops")
    trace.write_text("".join("\t".join(f"{key}={_text(value)}" for key, value in op.items()) + "\n" for op in lines))
    words = [*JAVA, classes, "CrashBroker", str(folder / "broker.xml"), str(folder / "data"), str(trace)]
    with folder.with_suffix(".err").open("w") as said:
        running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=said, text=True)
    told = []
    assert running.stdout is not None
    try:
        for line in running.stdout:
            told.append(line.split())
            if line.startswith("crash"):
                break
    finally:
        running.kill()
        running.wait()
    (folder / "data" / "journal" / "server.lock").unlink(missing_ok=True)
    assert told and told[-1][0] == "crash", f"{scenario.name}: {told[-3:]} {folder.with_suffix('.err').read_text()}"
    for what, number, *rest in told:
        assert what != "failed", f"{scenario.name}: operation {number} failed: {rest}"
        if what == "stalled" and int(rest[0]) > LATE_MS * NS_PER_MS:
            raise LateRun(f"a write to the disk took {int(rest[0]) // NS_PER_MS} ms")
        late = int(rest[0]) - lines[int(number)]["t"]
        if what in ("began", "crash") and late > LATE_MS * NS_PER_MS:
            raise LateRun(f"operation {number} began {late // NS_PER_MS} ms late")
    return Killed(folder, [int(number) for what, number, *_ in told if what == "answered"])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def left_behind(
    version: str, runs: Sequence[tuple[CrashScenario, Sequence[Line]]], folder: Path
) -> list[tuple[Killed, dict[str, list[int]]]]:
    """Run and kill a broker for each scenario.

    Return each run with ``seq`` of the messages that a broker delivers afterwards, by queue.
    """
    out = folder / "classes"
    out.mkdir(parents=True, exist_ok=True)
    classes = compiled(PROGRAM, class_path(version), out)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        done = [
            pool.submit(killed, classes, scenario, lines, folder / str(number))
            for number, (scenario, lines) in enumerate(runs)
        ]
        found = [one.result() for one in done]
    told = drains(version, [one.folder for one in found])
    delivered = []
    for one in found:
        assert failure(told[one.folder]) is None, (one.folder, failure(told[one.folder]))
        by_queue = queues(told[one.folder])
        by_queue.pop(WARM)
        delivered.append((one, {name: [int(str(m[1])) for m in queue.messages] for name, queue in by_queue.items()}))
    return delivered
