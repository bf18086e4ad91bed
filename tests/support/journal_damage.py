"""Journals of a data directory harmed in one way each, as disks, copies and people do it."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from golden_cases import GoldenCase
from program import call

from pagefmt.directory.locate import within
from pagefmt.journal.compaction_files import RenameControl, encode_control
from pagefmt.journal.files import JournalHeader, decode_header, encode_header
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalFrame, JournalRecord, RecordKind, encode
from pagefmt.journal.scan import scan
from pagefmt.storage.files import MappedFile

Way = Callable[[Path, random.Random], None]
TYPE = RecordType


def files_of(data: Path, folder: str) -> list[Path]:
    """Return the journal files of a folder, those with most records first."""
    root = getattr(within(data), folder)
    found = [path for path in sorted(root.iterdir()) if path.suffix in (".amq", ".hq", ".bindings")]
    return sorted(found, key=lambda path: -len(frames(path)))


def frames(path: Path) -> list[JournalFrame]:
    with MappedFile(path) as mapped:
        return list(scan(mapped.buf, decode_header(bytes(mapped.buf[:16]))))


def _with(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        stream.write(content)


def _xor(path: Path, at: int, bits: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(at)
        (byte,) = stream.read(1)
        stream.seek(at)
        stream.write(bytes((byte ^ bits,)))


def flipped(folder: str) -> Way:
    """Return a way to flip one random bit within a record."""

    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        frame = chance.choice(frames(path))
        _xor(path, frame.at + chance.randrange(frame.total), 1 << chance.randrange(8))

    return way


def zeroed(folder: str, size: int) -> Way:
    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        end = frames(path)[-1].at
        _with(path, chance.randrange(16, max(17, end)) // size * size or 16, bytes(size))

    return way


def cut(folder: str) -> Way:
    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        found = frames(path)
        at = found[chance.randrange(len(found) // 2, len(found))]
        with path.open("r+b") as stream:
            stream.truncate(at.at + chance.randrange(at.total))

    return way


def deleted(folder: str, which: int) -> Way:
    def way(data: Path, chance: random.Random) -> None:
        files_of(data, folder)[which].unlink()

    return way


def emptied(folder: str) -> Way:
    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        path.write_bytes(b"\0" * path.stat().st_size)

    return way


def swapped(data: Path, chance: random.Random) -> None:
    """Swap the names of two files, which changes nothing because the ids inside order them."""
    one, two = files_of(data, "journal")[:2]
    spare = one.with_name("spare")
    one.rename(spare)
    two.rename(one)
    spare.rename(two)


def headers_swapped(data: Path, chance: random.Random) -> None:
    one, two = files_of(data, "journal")[:2]
    heads = [path.read_bytes()[:16] for path in (one, two)]
    _with(one, 0, heads[1])
    _with(two, 0, heads[0])


def doubled(folder: str) -> Way:
    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        shutil.copy(path, path.with_name(f"copy-of-{path.name}"))

    return way


def header(folder: str, version: int = 2, user: int = 0, file_id: int | None = None) -> Way:
    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        old = decode_header(path.read_bytes()[:16])
        _with(path, 0, encode_header(JournalHeader(version, user, old.file_id if file_id is None else file_id)))

    return way


def beside(name: str, content: bytes | None, folder: str = "journal") -> Way:
    """Return a change that adds an entry to the folder, itself a folder if ``content`` is None."""

    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0].parent / name
        path.mkdir() if content is None else path.write_bytes(content)

    return way


def interrupted(data: Path, chance: random.Random) -> None:
    """Leave the files of a compaction that crashed in its last step, with one file to rename and one to delete."""
    full = files_of(data, "journal")[0]
    old = full.with_name("activemq-data-77.amq")
    full.rename(full.with_name(full.name + ".cmp"))
    old.write_bytes(encode_header(JournalHeader(2, 0, 77)))
    control = RenameControl((old.name,), (full.name + ".cmp",), ())
    full.with_name("journal-rename-control.ctr").write_bytes(encode_control(control))


def another_type(old: RecordType, new: int, folder: str = "journal") -> Way:
    """Return a way to change the type of the first record of type ``old``."""

    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        frame = next(each for each in frames(path) if each.user_type == old)
        _with(path, frame.body - 1, bytes((new,)))

    return way


def appended(*records: JournalRecord, folder: str = "journal") -> Way:
    """Return a way to append records after the last one of a file."""

    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        last = frames(path)[-1]
        head = decode_header(path.read_bytes()[:16])
        _with(path, last.at + last.total, b"".join(encode(record, head.file_id) for record in records))

    return way


def removed(user_type: RecordType, which: int = 0) -> Way:
    """Return a way to overwrite a record with zeros."""

    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, "journal")[0]
        found = [each for each in frames(path) if each.user_type == user_type]
        frame = found[which]
        _with(path, frame.at, bytes(frame.total))

    return way


BEHIND = b"\7\7\7"
"""Bytes that no type of record has at its end."""


def of_a_reference(user_type: RecordType, tail: bytes) -> Way:
    """Return a change that appends a record about the first message and its queue."""

    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, "journal")[0]
        frame = next(each for each in frames(path) if each.user_type == TYPE.ADD_REF)
        queue = path.read_bytes()[frame.body : frame.body + 8]
        appended(JournalRecord(RecordKind.UPDATE, frame.id, 0, user_type, queue + tail))(data, chance)

    return way


def of_a_page(user_type: RecordType, tail: bytes) -> Way:
    """Return a change that appends a record about the first page with an outstanding message."""

    def way(data: Path, chance: random.Random) -> None:
        told = json.loads(call("pages", "outstanding", data, "--format", "json", "--positions").out)
        queue, page = next(
            (queue["id"], queue["positions"][0][0])
            for store in told["stores"]
            for queue in store["queues"]
            if queue["positions"]
        )
        appended(JournalRecord(RecordKind.ADD, HIGH, 0, user_type, number(queue) + number(page) + tail))(data, chance)

    return way


def given_again(user_type: RecordType, folder: str) -> Way:
    """Return a way to append a longer copy of the first record of a type."""

    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, folder)[0]
        frame = next(each for each in frames(path) if each.user_type == user_type)
        body = path.read_bytes()[frame.body : frame.body + frame.size]
        appended(JournalRecord(RecordKind.ADD, frame.id, 0, user_type, body + BEHIND), folder=folder)(data, chance)

    return way


def kind_removed(kind: RecordKind) -> Way:
    def way(data: Path, chance: random.Random) -> None:
        path = files_of(data, "journal")[0]
        frame = next(each for each in frames(path) if each.kind == kind)
        _with(path, frame.at, bytes(frame.total))

    return way


def number(value: int) -> bytes:
    return value.to_bytes(8, "big")


HIGH = 1 << 40
WAYS: dict[str, Way] = {
    "bit flipped": flipped("journal"),
    "bit flipped in the bindings": flipped("bindings"),
    "sector of zeros": zeroed("journal", 512),
    "sector of zeros in the bindings": zeroed("bindings", 512),
    "cut": cut("journal"),
    "bindings cut": cut("bindings"),
    "file deleted": deleted("journal", 0),
    "empty file deleted": deleted("journal", -1),
    "bindings deleted": deleted("bindings", 0),
    "file of zeros": emptied("journal"),
    "bindings of zeros": emptied("bindings"),
    "names swapped": swapped,
    "headers swapped": headers_swapped,
    "file doubled": doubled("journal"),
    "bindings doubled": doubled("bindings"),
    "version 1": header("journal", version=1),
    "version 3": header("journal", version=3),
    "user version": header("journal", user=9),
    "user version of the bindings": header("bindings", user=9),
    "another file id": header("journal", file_id=999),
    "foreign text": beside("notes.txt", b"call Fred\n"),
    "foreign garbage": beside("x.amq", b"garbage" * 100),
    "foreign short": beside("x.amq", b"short"),
    "foreign empty": beside("x.amq", b""),
    "foreign folder": beside("x.amq", None),
    "foreign of zeros": beside("x.amq", bytes(1 << 20)),
    "foreign sound": beside("x.amq", encode_header(JournalHeader(2, 0, 500)) + bytes(4096)),
    "left .cmp": beside("activemq-data-9.amq.cmp", b"anything"),
    "left .tmp": beside("activemq-data-9.amq.tmp", b"anything"),
    "control of nothing": beside("journal-rename-control.ctr", bytes(512)),
    "compaction interrupted": interrupted,
    "message of an unknown type": another_type(TYPE.ADD_MESSAGE_PROTOCOL, 99),
    "message of the old type": another_type(TYPE.ADD_MESSAGE_PROTOCOL, TYPE.ADD_MESSAGE),
    "message as a large one": another_type(TYPE.ADD_MESSAGE_PROTOCOL, TYPE.ADD_LARGE_MESSAGE),
    "reference of an unknown type": another_type(TYPE.ADD_REF, 99),
    "reference too short": another_type(TYPE.ADD_REF, TYPE.UPDATE_DELIVERY_COUNT),
    "reference too long": another_type(TYPE.ADD_REF, TYPE.ADD_LARGE_MESSAGE_PENDING),
    "binding of an unknown type": another_type(TYPE.QUEUE_BINDING_RECORD, 99, "bindings"),
    "binding that cannot be read": another_type(TYPE.ID_COUNTER_RECORD, TYPE.QUEUE_BINDING_RECORD, "bindings"),
    "address that cannot be read": another_type(TYPE.ID_COUNTER_RECORD, TYPE.ADDRESS_BINDING_RECORD, "bindings"),
    "message record removed": removed(TYPE.ADD_MESSAGE_PROTOCOL),
    "reference removed": removed(TYPE.ADD_REF),
    "last reference removed": removed(TYPE.ADD_REF, -1),
    "commit removed": kind_removed(RecordKind.COMMIT),
    "reference to an unknown queue": appended(
        JournalRecord(RecordKind.UPDATE, HIGH, 0, TYPE.ADD_REF, number(HIGH + 1))
    ),
    "acknowledgement without reference": appended(
        JournalRecord(RecordKind.UPDATE, HIGH, 0, TYPE.ACKNOWLEDGE_REF, number(HIGH + 1))
    ),
    "delivery count without reference": appended(
        JournalRecord(RecordKind.UPDATE, HIGH, 0, TYPE.UPDATE_DELIVERY_COUNT, number(HIGH + 1) + bytes(4))
    ),
    "schedule without reference": appended(
        JournalRecord(RecordKind.UPDATE, HIGH, 0, TYPE.SET_SCHEDULED_DELIVERY_TIME, number(HIGH + 1) + bytes(8))
    ),
    "page transaction update without add": appended(
        JournalRecord(RecordKind.UPDATE, HIGH, 0, TYPE.PAGE_TRANSACTION, number(HIGH) + b"\0\0\0\1")
    ),
    "acknowledged position of an unknown queue": appended(
        JournalRecord(RecordKind.ADD, HIGH, 0, TYPE.ACKNOWLEDGE_CURSOR, number(HIGH + 1) + number(1) + bytes(4))
    ),
    "page-complete of an unknown queue": appended(
        JournalRecord(RecordKind.ADD, HIGH, 0, TYPE.PAGE_CURSOR_COMPLETE, number(HIGH + 1) + number(1) + bytes(4))
    ),
    "transaction never ended": appended(
        JournalRecord(RecordKind.ADD_TX, HIGH, HIGH + 5, TYPE.ACKNOWLEDGE_CURSOR, number(HIGH) + number(1) + bytes(4))
    ),
    "prepared without an XID": appended(JournalRecord(RecordKind.PREPARE, 0, HIGH + 5, body=b"\1\2")),
    "prepared with records missing": appended(
        JournalRecord(RecordKind.PREPARE, 0, HIGH + 5, body=bytes(12), records=7)
    ),
    "commit with records missing": appended(JournalRecord(RecordKind.COMMIT, 0, HIGH + 5, records=7)),
    "duplicate id too short": appended(JournalRecord(RecordKind.ADD, HIGH, 0, TYPE.DUPLICATE_ID, b"\0\0")),
    "counter too short": appended(JournalRecord(RecordKind.ADD, HIGH, 0, TYPE.PAGE_CURSOR_COUNTER_VALUE, b"\0\0")),
    "acknowledged position too short": appended(
        JournalRecord(RecordKind.ADD, HIGH, 0, TYPE.ACKNOWLEDGE_CURSOR, number(1))
    ),
    "acknowledged position too long": appended(
        JournalRecord(RecordKind.ADD, HIGH, 0, TYPE.ACKNOWLEDGE_CURSOR, number(1) + number(1) + bytes(9))
    ),
    "acknowledgement too long": of_a_reference(TYPE.ACKNOWLEDGE_REF, BEHIND),
    "delivery count too long": of_a_reference(TYPE.UPDATE_DELIVERY_COUNT, b"\0\0\0\2" + BEHIND),
    "time of delivery too long": of_a_reference(TYPE.SET_SCHEDULED_DELIVERY_TIME, number(1 << 42) + BEHIND),
    "acknowledgement in a page too long": of_a_page(TYPE.ACKNOWLEDGE_CURSOR, bytes(4) + BEHIND),
    "page-complete too long": of_a_page(TYPE.PAGE_CURSOR_COMPLETE, b"\0\0\0\1" + BEHIND),
    "duplicate id too long": given_again(TYPE.DUPLICATE_ID, "journal"),
    "address too long": given_again(TYPE.ADDRESS_BINDING_RECORD, "bindings"),
    "queue too long": given_again(TYPE.QUEUE_BINDING_RECORD, "bindings"),
    "heuristic completion too short": appended(
        JournalRecord(RecordKind.ADD, HIGH, 0, TYPE.HEURISTIC_COMPLETION, b"\0\0")
    ),
}  # fmt: skip


CASE = "journal-mix"
SEED = 15
RECORDED = Path(__file__).resolve().parents[1] / "recorded" / "journals"


class Verdict(NamedTuple):
    """What a broker did with a harmed directory: ``queues``: ids of the messages that it delivered, ascending."""

    started: bool
    queues: dict[str, list[int]]


def damaged(version: str, way: str, to: Path) -> Path | None:
    """Copy a broker's folder and damage its data, or return None if the way has nothing to damage there."""
    GoldenCase(version, CASE).lay_out(to)
    try:
        WAYS[way](to / "data", random.Random(SEED))
    except (StopIteration, IndexError, ValueError):
        return None
    return to


def recorded(version: str) -> dict[str, Verdict]:
    found = json.loads((RECORDED / f"{version}.json").read_text("utf-8"))
    return {key: Verdict(**each) for key, each in found.items()}
