"""Compacting a directory in place: input bytes a processor second, apart from waiting for the disk.

    python bench/compaction.py [--size-mb 300] [--sets a,b,c] [--runs 3]

A third of the messages is acknowledged on both queues one by one, a third on one; the rest waits. The plan reads the
journal and the pages; the run writes every page anew and keeps no backup. ``fsync`` is left out: that is waiting.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import QUEUES, record, write  # noqa: E402

from pageengine.data_directory import write_journal  # noqa: E402
from pagefmt.compaction.apply import apply  # noqa: E402
from pagefmt.compaction.disk_steps import RealDisk  # noqa: E402
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


def once(kind: str, megabytes: int) -> tuple[float, float, int, int, int]:
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        write(data, kind, megabytes)
        acks = acknowledge(data)
        begun = time.process_time()
        plan = make_plan(within(data))
        planned = time.process_time()
        apply(plan, RealDisk(), None)
        return planned - begun, time.process_time() - planned, plan.size, plan.freed, acks


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size-mb", type=int, default=300)
    parser.add_argument("--sets", default="a,b,c")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    os.fsync = lambda handle: None  # type: ignore[assignment]
    print("set   MB in  MB freed     acks  plan CPU s  run CPU s  MB/s plan  MB/s run  MB/s both")
    for kind in args.sets.split(","):
        plan, run, size, freed, acks = min((once(kind, args.size_mb) for _ in range(args.runs)), key=lambda all: all[0])
        mb = size / 1e6
        print(
            f"{kind:3} {mb:7.0f} {freed / 1e6:9.0f} {acks:8} {plan:11.2f} {run:10.2f}"
            f" {mb / plan:10.0f} {mb / run:9.0f} {mb / (plan + run):10.0f}"
        )


if __name__ == "__main__":
    main()
