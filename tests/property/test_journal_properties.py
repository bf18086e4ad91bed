"""Journals made at random against a naive reading of docs/spec/journal.md 3.2; damage; arbitrary bytes."""

from __future__ import annotations

import random
import tracemalloc
from array import array
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from struct import pack
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import golden_cases
import numpy as np
import pytest
from generated import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference_only import reference_only

from pagefmt.codec.messages.bodies import write_utf
from pagefmt.codec.wire import ByteWriter
from pagefmt.directory.bindings import Bindings
from pagefmt.errors import PageFmtError
from pagefmt.journal import position_bodies as position_bodies_module
from pagefmt.journal import positions as positions_module
from pagefmt.journal import windows
from pagefmt.journal.bodies import FIXED, BadBody, CursorAck, decode_body, decode_xid, encode_body
from pagefmt.journal.compaction_files import CONTROL_FILE, RenameControl, decode_control
from pagefmt.journal.files import FileProblem, Journal, JournalHeader, NotAJournal, encode_header
from pagefmt.journal.listing import list_files
from pagefmt.journal.load import LoadedJournal, load_journal
from pagefmt.journal.message_journal import MessageJournal, load_messages
from pagefmt.journal.position_bodies import PositionBodies
from pagefmt.journal.positions import PositionIndex, Positions
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import BadJournalRecord, JournalRecord, RecordKind, decode, encode
from pagefmt.journal.scan import TornRecords, scan
from pagefmt.outstanding.compact_positions import CompactPositions

IDS = st.integers(1, 12)
TXS = st.integers(100, 103)
BODIES = st.binary(max_size=40) | st.binary(min_size=20, max_size=20)
TYPES = st.integers(20, 54)


