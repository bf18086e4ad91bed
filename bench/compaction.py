"""Compacting a directory in place: input bytes a processor second, apart from waiting for the disk.

    python bench/compaction.py [--size-mb 300] [--sets a,b,c] [--runs 3]

A third of the messages is acknowledged on both queues one by one, a third on one; the rest waits. The plan reads the
journal and the pages; the run writes every page anew and keeps no backup. ``fsync`` is left out: that is waiting.
``plain copy`` is the measure of the machine: the same bytes read and as many written as the run writes, nothing else.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import QUEUES, record, write  # noqa: E402

from pageengine.data_directory import write_journal  # noqa: E402
from pagefmt.compaction.apply import apply  # noqa: E402
from pagefmt.compaction.disk_steps import RealDisk  # noqa: E402
from pagefmt.compaction.plan import CompactionPlan, Rewrite  # noqa: E402
from pagefmt.compaction.planning import make_plan  # noqa: E402
from pagefmt.journal.bodies import CursorAck, encode_body  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.locate import within  # noqa: E402
from pagefmt.page import open_page  # noqa: E402


def acknowledge(data: Path) -> int:
    """Journal records for two thirds of the messages, interleaved; how many."""
    found, number = [], 10_000_000
    for path in sorted(data.rglob("*.page")):
        with open_page(path) as page:
            records = sum(1 for _ in page.frames())
        for at in range(records):
            for queue in QUEUES[: 2 - at % 3]:
                number += 1
                body = encode_body(CursorAck(queue, int(path.name[:9]), at))
                found.append(record(number, RecordType.ACKNOWLEDGE_CURSOR, body))
    write_journal(data / "journal", "activemq-data-{}.amq", found)
    return len(found)


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds of the plan, of the run, and of plainly reading every page and writing as much as the run."""

    plan: float
    run: float
    copy: float
    size: int
    freed: int
    acks: int


def once(kind: str, megabytes: int) -> Cost:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        write(data, kind, megabytes)
        acks = acknowledge(data)
        begun = time.process_time()
        plan = make_plan(within(data))
        planned = time.process_time()
        copy = plain_copy(plan)
        before = time.process_time()
        apply(plan, RealDisk(), None)
        return Cost(planned - begun, time.process_time() - before, copy, plan.size, plan.freed, acks)


def plain_copy(plan: CompactionPlan) -> float:
    """What no rewriting can be without: each page read, a file of the new size written and renamed."""
    begun = time.process_time()
    for step in plan.steps():
        if isinstance(step, Rewrite):
            content = step.path.read_bytes()
            fresh = step.path.with_name("copy")
            fresh.write_bytes(memoryview(content)[: step.after])
            fresh.replace(step.path.with_name("copied"))
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size-mb", type=int, default=300)
    parser.add_argument("--sets", default="a,b,c")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    os.fsync = lambda handle: None  # type: ignore[assignment]
    print(
        "set   MB in  MB freed     acks  plan CPU s  run CPU s  MB/s plan  MB/s run  MB/s both  plain copy  both/copy"
    )
    for kind in args.sets.split(","):
        best = min((once(kind, args.size_mb) for _ in range(args.runs)), key=lambda cost: cost.plan + cost.run)
        mb, both = best.size / 1e6, best.plan + best.run
        print(
            f"{kind:3} {mb:7.0f} {best.freed / 1e6:9.0f} {best.acks:8} {best.plan:11.2f} {best.run:10.2f}"
            f" {mb / best.plan:10.0f} {mb / best.run:9.0f} {mb / both:10.0f}"
            f" {best.copy:9.2f} s {both / best.copy:10.1f}"
        )


if __name__ == "__main__":
    main()
