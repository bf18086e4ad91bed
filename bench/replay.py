"""``replay run`` as a whole, on mixed traffic, beside ``json.loads`` over the same lines and the real broker.

    python bench/replay.py [--messages 200000] [--shape steady ...] [--trace FILE ...] [--python PATH ...] [--rounds 3]
                           [--recorded NAME ...] [--oracle DIR]

Each row is a process: ``pagectl replay run TRACE --config broker.xml``, its CPU seconds (user and system) with start-up
and report, and their ratio to ``json.loads`` over the same lines, measured in this run. Medians. ``--python`` names
other interpreters with pagectl installed, one that was installed with ``PAGECTL_COMPILE=1`` for example; without it the
checkout runs on this interpreter. ``--trace`` times other traffic as well.

``jms-transactions``, ``amqp-and-mqtt`` and ``browsers-and-selectors`` were recorded from real clients on a broker
2.56.0 (tests/recorded/replays/README.md). Each is some 20,000 to 30,000 lines, and is repeated until it has as many
lines as ``--messages``: the clients come back, the queues stay.

``fill-and-drain`` is what the oracle's own bench does to a broker: every message (1 KiB, one address, pages of 10 MiB)
goes to a page, then all are consumed and acknowledged. With ``--oracle`` (the folder with Bench.java, built before) the
broker runs in the same call; its rates are wall time with all processors, ours CPU time of one. It also does the
operations of ``steady``, ``burst`` and ``slow-consumer``, as TrafficRate.java tells: rows ``broker``, in which the CPU
seconds are those of broker and clients, and lines a second are wall time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [str(ROOT), str(ROOT / "cli"), str(ROOT / "schemas")]
sys.path[:0] = SOURCES

from pageengine.trace import operations as ops  # noqa: E402
from pageengine.trace.generate import Traffic, TrafficShape, generate  # noqa: E402
from pageengine.trace.operations import Operation, TraceHeader  # noqa: E402
from pageengine.trace.streams import Ending, numbered_lines  # noqa: E402
from pageengine.trace.writing import write_trace  # noqa: E402

FILL_AND_DRAIN = "fill-and-drain"
FIRST = (
    "steady",
    "burst",
    "slow-consumer",
    "one-slow-subscriber",
    "selective-consumer",
    "transactions",
    FILL_AND_DRAIN,
)
RECORDED = ROOT / "tests" / "recorded" / "replays" / "clients"
CLIENTS = ("jms-transactions", "amqp-and-mqtt", "browsers-and-selectors")
AT_THE_BROKER = ("steady", "burst", "slow-consumer")
BATCH = 100
PAGED, PAGES_OF = 1 << 20, 256 << 10
CONFIGURATION = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>
<address-setting match="#"><max-size-bytes>{size}</max-size-bytes><page-size-bytes>{page}</page-size-bytes>
</address-setting></address-settings></core></configuration>
"""
WHOLE = "from pagectl.__main__ import main; main()"
COMPILED = "import pageengine.running.engine as e; print(e.__file__.endswith('.so'))"