def _records(
    kinds: st.SearchStrategy[RecordKind], **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[JournalRecord]:
    """Return a strategy for records; fields that are not given have their defaults."""
    rest = {name: st.just(value) for name, value in JournalRecord._field_defaults.items()}
    return st.builds(JournalRecord, kinds, **rest | fields)


RECORDS = st.one_of(
    _records(st.sampled_from([RecordKind.ADD, RecordKind.UPDATE]), id=IDS, user_type=TYPES, body=BODIES),
    _records(st.just(RecordKind.DELETE), id=IDS),
    _records(st.sampled_from([RecordKind.ADD_TX, RecordKind.UPDATE_TX]), id=IDS, tx=TXS, user_type=TYPES, body=BODIES),
    _records(st.just(RecordKind.DELETE_TX), id=IDS, tx=TXS, body=BODIES),
    _records(st.just(RecordKind.PREPARE), tx=TXS, records=st.integers(0, 3), body=BODIES),
    _records(st.just(RecordKind.COMMIT), tx=TXS, records=st.integers(0, 3)),
    _records(st.just(RecordKind.ROLLBACK), tx=TXS),
    _records(st.just(RecordKind.EVENT), id=IDS, user_type=TYPES, body=BODIES),
)


def encode_control(control: RenameControl) -> bytes:
    """Encode a control file as a broker writes it, without padding."""
    body = ByteWriter()
    for names in (control.delete, control.finish):
        body.i32(len(names))
        for name in names:
            write_utf(body, name)
    body.i32(len(control.rename))
    for pair in control.rename:
        for name in pair:
            write_utf(body, name)
    return encode_header(JournalHeader(2, 0, 0)) + encode(JournalRecord(RecordKind.ADD, id=1, body=bytes(body.out)), 0)


@st.composite
def transactions(draw: st.DrawFn) -> list[JournalRecord]:
    """Draw a transaction with its commit, which sometimes states a wrong number of records."""
    tx, kinds = (
        draw(st.integers(100, 110)),
        st.sampled_from([RecordKind.ADD_TX, RecordKind.UPDATE_TX, RecordKind.DELETE_TX]),
    )
    rows = _records(kinds, id=IDS, tx=st.just(tx), user_type=TYPES, body=BODIES)
    found = draw(st.lists(rows, max_size=3))
    return [*found, JournalRecord(RecordKind.COMMIT, tx=tx, records=len(found) + draw(st.sampled_from([0, 0, 0, 1])))]


@st.composite
def beside_each_other(draw: st.DrawFn) -> list[JournalRecord]:
    """Draw transactions whose records interleave."""
    waiting = draw(st.lists(transactions(), max_size=4))
    found = []
    while waiting:
        some = draw(st.sampled_from(waiting))
        found.append(some[0])
        waiting = [each for each in ([*each[1:]] if each is some else each for each in waiting) if each]
    return found


JOURNALS = st.lists(st.one_of(st.lists(RECORDS, max_size=12), beside_each_other()), max_size=4)


def write(folder: Path, files: list[list[JournalRecord]], version: int = 2, noise: bytes = b"") -> None:
    """Write journal files whose names sort against their file ids, because only the ids decide the order."""
    for number, records in enumerate(files):
        file_id = 40 + number
        buf = encode_header(JournalHeader(version, 0, file_id))
        for record in records:
            buf += noise + encode(record, file_id, version)
        old_content = b"".join(encode(record, 7, version) for record in records)
        (folder / f"activemq-data-{90 - number}.amq").write_bytes(buf + bytes(30) + old_content + b"J" * 9)


def reads_as_a_record(noise: bytes, record: JournalRecord, version: int) -> bool:
    """Return whether noise and the first bytes of a record make a sound record, which a broker loads, too."""
    try:
        decode(noise + encode(record, 40, version) + bytes(200), 0, version)
    except BadJournalRecord:
        return False
    return bool(noise)


def naive(files: list[list[JournalRecord]]) -> tuple[list[tuple[int, int, bytes]], dict[int, list[int]]]:
    """Load the files by the rules alone.

    Return (id, user type, body) of the survivors in load order, and the ids in each valid prepared transaction.
    """
    kept: list[JournalRecord] = []
    deleted: set[int] = set()
    open_: dict[int, list[tuple[int, JournalRecord]]] = {}
    prepared: dict[int, bool] = {}
    for number, records in enumerate(files):
        for record in records:
            here = sum(where == number for where, _ in open_.get(record.tx, []))
            match record.kind:
                case RecordKind.ADD | RecordKind.UPDATE:
                    kept.append(record)
                case RecordKind.DELETE:
                    deleted.add(record.id)
                case RecordKind.ADD_TX | RecordKind.UPDATE_TX | RecordKind.DELETE_TX:
                    open_.setdefault(record.tx, []).append((number, record))
                case RecordKind.PREPARE:
                    open_.setdefault(record.tx, [])
                    prepared[record.tx] = here == record.records
                case RecordKind.COMMIT | RecordKind.ROLLBACK:
                    done = open_.pop(record.tx, [])
                    prepared.pop(record.tx, None)
                    if record.kind == RecordKind.COMMIT and done and here == record.records:
                        kept += [each for _, each in done if each.kind != RecordKind.DELETE_TX]
                        deleted |= {each.id for _, each in done if each.kind == RecordKind.DELETE_TX}
    survivors = [(record.id, record.user_type, record.body) for record in kept if record.id not in deleted]
    in_doubt = {tx: [each.id for _, each in open_[tx]] for tx, valid in prepared.items() if valid}
    return survivors, in_doubt


def survivors(loaded: LoadedJournal) -> list[tuple[int, int, bytes]]:
    return [(record.id, record.user_type, loaded.columns.body(record.row)) for record in loaded.records()]


@settings(max_examples=examples(150), deadline=None)
@given(JOURNALS, st.sampled_from([1, 2]), st.sampled_from([b"", b"\0" * 3, b"JJ", b"\x0b", b"\x0b\0\0\0\x28", b"\x13"]))
def test_a_journal_reads_as_the_naive_model_says(files: list[list[JournalRecord]], version: int, noise: bytes) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        assume(not any(reads_as_a_record(noise, record, version) for records in files for record in records))
        write(folder, files, version, noise)
        loaded = load_journal(folder)
        expected, in_doubt = naive(files)
        assert survivors(loaded) == expected
        held = {tx: sorted(records) for tx, records in in_doubt.items()}
        assert in_prepared(loaded) == held
        assert loaded.notes == ()
        gone = expected[0][1] if expected else 0
        less = loaded.without(gone)
        assert survivors(less) == [each for each in expected if each[1] != gone]
        assert in_prepared(less) == held
        assert [body_in_prepared(less, n) for n in range(len(held))] == [
            body_in_prepared(loaded, n) for n in range(len(held))
        ]


def in_prepared(loaded: LoadedJournal) -> dict[int, list[int]]:
    ids = loaded.columns.ids
    return {one.tx: sorted(ids[row] for row in [*one.rows, *one.deletes]) for one in loaded.prepared}


def body_in_prepared(loaded: LoadedJournal, number: int) -> list[tuple[int, int, bytes]]:
    one, columns = loaded.prepared[number], loaded.columns
    return [(columns.ids[row], columns.types[row], columns.body(row)) for row in [*one.rows, *one.deletes]]


def test_noise_that_makes_a_record_is_one() -> None:
    # A broker takes the first start with the right file id and check sum, whoever wrote the bytes.
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, [[JournalRecord(RecordKind.ADD, 1, user_type=20, body=bytes(23))]], 2, b"\x0b\0\0\0\x28")
        assert survivors(load_journal(folder)) == [(0x28 << 32, 1, b"")]


