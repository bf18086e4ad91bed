"""The whole store, journal and pages: processor seconds, wall, peak memory, and ratios against the broker's own tools.

    python bench/store.py [--size-mb 1074] [--journal-file-mb 10] [--artemis HOME] [--limit 600] [--runs 1]

Half of it pages, half a journal, of two queues. Both hold core text, bytes and map messages and AMQP messages of many
shapes (set ``m``); of the journal's every fifth message came in a transaction of twenty, every eighth is acknowledged
by one queue, every thousandth is large, 256 KiB in a file; of the pages one in eight is acknowledged by one queue. With
``--artemis`` (an unpacked distribution) ``data print`` and ``data exp`` run once each, on a copy, at most ``--limit``
seconds each; ratios are of processor seconds. What prints prints into nothing; what writes files writes them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from struct import pack

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from make_pages import QUEUES, SETS, core, record, write  # noqa: E402
from pages import Cost, brokers, cost, once, show  # noqa: E402

from pagefmt.codec.messages.core_message import CoreLargeMessage  # noqa: E402
from pagefmt.codec.messages.persisted import encode_persisted  # noqa: E402
from pagefmt.codec.wire import ByteWriter  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.journal.records import JournalRecord, RecordKind  # noqa: E402
from pagefmt.journal.writing import write_journal  # noqa: E402

FIRST = 100_000_000
"""Number of the first message of the journal: behind those of the pages."""
LARGE = 256 << 10
PEERS = {"messages xml": "data exp", "messages decode parquet": "data exp"}


def records(megabytes: int, large: Path, told: list[int]) -> Iterator[JournalRecord]:
    """Yield messages with their references, and append the number of messages to ``told``.

    Bodies of large messages go to the folder ``large``.
    """
    size = tx = 0
    for number in count(FIRST):
        at = number - FIRST
        begins = at % 100 == 0
        if begins:
            tx = 1_000_000_000 + at
        within = tx if at % 100 < 20 else 0
        made = [*message(number, large if at % 1000 == 999 else None)]
        size += len(made[0].body)
        yield from (of_transaction(each, within) for each in made) if within else made
        if at % 100 == 19:
            yield JournalRecord(RecordKind.COMMIT, tx=tx)
        if at % 8 == 7 and not within:
            body = pack(">q", QUEUES[0])
            kind = int(RecordType.ACKNOWLEDGE_REF)
            yield JournalRecord(RecordKind.UPDATE, id=1000 + number, user_type=kind, body=body)
        if size >= megabytes * 1_000_000 and not within:
            told.append(at + 1)
            return


def message(number: int, large: Path | None) -> Iterator[JournalRecord]:
    """Yield the journal records of a message and its references; a folder ``large`` makes it a large message."""
    out = ByteWriter()
    if large is None:
        encode_persisted(out, SETS["m"](number))
    else:
        encode_persisted(out, CoreLargeMessage(core(number, 0, 6).header))
        (large / f"{1000 + number}.msg").write_bytes(bytes(number * n & 0xFF for n in range(256)) * (LARGE >> 8))
    kind = RecordType.ADD_MESSAGE_PROTOCOL if large is None else RecordType.ADD_LARGE_MESSAGE
    yield record(1000 + number, kind, out.done())
    for queue in QUEUES:
        body = pack(">q", queue)
        yield JournalRecord(RecordKind.UPDATE, id=1000 + number, user_type=int(RecordType.ADD_REF), body=body)


def of_transaction(each: JournalRecord, tx: int) -> JournalRecord:
    kind = RecordKind.ADD_TX if each.kind is RecordKind.ADD else RecordKind.UPDATE_TX
    return each._replace(kind=kind, tx=tx)


def acknowledgements(paging: Path) -> Iterator[JournalRecord]:
    """Yield acknowledgements of the first records of each page, for about one in eight messages."""
    ids = count(2_000_000_000)
    for page in sorted(paging.glob("*/*.page")):
        for number in range(0, page.stat().st_size // 2000, 4):
            body = pack(">qqi", QUEUES[0], int(page.stem), number)
            yield record(next(ids), RecordType.ACKNOWLEDGE_CURSOR, body)


def make(data: Path, megabytes: int, file_mb: int) -> int:
    """Write a data directory, half of it in pages and half in the journal, and return its number of messages."""
    paged = write(data, "m", megabytes // 2)
    shutil.rmtree(data / "journal")
    (data / "journal").mkdir()
    held: list[int] = []
    found = chain(records(megabytes // 2, data / "large-messages", held), acknowledgements(data / "paging"))
    write_journal(data / "journal", "activemq-data-{}.amq", found, size=file_mb << 20)
    print(f"{paged:,} messages in pages, {held[0]:,} in the journal, files of {file_mb} MiB")
    return paged + held[0]


def ours(data: Path, out: Path) -> dict[str, list[str]]:
    tool = [sys.executable, "-m", "pagectl"]
    return {
        "journal ls": [*tool, "journal", "ls", str(data)],
        "journal verify": [*tool, "journal", "verify", str(data)],
        "messages ls": [*tool, "messages", "ls", str(data)],
        "messages verify": [*tool, "messages", "verify", str(data)],
        "messages decode parquet": [*tool, "messages", "decode", str(data), "--to", str(out / "out.parquet")],
        "messages decode jsonl": [*tool, "messages", "decode", str(data), "--format", "jsonl"],
        "messages xml": [*tool, "messages", "xml", str(data), "--to", str(out / "out.xml")],
        "pages decode jsonl": [*tool, "pages", "decode", str(data), "--format", "jsonl"],
    }


def peer(what: str, words: list[str], messages: int, out: Path, limit: float) -> Cost:
    """Measure a broker's tool, stop it after ``limit`` seconds, and show how many messages it processed until then."""
    used = once(["timeout", f"{limit}", *words], also=(124,))
    reached = messages
    if used.wall >= limit and what == "data exp":
        with (out / "exp.xml").open("rb") as stream:
            reached = sum(line.count(b"<message ") for line in stream)
    ended = f"ended at {limit:.0f} s, {reached:,} messages" if used.wall >= limit else ""
    show("", what, used, reached, ended)
    return used


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=1074)
    options.add_argument("--journal-file-mb", type=int, default=10)
    options.add_argument("--artemis", type=Path)
    options.add_argument("--limit", type=float, default=600)
    options.add_argument("--runs", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as folder:
        data, out = Path(folder, "data"), Path(folder, "out")
        out.mkdir()
        messages = make(data, given.size_mb, given.journal_file_mb)
        print(f"{'':4}{'what':26}{'cpu s':>8}{'wall s':>8}{'peak MiB':>10}{'messages/cpu s':>16}  ratio", flush=True)
        peers: dict[str, Cost] = {}
        for what in brokers(given.artemis, data, out) if given.artemis is not None else ():
            copy = Path(shutil.copytree(data, Path(folder, "copy")))
            peers[what] = peer(what, brokers(given.artemis, copy, out)[what], messages, out, given.limit)
            shutil.rmtree(copy)
        for what, words in ours(data, out).items():
            mine, other = cost(words, given.runs), PEERS.get(what, "data print")
            show("", what, mine, messages, f"{peers[other].cpu / mine.cpu:.1f}x {other}" if peers else "")


if __name__ == "__main__":
    main()
