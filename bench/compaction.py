"""Compacting a directory in place: input bytes a processor second, apart from waiting for the disk.

    python bench/compaction.py [--size-mb 300] [--sets a,b,c] [--runs 3] [--artemis HOME]

A third of the messages is acknowledged on both queues one by one, a third on one; the rest waits. The plan reads the
journal and the pages; the run writes every page anew and keeps no backup. ``fsync`` is left out: that is waiting.
``plain copy`` is the measure of the machine: the same bytes read and as many written as the run writes, nothing else.
With ``--artemis`` (an unpacked distribution) its ``data compact`` runs on a copy: it compacts the journal and leaves
the pages, we the other way round, so that bytes before and after stand for each. Nine in ten of the acknowledgements
in that journal are of pages that are gone, and deleted again.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import QUEUES, record, write  # noqa: E402
from pages import cost  # noqa: E402

from pagefmt.change.compaction.apply import apply  # noqa: E402
from pagefmt.change.compaction.plan import CompactionPlan, RewritePage  # noqa: E402
from pagefmt.change.compaction.planning import make_plan  # noqa: E402
from pagefmt.codec.pages.page import open_page  # noqa: E402
from pagefmt.directory.locate import within  # noqa: E402
from pagefmt.journal.bodies import CursorAck, encode_body  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.journal.records import JournalRecord, RecordKind  # noqa: E402
from pagefmt.journal.writing import write_journal  # noqa: E402
from pagefmt.storage.writing import Disk  # noqa: E402


def acknowledge(data: Path, gone: int = 0) -> int:
    """Write a journal that acknowledges messages for two, one or none of the queues in turn.

    Its first records are those of ``gone`` pages. Return the number of records.
    """
    found, number = list(outlived(gone)), 10_000_000
    for path in sorted(data.rglob("*.page")):
        with open_page(path) as page:
            records = sum(1 for _ in page.frames())
        for at in range(records):
            for queue in QUEUES[: 2 - at % 3]:
                number += 1
                body = encode_body(CursorAck(queue, int(path.name[:9]), at))
                found.append(record(number, RecordType.ACKNOWLEDGE_CURSOR, body))
    for empty in (data / "journal").glob("*.amq"):
        empty.unlink()
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
        apply(plan, Disk(), None)
        return Cost(planned - begun, time.process_time() - before, copy, plan.size, plan.freed, acks)


def plain_copy(plan: CompactionPlan) -> float:
    """Return the CPU seconds of the least that compaction must do: read each page, write and rename its new copy."""
    begun = time.process_time()
    for step in plan.steps():
        if isinstance(step, RewritePage):
            content = step.path.read_bytes()
            fresh = step.path.with_name("copy")
            fresh.write_bytes(memoryview(content)[: step.after])
            fresh.replace(step.path.with_name("copied"))
    return time.process_time() - begun


def outlived(pages: int) -> Iterator[JournalRecord]:
    """Yield acknowledgements of 10,000 messages of each of these pages, and the records that delete them."""
    for page in range(pages):
        first = 20_000_000 + page * 10_000
        for at in range(10_000):
            body = encode_body(CursorAck(QUEUES[0], 1_000_000 + page, at))
            yield record(first + at, RecordType.ACKNOWLEDGE_CURSOR, body)
        yield from (JournalRecord(RecordKind.DELETE, id=first + at) for at in range(10_000))


def size_of(folder: Path) -> float:
    """Return the size of the files below a folder in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def beside(kind: str, megabytes: int, home: Path) -> None:
    """Measure ``pages compact`` and the broker's ``data compact`` on copies of one directory, start-up included."""
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        write(data, kind, megabytes)
        acknowledge(data, gone=200)
        theirs = Path(shutil.copytree(data, Path(name) / "theirs" / "data"))
        ours = [sys.executable, "-m", "pagectl", "pages", "compact", str(data), "--in-place", "--no-backup"]
        tool = home / "bin" / "artemis"  # without an instance it takes data/ below the folder that it is started in
        commands = {
            "pages compact": (data, ours),
            "data compact": (
                theirs,
                ["sh", "-c", f"cd {quote(str(theirs.parent))} && exec {quote(str(tool))} data compact"],
            ),
        }
        for what, (folder, words) in commands.items():
            before = size_of(folder / "paging"), size_of(folder / "journal")
            cpu = cost(words, 1).cpu
            after = size_of(folder / "paging"), size_of(folder / "journal")
            print(
                f"{kind:3} {what:14} {cpu:8.2f} CPU s   pages {before[0]:7.1f} -> {after[0]:7.1f} MB"
                f"   journal {before[1]:6.1f} -> {after[1]:6.1f} MB",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size-mb", type=int, default=300)
    parser.add_argument("--sets", default="a,b,c")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--artemis", type=Path)
    args = parser.parse_args()
    if args.artemis is not None:
        for kind in args.sets.split(","):
            beside(kind, args.size_mb, args.artemis)
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