def fill_and_drain(count: int) -> Iterator[Operation]:
    """Yield sends of ``count`` messages, then receives that take and acknowledge a batch each."""
    yield ops.CreateQueue("q", t=0)
    for n in range(count):
        yield ops.Send("q", n, size=1024, i=n + 1, t=n)
    yield ops.OpenConsumer("c", "q", "s", window=1 << 20, i=count + 1, t=count)
    for n in range(-(-count // BATCH)):
        yield ops.Receive("c", BATCH, ops.ReceiveAck.END, i=count + 2 + n, t=count + n)


def trace_of(shape: str, messages: int, folder: Path) -> Path:
    path = folder / f"{shape}.jsonl"
    if shape == FILL_AND_DRAIN:
        write_trace(path, TraceHeader(shape, producer_window=-1), fill_and_drain(messages))
    else:
        traffic = Traffic(TrafficShape(shape), messages=messages)
        write_trace(path, traffic.header, generate(traffic))
    return path


def repeated(name: str, lines: int, folder: Path) -> Path:
    """Repeat the recorded traffic, shifted in time and sequence, until the trace has at least ``lines`` lines."""
    path = folder / f"{name}.jsonl"
    header, *operations = map(json.loads, (line for line in numbered_lines(RECORDED / f"{name}.jsonl.zst", Ending())))
    messages = 1 + max(one["seq"] for one in operations if one["op"] == "send")
    seconds, again = operations[-1]["t"], [one for one in operations if one["op"] != "create_queue"]
    with path.open("w") as out:
        out.write(json.dumps(header) + "\n")
        for n in range(-(-lines // len(operations))):
            for one in again if n else operations:
                moved = {**one, "t": one["t"] + n * seconds}
                if "seq" in one:
                    moved["seq"] += n * messages
                out.write(json.dumps(moved, separators=(",", ":")) + "\n")
    return path


def configuration(folder: Path, shape: str) -> Path:
    """Write a configuration with page mode from 1 MiB on in pages of 256 KiB.

    That of fill-and-drain pages everything, in pages of 10 MiB.
    """
    path = folder / f"{shape}.xml"
    size, page = (0, 10 << 20) if shape == FILL_AND_DRAIN else (PAGED, PAGES_OF)
    path.write_text(CONFIGURATION.format(size=size, page=page))
    return path


def loading(trace: Path, rounds: int) -> tuple[int, float]:
    """Return the number of lines, and the median seconds that ``json.loads`` takes for them."""
    lines = trace.read_bytes().splitlines()
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        for line in lines:
            json.loads(line)
        seconds.append(time.process_time() - start)
    return len(lines), median(seconds)


def environment(python: str) -> dict[str, str]:
    here = python == sys.executable
    return os.environ | ({"PYTHONPATH": os.pathsep.join(SOURCES)} if here else {"PYTHONPATH": ""})


def replaying(python: str, trace: Path, config: Path, rounds: int) -> tuple[float, int]:
    """Return the median CPU seconds of a whole run, and the peak memory of any in MiB."""
    used = []
    for _ in range(rounds):
        run = subprocess.Popen(
            [python, "-c", WHOLE, "replay", "run", str(trace), "--config", str(config), "--format", "json"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(python),
            cwd=trace.parent,
        )
        _, status, usage = os.wait4(run.pid, 0)
        if status:
            raise SystemExit(f"replay run {trace}: status {status}")
        used.append(usage)
    return median(one.ru_utime + one.ru_stime for one in used), max(one.ru_maxrss for one in used) // 1024


def engine_of(python: str) -> str:
    said = subprocess.run(
        [python, "-c", COMPILED], check=True, capture_output=True, text=True, env=environment(python), cwd="/"
    )
    return "compiled" if said.stdout.strip() == "True" else "uncompiled"


class Broker:
    """A real broker of the oracle's class path, without synchronous writing."""

    def __init__(self, oracle: Path, folder: Path) -> None:
        targets = sorted(oracle.glob("target-2.56*/cp.txt"))
        if not targets:
            raise SystemExit(f"{oracle}: no target-2.56*/cp.txt; build the oracle first (build.sh)")
        jars = targets[0].read_text().strip()
        self.folder = folder / "broker"
        self.classes = f"{targets[0].parent / 'classes'}:{folder}:{jars}"
        source = ROOT / "tests" / "oracle_java" / "TrafficRate.java"
        subprocess.run(["javac", "-nowarn", "-proc:none", "-cp", jars, "-d", str(folder), str(source)], check=True)

    def _run_java(self, *words: object) -> list[dict[str, float]]:
        done = subprocess.run(
            ["java", "-Xmx1g", "-cp", self.classes, *map(str, words)], capture_output=True, text=True, check=True
        )
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def filled_and_drained(self, messages: int, rounds: int) -> dict[str, float]:
        """Return messages per second in and out of the broker."""
        lines = self._run_java("Bench", self.folder, messages, 1024, rounds)
        found = next(line for line in lines if "median_page_in_per_s" in line and not line["sync"])
        return {"in": found["median_page_in_per_s"], "out": found["median_consume_per_s"]}

    def traffic(self, trace: Path, rounds: int) -> dict[str, float]:
        """Return ``lines``, ``seconds`` and ``cpu_seconds`` of the operations of a trace."""
        return self._run_java("TrafficRate", self.folder, trace, PAGED, PAGES_OF, rounds)[-1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=200_000)
    shapes = [FILL_AND_DRAIN, *(one.value for one in TrafficShape)]
    parser.add_argument("--shape", nargs="+", default=FIRST, choices=shapes)
    parser.add_argument("--recorded", nargs="*", default=CLIENTS, choices=CLIENTS)
    parser.add_argument("--trace", nargs="+", type=Path, default=[])
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--oracle", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    engines = {python: engine_of(python) for python in given.python}
    # a child's peak counts what its parent held when it was started: so this process holds nothing
    apart = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    with tempfile.TemporaryDirectory() as name, apart:
        folder = Path(name)
        made = [apart.submit(trace_of, shape, given.messages, folder).result() for shape in given.shape]
        made += [apart.submit(repeated, name, given.messages, folder).result() for name in given.recorded]
        broker = Broker(given.oracle, folder) if given.oracle is not None else None
        print(f"{'trace':24} {'engine':10} {'lines':>9} {'CPU s':>8} {'lines/s':>10} {'x json.loads':>12} {'MiB':>5}")
        for trace in [*made, *given.trace]:
            lines, loads = apart.submit(loading, trace, given.rounds).result()
            config = configuration(folder, trace.stem)
            for python, engine in engines.items():
                seconds, memory = replaying(python, trace, config, given.rounds)
                print(
                    f"{trace.stem:24} {engine:10} {lines:9,} {seconds:8.2f} {lines / seconds:10,.0f} "
                    f"{seconds / loads:12.1f} {memory:5,}",
                    flush=True,
                )
            if broker is not None and trace.stem in AT_THE_BROKER:
                done = broker.traffic(trace, given.rounds)
                print(
                    f"{trace.stem:24} {'broker':10} {lines:9,} {done['cpu_seconds']:8.2f} "
                    f"{done['lines'] / done['seconds']:10,.0f}",
                    flush=True,
                )
        if broker is not None:
            rates = broker.filled_and_drained(min(given.messages, 150_000), given.rounds)
            both = 1 / (1 / rates["in"] + 1 / rates["out"])
            print(f"broker: {rates['in']:,.0f} messages a second in, {rates['out']:,.0f} out, {both:,.0f} in and out")


if __name__ == "__main__":
    main()