@given(RECORDS, st.integers(-(2**63), 2**63 - 1), st.sampled_from([1, 2]), st.integers(-128, 127))
def test_decode_of_encode(record: JournalRecord, file_id: int, version: int, compact: int) -> None:
    compact = 0 if version == 1 else compact
    same = JournalRecord(record.kind, record.id, record.tx, record.user_type, record.body, record.records, compact)
    encoded = encode(same, file_id, version)
    assert decode(encoded, 0, version) == same
    assert int.from_bytes(encoded[-4:], "big") == len(encoded)


@given(st.binary(max_size=400), st.sampled_from([1, 2]), st.sampled_from([0, 11, 0x0B0B0B0B]))
def test_arbitrary_bytes_as_a_file(tail: bytes, version: int, file_id: int) -> None:
    buf = encode_header(JournalHeader(version, 0, file_id)) + tail
    torn = TornRecords()
    end = 16
    for frame in scan(buf, JournalHeader(version, 0, file_id), torn):
        assert frame.at >= end
        end = frame.at + frame.total
    assert end <= len(buf)


@given(st.binary(max_size=80), st.integers(0, 100))
def test_arbitrary_bytes_as_a_record(buf: bytes, at: int) -> None:
    try:
        record = decode(buf, at)
    except BadJournalRecord as err:
        assert "offset" in str(err)
    else:
        assert buf[at:].startswith(encode(record, int.from_bytes(buf[at + 1 : at + 5], "big"))) or buf[at + 1] & 0x80


@given(st.integers(-128, 127), st.binary(max_size=60))
def test_arbitrary_bytes_as_a_body(user_type: int, body: bytes) -> None:
    try:
        decoded = decode_body(user_type, body)
    except BadBody as err:
        assert "\n" not in str(err)
    else:
        assert decoded is None or encode_body(decoded) == body
    with suppress(BadBody):
        assert encode_body(decode_xid(body)) == body


@given(st.binary(max_size=120))
def test_arbitrary_bytes_as_a_control_file(tail: bytes) -> None:
    decode_control(encode_header(JournalHeader(2, 0, 0)) + tail)
    decode_control(encode_header(JournalHeader(2, 0, 0)) + encode(JournalRecord(RecordKind.ADD, id=1, body=tail), 0))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from([20, 21, 22, 24, 44]), st.binary(max_size=60)), max_size=6))
