"""Memory beside a journal: some bytes for each record, nothing for the size of its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from struct import pack

import pytest
from harmed import data_directory, peak, record

from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal

MIB = 1 << 20


def references(count: int) -> Iterator[JournalRecord]:
    """Yield references to missing messages, every fourth record an acknowledgement in its own transaction."""
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


@pytest.mark.parametrize("words", [("journal", "ls"), ("journal", "verify"), ("queue", "drop")], ids=" ".join)
def test_large_files_are_read_in_parts(words: tuple[str, ...], tmp_path: Path) -> None:
    # The files have 400 MiB, most of them free.
    more = ("orders", "--out", tmp_path / "out") if words[0] == "queue" else ()
    _, few = peak(*words, with_journal(tmp_path / "small", references(1)), *more, *(["--dry-run"] if more else []))
    data = with_journal(tmp_path / "large", references(9))
    (path,) = (data / "journal").iterdir()
    os.truncate(path, 400 * MIB)
    answer, many = peak(*words, data, *more)
    assert answer.status in (0, 1), answer
    assert many - few < 48 * MIB, f"{(many - few) / MIB:.0f} MiB more"


def test_large_files_are_put_aside_and_back_in_parts(tmp_path: Path) -> None:
    _, few = peak("journal", "compact", with_journal(tmp_path / "small", references(9)), "--in-place")
    data = with_journal(tmp_path / "large", references(9))
    (path,) = (data / "journal").iterdir()
    os.truncate(path, 200 * MIB)
    (data / "journal" / "activemq-data-2.amq").write_bytes(pack(">iiq", 2, 0, 2) + bytes(MIB - 16))
    for words in (("journal", "compact", data, "--in-place"), ("pages", "restore", data)):
        answer, many = peak(*words)
        assert answer.status == 0, answer
        assert many - few < 48 * MIB, f"{(many - few) / MIB:.0f} MiB more"


def test_a_queue_is_dropped_in_few_bytes_a_reference(tmp_path: Path) -> None:
    _, few = peak("queue", "drop", with_journal(tmp_path / "few", references(1)), "orders")
    answer, many = peak("queue", "drop", with_journal(tmp_path / "many", references(400_000), 32 * MIB), "orders")
    assert answer.status == 0, answer
    assert many - few < 56 * MIB, f"{(many - few) / MIB:.0f} MiB more"


@pytest.mark.parametrize("words", [("journal", "ls"), ("journal", "verify"), ("recover",)], ids=" ".join)
def test_a_large_file_with_a_torn_record_is_read_in_parts(words: tuple[str, ...], tmp_path: Path) -> None:
    # The file has 200 MiB: records, half a one, and records after it.
    _, few = peak(*words, with_journal(tmp_path / "small", references(9)))
    data = with_journal(tmp_path / "large", references(9))
    (path,) = (data / "journal").iterdir()
    content = path.read_bytes()[:1000].rstrip(b"\0")
    path.write_bytes(content + b"\x0b\0\0\0\1" + b"x" * 300 + content[16:])
    os.truncate(path, 200 * MIB)
    answer, many = peak(*words, data)
    assert answer.status == 1, answer
    assert many - few < 48 * MIB, f"{(many - few) / MIB:.0f} MiB more"


@pytest.mark.parametrize("header", [pack(">iiq", 2, 0, 0x0A0A0A0A), b"\xff" * 16], ids=["header", "no header"])
@pytest.mark.parametrize("words", [("journal", "ls"), ("journal", "verify"), ("recover",)], ids=" ".join)
def test_bytes_that_all_look_like_records(words: tuple[str, ...], header: bytes, tmp_path: Path) -> None:
    data = with_journal(tmp_path / "data", references(1))
    _, few = peak(*words, data)
    (path,) = (data / "journal").iterdir()
    path.write_bytes(header + b"\x0a" * MIB)
    answer, many = peak(*words, data)
    assert answer.status in (1, 2), answer
    assert many - few < 64 * MIB, f"{(many - few) / MIB:.0f} MiB more"
