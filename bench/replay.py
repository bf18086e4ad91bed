"""``replay run`` as a whole, on mixed traffic, beside ``json.loads`` over the same lines and the real broker.

    python bench/replay.py [--messages 200000] [--shape steady ...] [--trace FILE ...] [--python PATH ...] [--rounds 3]
                           [--oracle DIR]

Each row is a process: ``pagectl replay run TRACE --config broker.xml``, its CPU seconds (user and system) with start-up
and report, and their ratio to ``json.loads`` over the same lines, measured in this run. Medians. ``--python`` names
other interpreters with pagectl installed, one that was installed with ``PAGECTL_COMPILE=1`` for example; without it the
checkout runs on this interpreter. ``--trace`` times recorded traffic as well.

``fill-and-drain`` is what the oracle's own bench does to a broker: every message (1 KiB, one address, pages of 10 MiB)
goes to a page, then all are consumed and acknowledged. With ``--oracle`` (the folder with Bench.java, built before) the
broker runs in the same call; its rates are wall time with all processors, ours CPU time of one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
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
BATCH = 100
CONFIGURATION = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>
<address-setting match="#"><max-size-bytes>{size}</max-size-bytes><page-size-bytes>{page}</page-size-bytes>
</address-setting></address-settings></core></configuration>
"""
WHOLE = "from pagectl.__main__ import main; main()"
COMPILED = "import pageengine.running.engine as e; print(e.__file__.endswith('.so'))"


def fill_and_drain(count: int) -> Iterator[Operation]:
    """``count`` messages: sends, then receives that take and acknowledge a batch each."""
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


def configuration(folder: Path, shape: str) -> Path:
    """Page mode from 1 MiB on in pages of 256 KiB; fill-and-drain pages everything, in pages of 10 MiB."""
    path = folder / f"{shape}.xml"
    size, page = (0, 10 << 20) if shape == FILL_AND_DRAIN else (1 << 20, 256 << 10)
    path.write_text(CONFIGURATION.format(size=size, page=page))
    return path


def loading(trace: Path, rounds: int) -> tuple[int, float]:
    """Lines, and the median of the seconds that ``json.loads`` takes for them."""
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
    """Median of the CPU seconds of a whole run, and the most memory of any child so far in MiB."""
    seconds = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [python, "-c", WHOLE, "replay", "run", str(trace), "--config", str(config), "--format", "json"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(python), cwd=trace.parent,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(seconds), after.ru_maxrss // 1024


def engine_of(python: str) -> str:
    said = subprocess.run(
        [python, "-c", COMPILED], check=True, capture_output=True, text=True, env=environment(python), cwd="/"
    )
    return "compiled" if said.stdout.strip() == "True" else "uncompiled"


def broker_figures(oracle: Path, messages: int, rounds: int) -> dict[str, float]:
    """Messages a second in and out of a real broker, without synchronous writing."""
    targets = sorted(oracle.glob("target-2.56*/cp.txt"))
    if not targets:
        raise SystemExit(f"{oracle}: no target-2.56*/cp.txt; build the oracle first (build.sh)")
    classes = f"{targets[0].parent / 'classes'}:{targets[0].read_text().strip()}"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["java", "-Xmx1g", "-cp", classes, "Bench", folder, str(messages), "1024", str(rounds)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = next(line for line in lines if "median_page_in_per_s" in line and not line["sync"])
    return {"in": found["median_page_in_per_s"], "out": found["median_consume_per_s"]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=200_000)
    shapes = [FILL_AND_DRAIN, *(one.value for one in TrafficShape)]
    parser.add_argument("--shape", nargs="+", default=FIRST, choices=shapes)
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
        traces = [*made, *given.trace]
        print(f"{'trace':24} {'engine':10} {'lines':>9} {'CPU s':>8} {'lines/s':>10} {'x json.loads':>12} {'MiB':>5}")
        for trace in traces:
            lines, loads = apart.submit(loading, trace, given.rounds).result()
            config = configuration(folder, trace.stem)
            for python, engine in engines.items():
                seconds, memory = replaying(python, trace, config, given.rounds)
                print(
                    f"{trace.stem:24} {engine:10} {lines:9,} {seconds:8.2f} {lines / seconds:10,.0f} "
                    f"{seconds / loads:12.1f} {memory:5,}",
                    flush=True,
                )
    if given.oracle is not None:
        broker = broker_figures(given.oracle, min(given.messages, 150_000), given.rounds)
        both = 1 / (1 / broker["in"] + 1 / broker["out"])
        print(f"broker: {broker['in']:,.0f} messages a second in, {broker['out']:,.0f} out, {both:,.0f} in and out")


if __name__ == "__main__":
    main()