def test_arbitrary_bindings_are_values_not_errors(bodies: list[tuple[int, bytes]]) -> None:
    with TemporaryDirectory() as name:
        records = [
            JournalRecord(RecordKind.ADD, id=n + 1, user_type=kind, body=body) for n, (kind, body) in enumerate(bodies)
        ]
        buf = encode_header(JournalHeader(2, 0, 1)) + b"".join(encode(record, 1) for record in records)
        (Path(name) / "activemq-bindings-1.bindings").write_bytes(buf)
        read = Bindings(load_journal(Path(name), Journal.BINDINGS))
        assert len(read.queues) + len(read.bad) <= len(bodies)


TRIPLES = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(-1, 5)), max_size=40)
LONG = st.integers(-(1 << 63), (1 << 63) - 1)
WILD = st.lists(st.tuples(LONG, LONG, st.integers(-(1 << 31), (1 << 31) - 1)), max_size=20)
LARGE_PAGES = st.tuples(LONG, st.integers((1 << 31) - 3, (1 << 31) - 1), st.integers(-(1 << 31), (1 << 31) - 1))
MANY_QUEUES = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 2), st.integers(0, 2)), min_size=90, max_size=120)


@given(st.one_of(TRIPLES, WILD, st.lists(LARGE_PAGES, max_size=20), MANY_QUEUES), st.sampled_from([1, 3, 1 << 16]))
def test_index_of_positions(triples: list[tuple[int, int, int]], at_once: int) -> None:
    several = []
    for first in range(0, len(triples), at_once):
        several.append(Positions())
        for record, triple in enumerate(triples[first : first + at_once]):
            several[-1].add(record, *triple)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(positions_module, "AT_ONCE", at_once)
        index = PositionIndex(lambda: (piece for positions in several for piece in positions.chunks()))
    expected = set(triples)
    assert {(q, p, n) for q, p in index.pages() for n in index.numbers(q, p)} == expected
    assert all(list(index.numbers(q, p)) == sorted(set(index.numbers(q, p))) for q, p in index.pages())
    assert all(index.has(q, p, n) == ((q, p, n) in expected) for q in range(6) for p in range(5) for n in range(-2, 7))
    assert index.repeated == len(triples) - len(expected)
    assert list(index.pages()) == sorted({(q, p) for q, p, _ in expected})


HEADS = st.sampled_from([0, 1, 2, -1, (1 << 63) - 1, -(1 << 63)])
HEADED = st.lists(st.tuples(HEADS, HEADS, st.integers(-(1 << 31), (1 << 31) - 1)), min_size=1, max_size=20)


@given(HEADED, st.sampled_from([1, 3, 50]), st.sampled_from([0, 1, position_bodies_module._MIX]))
def test_bodies_of_20_bytes_come_back(found: list[tuple[int, int, int]], at_once: int, mix: int) -> None:
    # Different heads may have equal hashes.
    bodies = [pack(">qqi", *each) for each in found]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(position_bodies_module, "_MIX", mix)
        patched.setattr(position_bodies_module, "_KNOWN", 2)
        kept, places = PositionBodies(), []
        for first in range(0, len(bodies), at_once):
            some = bodies[first : first + at_once]
            many = kept.add_all(np.frombuffer(b"".join(some), "V20")).tolist()
            places += many if first % 2 else [kept.add(each) for each in some]
    assert [kept.body(place) for place in places] == bodies
    assert kept.bodies(np.array(places)).tobytes() == b"".join(bodies)
    assert list(zip(*(part.tolist() for part in kept.chunk(np.array(places))), strict=True)) == found


STEPS = st.lists(st.integers(0, 3) | st.integers(0, 70_000), min_size=1, max_size=60)


@given(st.lists(st.tuples(st.integers(1, 5), STEPS), max_size=5))
def test_positions_are_kept(pages: list[tuple[int, list[int]]]) -> None:
    # A record that names its queue twice has a number twice.
    kept, expected = CompactPositions(), []
    for page, steps in pages:
        numbers = array("i", accumulate(steps))
        kept.add(page, numbers)
        expected += [(page, number) for number in numbers]
    assert list(kept) == expected


