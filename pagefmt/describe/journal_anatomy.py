"""A journal record field by field, for ``journal inspect`` (docs/spec/journal.md 2, 5, 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import Final

from pagefmt.codec.messages.persisted import decode_persisted
from pagefmt.describe.anatomy import RecordingCursor, fields_read
from pagefmt.describe.field import Field
from pagefmt.directory.bindings import read_address_binding, read_queue
from pagefmt.journal.bodies import COUNTERS, FIXED, DuplicateId, HeuristicCompletion, Xid
from pagefmt.journal.record_types import RecordType, type_name
from pagefmt.journal.records import CHECK, FRAME_LAYOUTS, JournalFrame, RecordKind

_NAMES: Final = {
    "kind": "record kind", "file_id": "file id", "compact": "compact count", "tx": "transaction", "id": "record id",
    "records": "records in this file", "size": "body length", "user_type": "record type",
}  # fmt: skip
_READ: Final = {"q": "i64", "i": "i32"}
_BODIES: Final[dict[int, Callable[[RecordingCursor], object]]] = {
    RecordType.DUPLICATE_ID: DuplicateId.read,
    RecordType.HEURISTIC_COMPLETION: HeuristicCompletion.read,
    RecordType.ADD_MESSAGE_PROTOCOL: decode_persisted,
    RecordType.QUEUE_BINDING_RECORD: read_queue,
    RecordType.ADDRESS_BINDING_RECORD: read_address_binding,
    RecordType.QUEUE_STATUS_RECORD: lambda cursor: (cursor.i64("queue"), cursor.i16("status")),
    RecordType.ADDRESS_STATUS_RECORD: lambda cursor: (cursor.i64("address id"), cursor.i16("status")),
    RecordType.ID_COUNTER_RECORD: lambda cursor: cursor.i64("id counter"),
}


def journal_fields(buf: bytes | memoryview, frame: JournalFrame, version: int) -> Iterator[Field]:
    """Yield the fields of a journal record. What is not understood becomes a field, never an error."""
    layout = FRAME_LAYOUTS[version][frame.kind]
    at = frame.at
    for name, code in zip(layout.fields, layout.head.format[1:], strict=True):
        part = Struct(">" + code)
        (value,) = part.unpack_from(buf, at)
        meaning = {"kind": RecordKind(frame.kind).name, "user_type": f"{value}: {type_name(value)}"}.get(name)
        yield Field(at, part.size, _NAMES[name], value, f"{value}: {meaning}" if name == "kind" else meaning)
        at += part.size
    end = frame.body + frame.size
    read = _body(frame)
    if read is not None:
        yield from fields_read(buf, frame.body, end, read)
    elif frame.size:
        yield Field(frame.body, frame.size, "body", bytes(buf[frame.body : end]))
    yield Field(end, CHECK.size, "check size", frame.total)


def _body(frame: JournalFrame) -> Callable[[RecordingCursor], object] | None:
    """Return the function that reads the body, or None if the body is not divided into fields."""
    if frame.kind == RecordKind.PREPARE:
        return Xid.read
    if frame.kind not in (RecordKind.ADD, RecordKind.UPDATE, RecordKind.ADD_TX, RecordKind.UPDATE_TX):
        return None
    if body_type := FIXED.get(frame.user_type) or COUNTERS.get(frame.user_type):
        short = COUNTERS.get(frame.user_type)
        layout = short.SHORT if short is not None and frame.size == short.SHORT.size else body_type.LAYOUT
        names = body_type.__slots__[: len(layout.format) - 1]
        return lambda cursor: [
            getattr(cursor, _READ[code])(name) for name, code in zip(names, layout.format[1:], strict=True)
        ]
    return _BODIES.get(frame.user_type)
