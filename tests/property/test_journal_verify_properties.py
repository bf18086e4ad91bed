"""``journal verify`` on whatever bytes: an answer for each file, every byte accounted for, no more time than bytes."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_journals import made_directory

from pagefmt.check.journals import verify_journals
from pagefmt.directory.locate import within
from pagefmt.journal.bodies import CursorAck, encode_body
from pagefmt.journal.files import HEADER, JournalHeader, encode_header
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind, encode

MIB = 1 << 20
FOR_EACH = 100
"""Bytes of memory for a surviving record, while ids are sorted."""
FILES = st.integers(0, 2)
SEEDS = st.integers(0, 50)


def answered(data: Path) -> None:
    _, reports, findings = verify_journals(within(data), None)
    for report in reports:
        if report.records is not None:
            assert None not in (parts := (report.record_bytes, report.unused_bytes, report.lost_bytes))
            assert min(parts) >= 0
            assert report.size == HEADER.size + sum(parts)
    assert all(finding.message for finding in findings)


def journal_files(data: Path) -> list[Path]:
    return sorted(path for folder in ("journal", "bindings") for path in (data / folder).iterdir())


@given(st.binary(max_size=400), SEEDS, FILES, st.booleans())
def test_arbitrary_bytes(content: bytes, seed: int, which: int, headed: bool) -> None:
    with TemporaryDirectory() as folder:
        data = made_directory(Path(folder), seed, 20)
        path = journal_files(data)[which]
        path.write_bytes((path.read_bytes()[: HEADER.size] if headed else b"") + content)
        answered(data)


@given(SEEDS, FILES, st.data())
def test_cuts_and_flips(seed: int, which: int, drawn: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        data = made_directory(Path(folder), seed)
        path = journal_files(data)[which]
        content = bytearray(path.read_bytes())
        for at in drawn.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
            content[at] ^= 1 << drawn.draw(st.integers(0, 7))
        path.write_bytes(content[: drawn.draw(st.integers(0, len(content)))])
        answered(data)


def every_change(content: bytes) -> Iterator[bytes]:
    yield from (content[:at] for at in range(len(content)))
    for at in range(len(content)):
        for bit in range(8):
            yield content[:at] + bytes((content[at] ^ 1 << bit,)) + content[at + 1 :]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_cut_and_every_flip_of_a_small_file(tmp_path: Path) -> None:
    data = made_directory(tmp_path, 3, 40)
    path = journal_files(data)[-1]
    for changed in every_change(path.read_bytes()):
        path.write_bytes(changed)
        answered(data)


def acknowledged(data: Path, mebibytes: int, torn: bytes = b"") -> Path:
    """Write journal files full of acknowledgements, with ``torn`` after each record."""
    (data / "journal").mkdir(parents=True)
    for number in range(1, mebibytes + 1):
        out = bytearray(encode_header(JournalHeader(2, 0, number)))
        record = number << 20
        while len(out) < MIB - 100:
            record += 1
            body = encode_body(CursorAck(7, record // 100, record % 100))
            add = encode(JournalRecord(RecordKind.ADD, record, 0, RecordType.ACKNOWLEDGE_CURSOR, body), number)
            out += add + torn
        (data / "journal" / f"activemq-data-{number}.amq").write_bytes(out.ljust(MIB, b"\0"))
    return data


def took(data: Path) -> float:
    begun = time.process_time()
    answered(data)
    return time.process_time() - begun


@pytest.mark.slow
def test_time_is_linear_and_memory_small(tmp_path: Path) -> None:
    torn = b"\x0b\0\0\0\1\0" * 3
    few, many = acknowledged(tmp_path / "few", 4, torn), acknowledged(tmp_path / "many", 16, torn)
    took(few)
    assert took(many) < 8 * took(few)
    sound = acknowledged(tmp_path / "sound", 48)
    tracemalloc.start()
    try:
        answered(sound)
        assert tracemalloc.get_traced_memory()[1] < 64 * MIB + FOR_EACH * 48 * (MIB // 43)
    finally:
        tracemalloc.stop()


def test_records_that_are_all_too_short_take_linear_time(tmp_path: Path) -> None:
    def short(folder: Path, count: int) -> Path:
        (folder / "journal").mkdir(parents=True)
        out = bytearray(encode_header(JournalHeader(2, 0, 1)))
        for record in range(count):
            out += encode(JournalRecord(RecordKind.ADD, record, 0, RecordType.ACKNOWLEDGE_CURSOR, b"short"), 1)
        (folder / "journal" / "activemq-data-1.amq").write_bytes(out)
        return folder

    few, many = short(tmp_path / "few", 4_000), short(tmp_path / "many", 16_000)
    took(few)
    assert took(many) < 8 * took(few)


@pytest.mark.slow
def test_torn_candidates_everywhere_take_linear_time(tmp_path: Path) -> None:
    # Each pair of bytes looks like the start of a record of this very file.
    def hostile(folder: Path, mebibytes: int) -> Path:
        (folder / "journal").mkdir(parents=True)
        head = encode_header(JournalHeader(2, 0, 0x0B0B0B0B))
        (folder / "journal" / "activemq-data-1.amq").write_bytes(head + b"\x0b" * (mebibytes * MIB))
        return folder

    few, many = hostile(tmp_path / "few", 1), hostile(tmp_path / "many", 4)
    took(few)
    assert took(many) < 8 * took(few)