def test_what_an_acknowledgement_takes(tmp_path: Path) -> None:
    count = 50_000
    for number in range(1, 5):
        records = (
            JournalRecord(RecordKind.ADD, each, user_type=39, body=encode_body(CursorAck(each % 3, each // 9000, each)))
            for each in range(number * count, (number + 1) * count)
        )
        content = encode_header(JournalHeader(2, 0, number)) + b"".join(encode(each, number) for each in records)
        (tmp_path / f"activemq-data-{number}.amq").write_bytes(content)
    load_messages(tmp_path)
    tracemalloc.start()
    try:
        journal = load_messages(tmp_path)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(len(journal.ack_index.numbers(*at)) for at in journal.ack_index.pages()) == 4 * count
    assert kept < 5 * 4 * count
    assert peak < 50 * 4 * count + (12 << 20)


def small_journal() -> tuple[bytes, JournalHeader]:
    """Cut a broker's journal file after its last record and return it with its header."""
    case = next(case for case in golden_cases.cases("2.56.0") if case.name == "tx")
    file = list_files(case.data() / "journal", Journal.MESSAGES).files[0]
    buf = file.path.read_bytes()
    *_, last = scan(buf, file.header)
    return buf[: last.at + last.total], file.header


def truncations(step: int) -> int:
    buf, header = small_journal()
    frames = list(scan(buf, header))
    for cut in range(16, len(buf), step):
        assert list(scan(buf[:cut], header)) == [frame for frame in frames if frame.at + frame.total <= cut]
    return len(frames)


def flips(positions: list[int]) -> None:
    buf, header = small_journal()
    frames = list(scan(buf, header))
    for bit in positions:
        at = bit // 8
        flipped = bytearray(buf)
        flipped[at] ^= 1 << bit % 8
        untouched = {frame for frame in frames if not frame.at <= at < frame.at + frame.total}
        assert untouched <= set(scan(bytes(flipped), header))


def test_some_truncations_and_bit_flips() -> None:
    assert truncations(97) > 20
    size = len(small_journal()[0])
    flips([random.Random(5).randrange(16 * 8, size * 8) for _ in range(150)])


@pytest.mark.slow
def test_every_truncation_and_every_bit_flip() -> None:
    truncations(1)
    flips(list(range(16 * 8, len(small_journal()[0]) * 8)))


def test_files_that_are_not_as_they_should_be(tmp_path: Path) -> None:
    ack = JournalRecord(RecordKind.ADD, id=1, user_type=39, body=bytes(20))
    for name, header in {
        "activemq-data-1.amq": JournalHeader(2, 0, 1),
        "copy of data.amq": JournalHeader(2, 0, 1),
        "activemq-data-3.amq": JournalHeader(3, 0, 3),
        "activemq-data-4.amq": JournalHeader(2, 1, 4),
    }.items():
        (tmp_path / name).write_bytes(encode_header(header) + encode(ack, header.file_id))
    (tmp_path / "activemq-data-5.amq").write_bytes(b"\0" * 15)
    (tmp_path / "activemq-data-6.tmp").write_bytes(b"")
    (tmp_path / "activemq-data-7.amq.bkp").write_bytes(b"")
    (tmp_path / "serverlock.1").write_bytes(b"")
    listing = list_files(tmp_path, Journal.MESSAGES)
    assert [file.name for file in listing.files] == ["activemq-data-1.amq", "copy of data.amq"]
    assert {(note.kind, note.file) for note in listing.notes} == {
        (FileProblem.FOREIGN, "copy of data.amq"),
        (FileProblem.SAME_ID, "copy of data.amq"),
        (FileProblem.VERSION, "activemq-data-3.amq"),
        (FileProblem.VERSION, "activemq-data-4.amq"),
        (FileProblem.SHORT, "activemq-data-5.amq"),
        (FileProblem.LEFT_OVER, "activemq-data-6.tmp"),
        (FileProblem.LEFT_OVER, "activemq-data-7.amq.bkp"),
    }


def test_a_pending_compaction_is_read_as_if_it_were_done(tmp_path: Path) -> None:
    def file(name: str, file_id: int, record: int) -> None:
        body = encode(JournalRecord(RecordKind.ADD, id=record, user_type=39, body=bytes(20)), file_id)
        (tmp_path / name).write_bytes(encode_header(JournalHeader(2, 0, file_id)) + body)

    file("activemq-data-1.amq", 1, 1)
    file("activemq-data-2.amq", 2, 2)
    file("activemq-data-9.amq.cmp", 9, 3)
    file("activemq-data-5.amq.tmp", 5, 4)
    before = load_journal(tmp_path)
    assert [row.id for row in before.records()] == [1, 2]
    control = RenameControl(
        ("activemq-data-1.amq",),
        ("activemq-data-9.amq.cmp",),
        (("activemq-data-5.amq.tmp", "activemq-data-5.amq"), ("gone", "activemq-data-2.amq")),
    )
    (tmp_path / CONTROL_FILE).write_bytes(encode_control(control))
    assert decode_control(encode_control(control)) == control
    after = load_journal(tmp_path)
    assert [row.id for row in after.records()] == [2, 4, 3]
    assert {note.kind for note in after.notes} == {FileProblem.CONTROL}
    assert sorted(path.name for path in tmp_path.iterdir())[-1] == CONTROL_FILE


def test_no_journal(tmp_path: Path) -> None:
    with pytest.raises(NotAJournal, match="journal files"):
        load_journal(tmp_path / "nowhere")
    assert survivors(load_journal(tmp_path)) == []


def test_a_short_body_is_reported_not_raised(tmp_path: Path) -> None:
    bad = JournalRecord(RecordKind.ADD, id=8, user_type=RecordType.ACKNOWLEDGE_CURSOR, body=bytes(19))
    (tmp_path / "activemq-data-1.amq").write_bytes(encode_header(JournalHeader(2, 0, 1)) + encode(bad, 1))
    journal = MessageJournal(load_journal(tmp_path))
    assert [(one.record, one.user_type) for one in journal.bad] == [(8, 39)] and not list(journal.ack_index.pages())


def test_every_error_is_one_of_ours() -> None:
    assert all(issubclass(cls, PageFmtError) for cls in (BadJournalRecord, BadBody, NotAJournal))
    assert set(FIXED) < set(RecordType)


@st.composite
def odd_files(draw: st.DrawFn) -> tuple[bytes, JournalHeader]:
    """Draw a journal file of sound, changed, nested and truncated records, zeros, and bytes that look like types."""
    file_id, version = draw(st.sampled_from([1, 5, 0x0A0A0A0A, 0x0B0A0B0A, 0x0A0B0C0D])), draw(st.sampled_from([1, 2]))
    header = JournalHeader(version, 0, file_id)
    content = bytearray(encode_header(header))
    inner = encode(JournalRecord(RecordKind.DELETE, id=3), file_id, version)
    for _ in range(draw(st.integers(1, 30))):
        match draw(st.integers(0, 6)):
            case 0 | 1 | 2:
                body = draw(st.sampled_from([b"", bytes(30), b"\x0a" * 20, inner * 2, encode_header(header)]))
                record = JournalRecord(draw(st.sampled_from(RecordKind)), 7, 2, 32, body, 1)
                found = bytearray(encode(record, draw(st.sampled_from([file_id, file_id, 1, 2])), version))
                if draw(st.booleans()):
                    found[draw(st.integers(0, len(found) - 1))] ^= 1 << draw(st.integers(0, 7))
                content += found[: draw(st.sampled_from([len(found), len(found), len(found) // 2]))]
            case 3:
                content += bytes(draw(st.sampled_from([1, 100, 512 - len(content) % 512, 5000])))
            case 4:
                content += bytes([draw(st.sampled_from([10, 11, 13, 18, 19]))]) * draw(st.integers(0, 99))
            case 5:
                content += b"\x0a\x0b" * draw(st.integers(0, 60))
            case _:
                size = draw(st.integers(0, 500)).to_bytes(4, "big")
                content += b"\x0b" + file_id.to_bytes(4, "big") + bytes(version + 7) + size + b"\x2d"
    return bytes(content), header


@settings(max_examples=examples(150), deadline=None)
@given(
    odd_files(),
    st.sampled_from([1, 65, 100, 300, windows.WINDOW]),
    st.sampled_from([1, 3, 50, windows.STRETCH]),
    st.sampled_from([1, 64, 4096]),
)
def test_windows_are_as_record_by_record(
    found: tuple[bytes, JournalHeader], window: int, stretch: int, near: int
) -> None:
    buf, header = found
    torn, also = TornRecords(), TornRecords()
    slow = list(scan(buf, header, torn))
    with (
        mock.patch.object(windows, "WINDOW", window),
        mock.patch.object(windows, "STRETCH", stretch),
        mock.patch.object(windows, "_NEAR", near),
    ):
        parts = list(windows.frames_in_windows(buf, header, also))
    assert [part.frame(row) for part in parts for row in range(len(part.at))] == slow
    assert also == torn


@settings(max_examples=examples(150), deadline=None)
@given(
    JOURNALS,
    st.sampled_from([1, 2]),
    st.sampled_from([b"", b"\x0b\0\0\0\x28", bytes(300)]),
    st.integers(65, 400),
    st.integers(0, 500),
)
def test_large_files_are_read_in_windows(
    files: list[list[JournalRecord]], version: int, noise: bytes, window: int, cut: int
) -> None:
    with TemporaryDirectory() as name:
        write(Path(name), files, version, noise)
        for path in sorted(Path(name).iterdir())[:1]:
            path.write_bytes(path.read_bytes()[: -cut or None].ljust(16, b"\0"))
        with reference_only():
            one_by_one = load_journal(Path(name))
        with mock.patch("pagefmt.journal.windows.WINDOW", window):
            found = load_journal(Path(name))
        assert survivors(found) == survivors(one_by_one)
        assert (found.prepared, found.dropped, found.torn, found.notes) == (
            one_by_one.prepared,
            one_by_one.dropped,
            one_by_one.torn,
            one_by_one.notes,
        )


def reused_file(torn_at_end: int) -> bytes:
    """Return a reused journal file: its own records, then older acknowledgements of page 10.

    ``torn_at_end``: bytes that the last of its own records lacks.
    """

    def acks(file_id: int, first: int, count: int) -> bytes:
        bodies = [encode_body(CursorAck(11, 10, first + n)) for n in range(count)]
        records = [JournalRecord(RecordKind.ADD, id=n, user_type=39, body=body) for n, body in enumerate(bodies)]
        return b"".join(encode(record, file_id) for record in records)

    ours = acks(5, 0, 3)[: -torn_at_end or None]
    before = encode(JournalRecord(RecordKind.DELETE, id=1), 1) + acks(1, 0, 40)
    return encode_header(JournalHeader(2, 0, 5)) + ours + before[len(ours) :]


@pytest.mark.parametrize("torn_at_end", [0, 9])
def test_old_content_of_a_reused_file_is_not_torn(torn_at_end: int) -> None:
    buf, header = reused_file(torn_at_end), JournalHeader(2, 0, 5)
    torn, also = TornRecords(), TornRecords()
    assert len(list(scan(buf, header, torn))) == (2 if torn_at_end else 3)
    assert sum(len(found.at) for found in windows.frames_in_windows(buf, header, also)) == torn.records and also == torn
    assert torn.count == bool(torn_at_end) == torn.tail
    assert (b"\x0a" + header.file_id.to_bytes(4, "big")) in buf[torn.end + 43 :], (
        "a field that looks like a record's start"
    )


def test_records_inside_of_a_record_are_none(tmp_path: Path) -> None:
    # The body looks like a record of this very file, but a scan steps over it.
    inner = encode(JournalRecord(RecordKind.DELETE, id=1), 40)
    outer = JournalRecord(RecordKind.ADD, id=1, user_type=45, body=inner)
    (tmp_path / "activemq-data-1.amq").write_bytes(encode_header(JournalHeader(2, 0, 40)) + encode(outer, 40))
    assert survivors(load_journal(tmp_path)) == [(1, 45, inner)]
