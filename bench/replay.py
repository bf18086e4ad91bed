"""Operations a second of the replay engine, beside the real broker doing the same.

    python bench/replay.py [--operations 1000000] [--shape fill-and-drain|steady|...] [--oracle DIR] [--rounds 3]

``fill-and-drain`` is what the oracle's own bench does to a broker: every message (1 KiB, one address, pages of 10 MiB)
goes to a page, then all are consumed and acknowledged. With ``--oracle`` (the folder with Bench.java, built before) the
broker runs in the same call, and the ratios are printed. Medians; CPU seconds here, so that other load matters little,
and wall seconds of the broker, which has all processors. Each kind of work runs in a process of its own, whose peak
memory is told.

    read         the trace alone
    fill         every send decided: accounting only
    pages        the same, and then what is in pages encoded and written, as ``replay run --out`` does
    fill+drain   every operation decided: accounting only
    drain        what fill+drain costs beyond fill, per message
    outcome      every operation decided, recorded, and written to an outcome, as ``replay run --outcome`` does
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "cli"), str(ROOT / "schemas")]

from pagectl.running.collector import seldom_collected  # noqa: E402

from pageengine.data_directory.writing import write_data_directory  # noqa: E402
from pageengine.replay.outcome_writing import writing_outcome  # noqa: E402
from pageengine.replay.recording import Recording  # noqa: E402
from pageengine.replay.replaying import steps  # noqa: E402
from pageengine.running.engine import Engine  # noqa: E402
from pageengine.settings.profiles import profile_of  # noqa: E402
from pageengine.settings.settings import AddressSettings, EngineSettings, OneForAll  # noqa: E402
from pageengine.trace import operations as ops  # noqa: E402
from pageengine.trace.generate import Traffic, TrafficShape, generate  # noqa: E402
from pageengine.trace.operations import Operation, TraceHeader  # noqa: E402
from pageengine.trace.reading import TraceReader, open_trace  # noqa: E402
from pageengine.trace.writing import write_trace  # noqa: E402
from pagefmt.editions import NEWEST  # noqa: E402

BATCH = 100
SETTINGS = EngineSettings(OneForAll(AddressSettings(max_size_bytes=0, page_size_bytes=10 << 20)))


def fill_and_drain(count: int) -> Iterator[Operation]:
    """``count`` operations or a little more: sends, then receives that take and acknowledge a batch each."""
    sends = count * BATCH // (BATCH + 1)
    yield ops.CreateQueue("q", t=0)
    for n in range(sends):
        yield ops.Send("q", n, size=1024, i=n + 1, t=n)
    yield ops.OpenConsumer("c", "q", "s", window=1 << 20, i=sends + 1, t=sends)
    for n in range(-(-sends // BATCH)):
        yield ops.Receive("c", BATCH, ops.ReceiveAck.END, i=sends + 2 + n, t=sends + n)


def trace_of(shape: str, count: int, folder: Path) -> Path:
    path = folder / "trace.jsonl"
    if shape == "fill-and-drain":
        write_trace(path, TraceHeader(shape, producer_window=-1), fill_and_drain(count))
    else:
        traffic = Traffic(TrafficShape(shape), messages=count)
        write_trace(path, traffic.header, generate(traffic))
    return path


def engine_for(reader: TraceReader) -> Engine:
    return Engine(SETTINGS, profile_of(NEWEST), reader.header)


def read(trace: Path, folder: Path) -> int:
    return sum(1 for _ in open_trace(trace))


def decided(engine: Engine, reader: TraceReader, *, upto: type[object] | None = None) -> int:
    """Applies the operations, up to the first of a kind; returns their number."""
    count = 0
    for item, _result in steps(engine, reader):
        count += 1
        if upto is not None and isinstance(item, upto):
            break
    return count


def fill_and_drain_alone(trace: Path, folder: Path) -> int:
    reader = open_trace(trace)
    return decided(engine_for(reader), reader)


def fill(trace: Path, folder: Path) -> int:
    reader = open_trace(trace)
    return decided(engine_for(reader), reader, upto=ops.OpenConsumer)


def pages(trace: Path, folder: Path) -> int:
    reader = open_trace(trace)
    engine = engine_for(reader)
    count = decided(engine, reader, upto=ops.OpenConsumer)
    shutil.rmtree(folder / "data", ignore_errors=True)
    write_data_directory(engine, folder / "data")
    return count


def outcome(trace: Path, folder: Path) -> int:
    """As ``replay run --outcome``: read, decide, gather, write."""
    reader = open_trace(trace)
    engine = engine_for(reader)
    recording = Recording("bench")
    with writing_outcome(folder / "outcome.jsonl") as write:
        write(engine.start().as_json())
        recording.begin(engine.state())
        for item, result in steps(engine, reader):
            write(result.as_json())
            recording.see(item, result)
    return recording.operations


WORKS: dict[str, Callable[[Path, Path], int]] = {
    "read": read, "fill": fill, "pages": pages, "fill+drain": fill_and_drain_alone, "outcome": outcome,
}  # fmt: skip


def measured(name: str, trace: Path, folder: Path, rounds: int) -> tuple[int, float, int]:
    """Operations, median of the CPU seconds, peak memory in MiB."""
    seconds = []
    count = 0
    for _ in range(rounds):
        start = time.process_time()
        with seldom_collected():
            count = WORKS[name](trace, folder)
        seconds.append(time.process_time() - start)
    return count, median(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def apart(name: str, trace: Path, folder: Path, rounds: int) -> tuple[int, float, int]:
    """The same in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured, name, trace, folder, rounds).result()


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
    parser.add_argument(
        "--shape", default="fill-and-drain", choices=["fill-and-drain", *(one.value for one in TrafficShape)]
    )
    parser.add_argument("--oracle", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = trace_of(given.shape, given.operations, folder)
        found = {}
        for work in WORKS if given.shape == "fill-and-drain" else ("read", "fill+drain", "outcome"):
            found[work] = count, seconds, memory = apart(work, trace, folder, given.rounds)
            print(f"{work:10} {count / seconds:12,.0f} operations a second, {memory:6,} MiB at most", flush=True)
    if given.shape != "fill-and-drain":
        return
    messages = found["fill"][0] - 2
    rates = {work: count / seconds for work, (count, seconds, _) in found.items()}
    rates["drain"] = messages / max(found["fill+drain"][1] - found["fill"][1], 1e-9)
    print(f"{'drain':10} {rates['drain']:12,.0f} messages a second")
    if given.oracle is not None:
        broker = broker_figures(given.oracle, min(given.operations, 150_000), given.rounds)
        beside_the_broker(rates, broker)


def beside_the_broker(rates: dict[str, float], broker: dict[str, float]) -> None:
    """A message of fill+drain goes in and out, with one operation and a hundredth."""
    broker["in and out"] = 1 / (1 / broker["in"] + 1 / broker["out"])
    print("broker     " + ", ".join(f"{rate:,.0f} messages a second {way}" for way, rate in broker.items()))
    ways = {"fill": "in", "pages": "in", "drain": "out", "fill+drain": "in and out", "outcome": "in and out"}
    for work, way in ways.items():
        print(f"{work:10} {rates[work] / broker[way]:8.2f} times the broker {way}")


if __name__ == "__main__":
    main()
