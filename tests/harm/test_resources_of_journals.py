"""Memory beside a journal: some bytes for each record, nothing for the size of its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from struct import pack

from harmed import data_directory, peak, record

from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal

MIB = 1 << 20


def references(count: int) -> Iterator[JournalRecord]:
    """To messages that are not there; every fourth is acknowledged, in a transaction of its own."""
    for number in range(count):
        body, kind = pack(">q", number % 3), RecordType.ADD_REF
        if number % 4 == 3:
            kind = RecordType.ACKNOWLEDGE_REF
            yield JournalRecord(RecordKind.UPDATE_TX, id=number // 2, tx=count + number, user_type=int(kind), body=body)
            yield JournalRecord(RecordKind.COMMIT, tx=count + number, records=1)
        else:
            yield JournalRecord(RecordKind.UPDATE, id=number // 2, user_type=int(kind), body=body)


def with_journal(folder: Path, records: Iterator[JournalRecord], size: int = 10 * MIB) -> Path:
    folder.mkdir()
    data = data_directory(folder, {1: record(1, "x")})
    for path in (data / "journal").iterdir():
        path.unlink()
    write_journal(data / "journal", "activemq-data-{}.amq", records, size=size)
    return data


def test_few_bytes_a_record(tmp_path: Path) -> None:
    _, few = peak("pages", "ls", with_journal(tmp_path / "few", references(1)))
    _, many = peak("pages", "ls", with_journal(tmp_path / "many", references(400_000), MIB))
    assert many - few < 30 * MIB, f"{(many - few) / MIB:.0f} MiB more"


def test_large_files_are_read_in_parts(tmp_path: Path) -> None:
    """400 MiB, most of them free."""
    _, few = peak("journal", "ls", with_journal(tmp_path / "small", references(1)))
    data = with_journal(tmp_path / "large", references(1))
    (path,) = (data / "journal").iterdir()
    os.truncate(path, 400 * MIB)
    answer, many = peak("journal", "ls", data)
    assert answer.status == 0, answer
    assert many - few < 48 * MIB, f"{(many - few) / MIB:.0f} MiB more"
