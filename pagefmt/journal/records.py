"""Journal records: one frame layout per kind (docs/spec/journal.md 2).

Every record starts with its kind and the low 31 bits of its file's id and ends with its own total length, the check
size. ``L`` is the length of the body, ``X`` that of the XID. Format version 1 has no compact count: one byte less.

=====================  =========  ==============================================================================
kind                   total      fields between file id and check size
=====================  =========  ==============================================================================
ADD, UPDATE, EVENT     23 + L     i8 compact, i64 id, i32 L, i8 user type, body
ADD_TX, UPDATE_TX      31 + L     i8 compact, i64 transaction, i64 id, i32 L, i8 user type, body
DELETE_TX              30 + L     i8 compact, i64 transaction, i64 id, i32 L, body
DELETE                 18         i8 compact, i64 id
PREPARE                26 + X     i8 compact, i64 transaction, i32 number of records, i32 X, XID
COMMIT                 22         i8 compact, i64 transaction, i32 number of records
ROLLBACK               18         i8 compact, i64 transaction
=====================  =========  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from operator import itemgetter
from struct import Struct, error
from typing import Any, Final, NamedTuple

from pagefmt.errors import PageFmtError
from pagefmt.storage.files import FileStretches


class RecordKind(IntEnum):
    """The first byte of a journal record."""

    EVENT = 10
    ADD = 11
    UPDATE = 12
    ADD_TX = 13
    UPDATE_TX = 14
    DELETE_TX = 15
    DELETE = 16
    PREPARE = 17
    COMMIT = 18
    ROLLBACK = 19


_PLAIN: Final = {"id": "q", "size": "i", "user_type": "b"}
_FIELDS: Final[dict[RecordKind, dict[str, str]]] = {
    RecordKind.EVENT: _PLAIN,
    RecordKind.ADD: _PLAIN,
    RecordKind.UPDATE: _PLAIN,
    RecordKind.ADD_TX: {"tx": "q", **_PLAIN},
    RecordKind.UPDATE_TX: {"tx": "q", **_PLAIN},
    RecordKind.DELETE_TX: {"tx": "q", "id": "q", "size": "i"},
    RecordKind.DELETE: {"id": "q"},
    RecordKind.PREPARE: {"tx": "q", "records": "i", "size": "i"},
    RecordKind.COMMIT: {"tx": "q", "records": "i"},
    RecordKind.ROLLBACK: {"tx": "q"},
}
CHECK: Final = Struct(">i")
FILE_ID_MASK: Final = 0x7FFFFFFF
ABSENT: Final = (0,)


class JournalFrame(NamedTuple):
    """One record as it lies in a file: where, and the fields of its head (0 where the kind has none).

    ``at`` and ``body`` are offsets from the start of the file, ``total`` and ``size`` are bytes.
    """

    kind: int
    at: int
    total: int
    body: int
    compact: int
    tx: int
    id: int
    records: int
    size: int
    user_type: int


class FrameLayout(NamedTuple):
    """One kind in one format version. ``pick`` brings ``(file id, compact, …)`` into the order of ``JournalFrame``."""

    fields: tuple[str, ...]
    head: Struct
    total: int
    pick: Callable[[tuple[Any, ...]], tuple[int, ...]]


def _frame_layout(kind: RecordKind, version: int) -> FrameLayout:
    codes = {"kind": "B", "file_id": "i"} | ({} if version == 1 else {"compact": "b"}) | _FIELDS[kind]
    fields = tuple(codes)
    order = [fields.index(name) if name in codes else len(fields) for name in JournalFrame._fields[4:]]
    head = Struct(">" + "".join(codes.values()))
    return FrameLayout(fields, head, head.size + CHECK.size, itemgetter(*order))


VERSIONS: Final = (1, 2)
FRAME_LAYOUTS: Final = {
    version: {int(kind): _frame_layout(kind, version) for kind in RecordKind} for version in VERSIONS
}


class JournalRecord(NamedTuple):
    """One record apart from any file. ``body``: of a PREPARE the XID. Fields that the kind lacks stay 0 or empty."""

    kind: RecordKind
    id: int = 0
    tx: int = 0
    user_type: int = 0
    body: bytes = b""
    records: int = 0
    compact: int = 0


class BadJournalRecord(PageFmtError):
    """Bytes that are no journal record, or a record that no bytes can hold."""


def frame_at(buf: bytes | memoryview | FileStretches, at: int, version: int) -> JournalFrame | str:
    """Return the frame of the record at ``at``, or a phrase on what is wrong with it.

    The file id is not checked (docs/spec/journal.md 3.1). ``at`` must be within ``buf``.
    """
    (kind,) = buf[at : at + 1]
    shape = FRAME_LAYOUTS[version].get(kind)
    if shape is None:
        return f"{kind} is not a record type"
    left = len(buf) - at
    if shape.total > left:
        return f"needs at least {shape.total} bytes, {left} are left"
    head = shape.pick(shape.head.unpack(buf[at : at + shape.head.size]) + ABSENT)
    size = head[4]
    total = shape.total + size
    if size < 0 or total > left:
        return f"body of {size} bytes, {left} are left"
    (check,) = CHECK.unpack(buf[at + total - CHECK.size : at + total])
    if check != total:
        return f"check size {check} where {total} was expected"
    return JournalFrame(kind, at, total, at + shape.head.size, *head)


def decode(buf: bytes, at: int = 0, version: int = 2) -> JournalRecord:
    """Decode the record that starts at ``at``. Raise ``BadJournalRecord``."""
    frame = frame_at(buf, at, version) if 0 <= at < len(buf) else "is outside the file"
    if isinstance(frame, str):
        raise BadJournalRecord(f"journal record at offset {at}: {frame}")
    return record_of(frame, buf)


def record_of(frame: JournalFrame, buf: bytes | memoryview | FileStretches) -> JournalRecord:
    """Return the record of a frame in ``buf``."""
    body = bytes(buf[frame.body : frame.body + frame.size])
    return JournalRecord(
        RecordKind(frame.kind), frame.id, frame.tx, frame.user_type, body, frame.records, frame.compact
    )


def encode(record: JournalRecord, file_id: int, version: int = 2) -> bytes:
    """Return the bytes of a record in the file ``file_id``.

    Raise ``BadJournalRecord`` if a field is out of range.
    """
    shape = FRAME_LAYOUTS[version][record.kind]
    body = record.body if "size" in shape.fields else b""
    values = {
        "kind": int(record.kind),
        "file_id": file_id & FILE_ID_MASK,
        "compact": record.compact,
        "tx": record.tx,
        "id": record.id,
        "records": record.records,
        "size": len(body),
        "user_type": record.user_type,
    }
    try:
        head = shape.head.pack(*(values[name] for name in shape.fields))
    except error as err:
        raise BadJournalRecord(f"journal record {record.id}: a field is out of range: {err}") from err
    return head + body + CHECK.pack(shape.total + len(body))
