"""A history: processor seconds, wall, peak memory, and ratios against the broker's own tools, in one run.

    python bench/history.py [--size-mb 1074] [--artemis HOME] [--limit 600] [--runs 1]

A retention folder of files of 10 MiB with core text, bytes and map messages and AMQP messages of many shapes (set
``m``) for two queues; both have acknowledged each message when 500 more were sent, every fifth message in a
transaction of its own. With ``--artemis`` (an unpacked distribution) ``data recover`` reads the folder once, on a copy,
at most ``--limit`` seconds; ratios are of processor seconds. ``find`` looks for one message, ``ls`` counts what queues
held in the middle.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from struct import pack

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import QUEUES, write  # noqa: E402
from pages import Cost, cost, once, show  # noqa: E402
from store import message  # noqa: E402

from pagefmt.journal.files import Journal  # noqa: E402
from pagefmt.journal.listing import list_files  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.journal.records import JournalRecord, RecordKind  # noqa: E402
from pagefmt.journal.writing import write_journal  # noqa: E402

FILE = 10 << 20
WAITING = 500
FIRST = 100_000_000
BEGUN = datetime(2026, 11, 1)


def records(megabytes: int, told: list[int]) -> Iterator[JournalRecord]:
    """Yield messages with their references and acknowledgements, and append the number of messages to ``told``."""
    size, waiting = 0, deque[int]()
    for number in count(FIRST):
        made = [*message(number, None)]
        size += sum(len(each.body) + 31 for each in made)
        yield from made
        waiting.append(1000 + number)
        if len(waiting) > WAITING:
            yield from acknowledged(waiting.popleft(), within=2_000_000_000 + number if number % 5 == 0 else 0)
        if size >= megabytes * 1_000_000:
            told.append(number - FIRST + 1)
            return


def acknowledged(number: int, within: int) -> Iterator[JournalRecord]:
    kind = RecordKind.UPDATE_TX if within else RecordKind.UPDATE
    for queue in QUEUES:
        body = pack(">q", queue)
        yield JournalRecord(kind, id=number, tx=within, user_type=int(RecordType.ACKNOWLEDGE_REF), body=body)
    if within:
        yield JournalRecord(RecordKind.COMMIT, tx=within)
    yield JournalRecord(RecordKind.DELETE, id=number)


def make(root: Path, megabytes: int) -> tuple[int, str]:
    """Write a retention folder beside a data directory, and return its number of messages, and its middle file."""
    root.mkdir(exist_ok=True)
    write(root / "data", "m", 1)
    folder, held = root / "history", list[int]()
    folder.mkdir()
    write_journal(folder, "activemq-data-{}.amq", records(megabytes, held), size=FILE)
    files = list_files(folder, Journal.MESSAGES).files
    names = []
    for n, file in enumerate(files):
        copied = BEGUN + timedelta(minutes=n)
        names.append(f"activemq-data-{copied:%Y%m%d%H%M%S}-{file.header.file_id}.amq")
        file.path.rename(folder / names[-1])
    print(f"{held[0]:,} messages in {len(files)} files", flush=True)
    return held[0], names[len(names) // 2]


def ours(root: Path, middle: str) -> dict[str, list[str]]:
    tool = [sys.executable, "-m", "pagectl", "messages"]
    past = [str(root), "--in", "history"]
    return {
        "messages ls --as-of": [*tool, "ls", *past, "--as-of", middle],
        "messages find --id": [*tool, "find", *past, "--id", str(1000 + FIRST + 1)],
        "messages decode": [*tool, "decode", *past, "--format", "jsonl"],
        "messages trace": [*tool, "trace", str(root), "--id", str(1000 + FIRST + 1)],
        "replay import": [*tool[:-1], "replay", "import", str(root), "--to", str(root / "trace.jsonl.zst")],
    }


def recover(home: Path, root: Path, out: Path, limit: float) -> Cost:
    words = [str(home / "bin" / "artemis"), "data", "recover", f"--journal={root / 'history'}", f"--target={out}"]
    words += [f"--{name}={root / 'data' / name}" for name in ("bindings", "paging", "large-messages")]
    return once(["timeout", f"{limit}", *words], also=(124,))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=1074)
    options.add_argument("--artemis", type=Path)
    options.add_argument("--limit", type=float, default=600)
    options.add_argument("--runs", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
        root = Path(folder, "broker")
        messages, middle = make(root, given.size_mb)
        print(f"{'':4}{'what':26}{'cpu s':>8}{'wall s':>8}{'peak MiB':>10}{'messages/cpu s':>16}  ratio", flush=True)
        other: Cost | None = None
        if given.artemis is not None:
            copy = Path(shutil.copytree(root, Path(folder, "copy")))
            other = recover(given.artemis, copy, Path(folder, "recovered"), given.limit)
            show("", "data recover", other, messages, f"ended at {given.limit:.0f} s" * (other.wall >= given.limit))
            shutil.rmtree(copy)
        for what, words in ours(root, middle).items():
            mine = cost(words, given.runs)
            show("", what, mine, messages, f"{other.cpu / mine.cpu:.1f}x data recover" if other else "")


if __name__ == "__main__":
    main()
