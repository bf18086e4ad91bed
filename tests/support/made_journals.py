"""Small journals of records of every kind, made by chance, and what brokers load from the journals of a directory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from pagefmt.change.compaction.journals import JOURNALS
from pagefmt.directory.locate import within
from pagefmt.journal.files import JournalHeader, encode_header
from pagefmt.journal.load import LoadedJournal, load_journal
from pagefmt.journal.records import JournalRecord, RecordKind, encode

KIND = RecordKind
SIZES = (0, 8, 19, 20, 24, 25, 90)


def made_journal(seed: int, size: int = 900, events: int = 90) -> list[bytes]:
    """Generate the contents of a journal's files in order.

    Transactions extend over files, and are left open, prepared, committed, rolled back or incomplete.
    """
    chance = random.Random(seed)
    files: list[bytearray] = []
    here: dict[tuple[int, int], int] = {}
    ids: list[int] = [1]
    open_: list[int] = []

    def put(kind: RecordKind, tx: int = 0, number: int = 0, body: bytes = b"", records: int | None = None) -> None:
        compact = chance.choice((0, 1, 127))
        record = JournalRecord(kind, number, tx, chance.randint(20, 54), body, 0, compact)
        room = len(encode(record, 1))
        if not files or len(files[-1]) + room > size:
            files.append(bytearray(encode_header(JournalHeader(2, 0, 3 * len(files) + 5))))
        at = len(files)
        if kind in (KIND.COMMIT, KIND.PREPARE):
            record = record._replace(records=here.get((tx, at), 0) + (records or 0))
        elif tx:
            here[tx, at] = here.get((tx, at), 0) + 1
        files[-1] += encode(record, 3 * (at - 1) + 5)

    for number in range(2, events):
        body = chance.randbytes(chance.choice(SIZES))
        known, tx = chance.choice(ids), chance.choice([*open_, 1000 + number])
        match chance.randrange(8):
            case 0 | 1:
                ids.append(number)
                put(KIND.ADD, 0, number, body)
            case 2:
                put(KIND.UPDATE, 0, known, body)
            case 3:
                put(KIND.DELETE, 0, known)
            case 4 | 5:
                open_.append(tx)
                ids.append(number)
                put(chance.choice((KIND.ADD_TX, KIND.UPDATE_TX, KIND.DELETE_TX)), tx, number, body)
            case 6:
                put(KIND.PREPARE, tx, 0, body, chance.choice((0, 0, 0, 1)))
            case _:
                put(chance.choice((KIND.COMMIT, KIND.COMMIT, KIND.ROLLBACK)), tx, 0, b"", chance.choice((0, 0, 0, 1)))
                open_ = [each for each in open_ if each != tx]
    return [bytes(content.ljust(size, b"\0")) for content in files]


def made_directory(folder: Path, seed: int, events: int = 90) -> Path:
    """Write a data directory with a message journal and bindings, each of which ends with an empty file."""
    data = folder / "data"
    for n, (name, pattern) in enumerate(
        (("journal", "activemq-data-{}.amq"), ("bindings", "activemq-bindings-{}.bindings"))
    ):
        (data / name).mkdir(parents=True)
        contents = made_journal(seed + n, events=events // (1 + 2 * n))
        empty = encode_header(JournalHeader(2, 0, 3 * len(contents) + 5)).ljust(900, b"\0")
        for number, content in enumerate([*contents, empty], 1):
            (data / name / pattern.format(number)).write_bytes(content)
    return data


def meaning(data: Path) -> list[Any]:
    """Return all records that brokers load from the journals, in order.

    A journal without files equals one without records.
    """
    place, found = within(data), []
    for root, journal in JOURNALS:
        folder = place.journal if root == "journal" else place.bindings
        if folder is not None:
            loaded = load_journal(folder, journal)
            found.append([[_record(loaded, row) for row in loaded.rows], _prepared(loaded)])
    return found


def _record(loaded: LoadedJournal, row: int) -> tuple[Any, ...]:
    record = loaded.record(row)
    return record.id, record.user_type, record.update, loaded.columns.body(row)


def _prepared(loaded: LoadedJournal) -> list[Any]:
    return [
        (one.tx, one.xid, [_record(loaded, row) for row in one.rows], [_record(loaded, row) for row in one.deletes])
        for one in loaded.prepared
    ]
