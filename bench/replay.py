"""Operations a second of the replay engine, beside the real broker doing the same.

    python bench/replay.py [--operations 1000000] [--shape fill-and-drain|steady|...] [--oracle DIR] [--rounds 3]

``fill-and-drain`` is what the oracle's own bench does to a broker: every message (1 KiB, one address, pages of 10 MiB)
goes to a page, then all are consumed and acknowledged. With ``--oracle`` (the folder with Bench.java, built before) the
broker runs in the same call, and the ratio is printed. Medians; CPU seconds, so that other load matters little.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "cli"), str(ROOT / "schemas")]

from pagectl.collector import seldom_collected  # noqa: E402

from pageengine import operations as ops  # noqa: E402
from pageengine.data_directory import write_data_directory  # noqa: E402
from pageengine.engine import Engine  # noqa: E402
from pageengine.generate import Shape, Traffic, generate  # noqa: E402
from pageengine.operations import Operation, TraceHeader  # noqa: E402
from pageengine.outcome_writing import writing_outcome  # noqa: E402
from pageengine.paged_sends import PagedSends  # noqa: E402
from pageengine.profiles import profile_of  # noqa: E402
from pageengine.recording import Recording  # noqa: E402
from pageengine.replaying import steps  # noqa: E402
from pageengine.send_run import SendRun  # noqa: E402
from pageengine.settings import AddressSettings, EngineSettings, OneForAll  # noqa: E402
from pageengine.trace_reading import TraceReader, open_trace  # noqa: E402
from pageengine.trace_writing import write_trace  # noqa: E402
from pagefmt.editions import NEWEST  # noqa: E402

BATCH = 100
SETTINGS = EngineSettings(OneForAll(AddressSettings(max_size_bytes=0, page_size_bytes=10 << 20)))


def fill_and_drain(count: int) -> Iterator[Operation]:
    """``count`` operations or a little more: sends, then receives that take and acknowledge a batch each."""
    sends = count * BATCH // (BATCH + 1)
    yield ops.CreateQueue(0, 0, "q", "q")
    for n in range(sends):
        yield ops.Send(n + 1, n, "q", n, size=1024)
    yield ops.OpenConsumer(sends + 1, sends, "c", "q", "s", window=1 << 20)
    for n in range(-(-sends // BATCH)):
        yield ops.Receive(sends + 2 + n, sends + n, "c", BATCH, ops.ReceiveAck.END)


def trace_of(shape: str, count: int, folder: Path) -> Path:
    path = folder / "trace.jsonl"
    if shape == "fill-and-drain":
        write_trace(path, TraceHeader(shape, producer_window=-1), fill_and_drain(count))
    else:
        traffic = Traffic(Shape(shape), messages=count)
        write_trace(path, traffic.header, generate(traffic))
    return path


def engine_for(reader: TraceReader) -> Engine:
    return Engine(SETTINGS, profile_of(NEWEST), reader.header)


def read_only(trace: Path, folder: Path) -> int:
    return sum(len(found) if isinstance(found, SendRun) else 1 for found in open_trace(trace).runs())


def accounting_only(trace: Path, folder: Path) -> int:
    reader = open_trace(trace)
    engine = engine_for(reader)
    return sum(len(done) if isinstance(done, PagedSends) else 1 for done in steps(engine, reader))


def with_pages(trace: Path, folder: Path) -> int:
    """Every send of the trace, and then what is in pages really encoded and written, as ``replay run --out`` does."""
    reader = open_trace(trace)
    engine = engine_for(reader)
    count = 0
    for done in steps(engine, reader):
        count += len(done) if isinstance(done, PagedSends) else 1
        if not isinstance(done, PagedSends) and isinstance(done[0], ops.OpenConsumer):
            break
    shutil.rmtree(folder / "data", ignore_errors=True)
    write_data_directory(engine, folder / "data")
    return count


def whole_run(trace: Path, folder: Path) -> int:
    """As ``replay run --outcome``: read, decide, gather, write."""
    reader = open_trace(trace)
    engine = engine_for(reader)
    recording = Recording("bench")
    with writing_outcome(folder / "outcome.jsonl") as out:
        header = engine.start().as_json()
        recording.begin(header)
        for done in steps(engine, reader):
            if isinstance(done, PagedSends):
                out.sends(done)
                recording.see_sends(done)
            else:
                out.line(done[1])
                recording.see(*done)
    return recording.operations


def per_second(work: Callable[[Path, Path], int], trace: Path, folder: Path, rounds: int) -> float:
    rates = []
    for _ in range(rounds):
        start = time.process_time()
        with seldom_collected():
            count = work(trace, folder)
        rates.append(count / (time.process_time() - start))
    return median(rates)


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
    parser.add_argument("--operations", type=int, default=1_000_000)
    parser.add_argument("--shape", default="fill-and-drain", choices=["fill-and-drain", *(one.value for one in Shape)])
    parser.add_argument("--oracle", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = trace_of(given.shape, given.operations, folder)
        works = [read_only, accounting_only, whole_run]
        if given.shape == "fill-and-drain":
            works.append(with_pages)
        figures = {what.__name__: per_second(what, trace, folder, given.rounds) for what in works}
    for what, rate in figures.items():
        print(f"{what:16} {rate:12,.0f} operations a second")
    if given.oracle is not None:
        broker = broker_figures(given.oracle, min(given.operations, 150_000), given.rounds)
        # a message of this trace goes in and out, with one operation and a hundredth
        both = 1 / (1 / broker["in"] + 1 / broker["out"])
        rates = f"{broker['in']:12,.0f} messages a second in, {broker['out']:,.0f} out"
        print(f"{'broker':16} {rates}, {both:,.0f} in and out")
        print(f"accounting alone is {figures['accounting_only'] / both:.2f} times the broker")


if __name__ == "__main__":
    main()
