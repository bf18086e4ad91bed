"""What reading costs beside a journal with very many acknowledgements: peak memory and processor seconds.

    python bench/memory.py [--size-mb 1074] [--set b] [--acks 0,1350000,3000000] [--transactions] [--page-kb N]
        [--only NAME,…] [--runs 1] [--keep FOLDER]

The pages of one store, which four queues read, and as many acknowledgements in the journal as are asked for: of every
third record, of each queue another one, the queues in turn, as consumers side by side make them. With
``--transactions`` each is a transaction of its own, as a broker writes what a session acknowledges. The last column is
what an acknowledgement more took: bytes of peak memory, from the first count of acknowledgements to the last.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import numpy as np  # noqa: E402
from make_pages import FOLDER, write  # noqa: E402
from pages import Cost, cost  # noqa: E402

from pagefmt.codec.pages.page import open_page  # noqa: E402
from pagefmt.directory.paging import page_name  # noqa: E402
from pagefmt.journal.bodies import CursorAck, encode_body  # noqa: E402
from pagefmt.journal.files import HEADER, JournalHeader, encode_header  # noqa: E402
from pagefmt.journal.record_types import RecordType  # noqa: E402
from pagefmt.journal.records import JournalRecord, RecordKind, encode  # noqa: E402
from pagefmt.journal.writing import FORMAT  # noqa: E402

QUEUES = (3, 7, 11, 15)
ONCE = 64
"""MB of pages that are encoded; the others are the same again under further numbers."""
MARK = 0x0123456789ABCDEF, 0x1021324354657687, 0x2031425364758697, 0x30415263
"""Record id, queue, page and number in a record whose places for them are looked up."""
FIRST_ID = 10_000_000
FILE_SIZE = 10 << 20
FEW = ("--page", "1:10")
"""Of what is read message by message."""
PLAN = """
import pickle, sys
from pagefmt.spark.options import SourceOptions
from pagefmt.spark.source import PageFilesReader
reader = PageFilesReader(SourceOptions.of({"path": sys.argv[1]}))
print(len(reader.partitions()), len(pickle.dumps(reader)))
"""


def repeat(store: Path, megabytes: int) -> list[int]:
    """Link the pages repeatedly until there are enough, and return the number of records of each."""
    pages = sorted(store.glob("*.page"))
    counts = []
    for path in pages:
        with open_page(path) as page:
            counts.append(sum(1 for _ in page.frames()))
    size = pages[0].stat().st_size
    for number in range(len(pages), megabytes * 1_000_000 // size):
        (store / page_name(number + 1)).hardlink_to(pages[number % len(pages)])
        counts.append(counts[number % len(pages)])
    return counts


def small_pages(store: Path, kilobytes: int) -> None:
    """Cut the pages of a store into pages of ``kilobytes`` KiB or little more, and drop each remainder."""
    pages = sorted(store.glob("*.page"))
    number = 0
    for path in pages:
        content = path.read_bytes()
        with open_page(path) as page:
            begun = 0
            for _, offset, length in page.frames():
                if offset + length + 6 - begun >= kilobytes << 10:
                    number += 1
                    (store / f"new{number}").write_bytes(content[begun : offset + length + 6])
                    begun = offset + length + 6
        path.unlink()
    for each in range(1, number + 1):
        (store / f"new{each}").rename(store / page_name(each))


def positions(counts: list[int], acks: int) -> Iterator[tuple[int, int, int]]:
    """Yield (queue, page, number) of every third record of each queue, then of the next third, up to ``acks``."""
    for third in range(3):
        for page, records in enumerate(counts, 1):
            for number in range(records):
                for each, queue in enumerate(QUEUES):
                    if (number + each) % 3 == third:
                        yield queue, page, number
                        acks -= 1
                        if not acks:
                            return


def template(transactions: bool) -> tuple[bytes, dict[str, int]]:
    """Return an encoded acknowledgement, and the offsets of its fields."""
    record, queue, page, number = MARK
    body = encode_body(CursorAck(queue, page, number))
    kind = RecordKind.ADD_TX if transactions else RecordKind.ADD
    code = int(RecordType.ACKNOWLEDGE_CURSOR)
    text = encode(JournalRecord(kind, id=record, tx=record, user_type=code, body=body), 1, FORMAT)
    if transactions:
        text += encode(JournalRecord(RecordKind.COMMIT, tx=record, records=1), 1, FORMAT)
    sizes = {"record": 8, "queue": 8, "page": 8, "number": 4}
    return text, {name: text.index(value.to_bytes(sizes[name], "big")) for name, value in zip(sizes, MARK, strict=True)}


def write_acks(folder: Path, counts: list[int], acks: int, transactions: bool) -> None:
    text, places = template(transactions)
    found = np.fromiter(positions(counts, acks), np.dtype((np.int64, 3)), acks) if acks else np.zeros((0, 3), np.int64)
    each = (FILE_SIZE - HEADER.size) // len(text)
    for file in range(max(1, -(-acks // each))):
        some = found[file * each : (file + 1) * each]
        ids = np.arange(len(some)) + (FIRST_ID + file * each)
        table = np.tile(np.frombuffer(text, np.uint8), (len(some), 1))
        at = [n for n in range(len(text)) if text[n : n + 8] == MARK[0].to_bytes(8, "big")]
        columns: list[tuple[int, Any, str]] = [(place, ids, ">i8") for place in at]
        columns += [(places["queue"], some[:, 0], ">i8"), (places["page"], some[:, 1], ">i8")]
        columns += [(places["number"], some[:, 2], ">i4")]
        for place, values, code in columns:
            part = np.ascontiguousarray(values.astype(code)).view(np.uint8).reshape(len(some), int(code[-1]))
            table[:, place : place + part.shape[1]] = part
        # the file's id stands behind the type of each record
        mine = np.frombuffer((file + 1).to_bytes(4, "big"), np.uint8)
        table[:, 1:5] = mine
        if transactions:
            second = len(text) - len(encode(JournalRecord(RecordKind.COMMIT, records=1), 1, FORMAT))
            table[:, second + 1 : second + 5] = mine
        content = encode_header(JournalHeader(FORMAT, 0, file + 1)) + table.tobytes()
        (folder / f"activemq-data-{file + 1}.amq").write_bytes(content.ljust(FILE_SIZE, b"\0"))


def commands(data: Path, out: Path) -> dict[str, list[str]]:
    tool = [sys.executable, "-m", "pagectl"]
    decode = [*tool, "pages", "decode", str(data), "--format"]
    waiting = [*tool, "pages", "outstanding", str(data), "--format"]
    return {
        "ls": [*tool, "pages", "ls", str(data)],
        "outstanding text": [*waiting, "text"],
        "outstanding json": [*waiting, "json"],
        "outstanding positions": [*waiting, "json", "--positions"],
        "outstanding csv": [*waiting, "csv"],
        "decode text": [*decode, "text", *FEW],
        "decode jsonl": [*decode, "jsonl"],
        "decode csv": [*decode, "csv", *FEW],
        "decode jsonl outstanding": [*decode, "jsonl", "--outstanding"],
        "decode jsonl where": [*decode, "jsonl", "--where", "color = 'red'", *FEW],
        "decode parquet": [*decode, "parquet", "--body", "base64", "--to", str(out / "out.parquet")],
        "decode arrow": [*decode, "arrow", "--body", "base64", "--to", str(out / "out.arrow")],
        "verify": [*tool, "pages", "verify", str(data)],
        "verify jsonl": [*tool, "pages", "verify", str(data), "--format", "jsonl"],
        "seal": [*tool, "pages", "seal", str(data), "--to", str(out / "seal")],
        "compact plan": [*tool, "pages", "compact", str(data)],
        "disk usage": [*tool, "disk", "usage", str(data)],
        "export plan": [sys.executable, "-c", PLAN, str(data)],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size-mb", type=int, default=1074)
    options.add_argument("--set", default="b")
    options.add_argument("--acks", default="0,1350000,3000000")
    options.add_argument("--transactions", action="store_true")
    options.add_argument("--page-kb", type=int, help="pages of this size instead of 10 MiB; all are encoded")
    options.add_argument("--only", default="", help="commands whose name begins with one of these, by commas")
    options.add_argument("--keep", type=Path, help="make the directory here, and leave it there")
    options.add_argument("--runs", type=int, default=1)
    given = options.parse_args()
    counts = [int(each) for each in given.acks.split(",")]
    with tempfile.TemporaryDirectory(prefix="pagectl-bench-") as name:
        measure(given, counts, given.keep or Path(name), Path(name))


def measure(given: argparse.Namespace, counts: list[int], folder: Path, out: Path) -> None:
    data = folder / "data"
    if not data.exists():
        write(data, given.set, given.size_mb if given.page_kb else min(ONCE, given.size_mb), QUEUES)
        if given.page_kb:
            small_pages(data / "paging" / FOLDER, given.page_kb)
    store = data / "paging" / FOLDER
    records = repeat(store, 0 if given.page_kb else given.size_mb)
    costs: dict[str, list[Cost]] = {}
    for acks in counts:
        for old in (data / "journal").iterdir():
            old.unlink()
        write_acks(data / "journal", records, acks, given.transactions)
        for what, words in commands(data, out).items():
            if what.startswith(tuple(given.only.split(","))):
                costs.setdefault(what, []).append(cost(words, given.runs))
    print(f"{sum(records)} records in {len(records)} pages; for each count of acknowledgements: CPU s and peak MiB")
    print(f"{'':28}" + "".join(f"{acks:>18,}" for acks in counts) + f"{'bytes an ack':>16}")
    for what, found in costs.items():
        more = (found[-1].peak - found[0].peak) * (1 << 20) / max(1, counts[-1] - counts[0])
        print(f"{what:28}" + "".join(f"{one.cpu:9.2f}{one.peak:9.0f}" for one in found) + f"{more:16.0f}", flush=True)


if __name__ == "__main__":
    main()
