"""A page record field by field: offset, size, name and meaning of every byte, for ``pages inspect``.

The fields are what the decoders read: they run over a cursor that writes down each read. Bytes that no decoder
understands are a field too, so that the fields of a record always add up to the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from pagefmt.codec.messages.core_fields import MAP, MESSAGE_TYPES, PROPERTY_TYPES, TEXT
from pagefmt.codec.messages.core_message import user_id_text
from pagefmt.codec.messages.persisters import PERSISTER_NAMES
from pagefmt.codec.messages.properties import decode_properties
from pagefmt.codec.pages.record import CORE_LARGE, FRAME, ORDINARY, OTHER_LARGE, Layout, layout_of, read_payload
from pagefmt.codec.wire import ByteReader, FixedFields, Undecodable
from pagefmt.describe.amqp_anatomy import section_fields
from pagefmt.describe.field import Field, plain
from pagefmt.errors import PageFmtError
from pagefmt.quantities import time_text

_LARGE_TYPES: Final = {
    ORDINARY: "ordinary message",
    CORE_LARGE[0]: "core large message",
    CORE_LARGE[1]: "core large message, up to 2.11",
    OTHER_LARGE: "other large",
}


class RecordingCursor(ByteReader):
    """Records each read as a field."""

    __slots__ = ("fields",)

    def __init__(self, buf: bytes | memoryview, pos: int, end: int, fields: list[Field] | None = None) -> None:
        super().__init__(buf, pos, end)
        self.fields: list[Field] = [] if fields is None else fields

    def _note(self, at: int, what: str, value: object) -> None:
        if self.pos > at:
            self.fields.append(Field(at, self.pos - at, what, value))

    def u8(self, what: str = "byte") -> int:
        return self._read(super().u8, what)

    def i8(self, what: str = "byte") -> int:
        return self._read(super().i8, what)

    def i16(self, what: str = "short") -> int:
        return self._read(super().i16, what)

    def u16(self, what: str = "unsigned short") -> int:
        return self._read(super().u16, what)

    def i32(self, what: str = "int") -> int:
        return self._read(super().i32, what)

    def i64(self, what: str = "long") -> int:
        return self._read(super().i64, what)

    def fixed(self, fields: FixedFields) -> tuple[Any, ...]:
        """Read fields of fixed size, each recorded under its label."""
        values: list[Any] = []
        for field in fields.fields:
            at = self._advance(field.layout.size, field.label)
            values += field.layout.unpack_from(self.buf, at)
            self._note(at, field.label, values[-1])
        return tuple(values)

    def _read(self, read: Callable[[str], int], what: str) -> int:
        at = self.pos
        value = read(what)
        self._note(at, what, value)
        return value

    def take(self, size: int, what: str = "bytes") -> bytes:
        """Read bytes and record them as a field."""
        at = self.pos
        value = super().take(size, what)
        self._note(at, what, value)
        return value

    def sstr(self, what: str = "string") -> str:
        """Read a string, which is recorded as two fields: its byte count and its characters."""
        before = len(self.fields)
        text = super().sstr(what)
        length, *characters = self.fields[before:]
        self.fields[before:] = [Field(length.offset, length.size, f"{what}, bytes", length.value)]
        self.fields += [Field(field.offset, field.size, what, text) for field in characters]
        return text

    def nsstr(self, what: str = "string") -> str | None:
        """Read a nullable string: a mark, then the string if the mark is set."""
        return self.sstr(what) if self.u8(f"{what} present") else None

    def _part(self, start: int, end: int) -> ByteReader:
        return RecordingCursor(self.buf, start, end, self.fields)


def record_fields(buf: bytes | memoryview, offset: int, length: int) -> Iterator[Field]:
    """Yield the fields of the framed record at ``offset``. What is not understood becomes a field, never an error."""
    start, end = offset + 5, offset + 5 + length
    yield Field(offset, 1, "start mark", None)
    yield Field(offset + 1, 4, "payload length", length, f"{length} bytes")
    yield from _all_opened(buf, list(_payload_fields(buf, start, end)))
    yield Field(offset + length + FRAME - 1, 1, "end mark", None)


def fields_read(
    buf: bytes | memoryview, start: int, end: int, read: Callable[[RecordingCursor], object]
) -> Iterator[Field]:
    """Yield the fields between two offsets as ``read`` takes them from a cursor, and any bytes that it leaves."""
    yield from _all_opened(buf, list(_read(buf, start, end, Layout.NEW, read)))


def _all_opened(buf: bytes | memoryview, fields: list[Field]) -> Iterator[Field]:
    body_type = next((field.value for field in fields if field.name == "message type"), None)
    for field in fields:
        yield from _opened(buf, field, body_type)


def _payload_fields(buf: bytes | memoryview, start: int, end: int) -> Iterator[Field]:
    layout = layout_of(buf, start, end - start)
    yield from _read(buf, start, end, layout, lambda cursor: read_payload(cursor, start - 5, end - start, layout))


def _read(
    buf: bytes | memoryview, start: int, end: int, layout: Layout, read: Callable[[RecordingCursor], object]
) -> Iterator[Field]:
    cursor = RecordingCursor(buf, start, end)
    problem: PageFmtError | None = None
    try:
        read(cursor)
    except PageFmtError as err:
        problem = err
    yield from (_explained(field, layout) for field in cursor.fields)
    at = cursor.fields[-1].offset + cursor.fields[-1].size if cursor.fields else start
    if at < end:
        why = getattr(problem, "detail", str(problem)) if problem else "more bytes than the fields need"
        yield Field(at, end - at, "not understood", bytes(buf[at:end]), why)


def _opened(buf: bytes | memoryview, field: Field, body_type: object) -> Iterator[Field]:
    """Yield the fields in a block that the record's decoder leaves for later: properties, AMQP sections, bodies."""
    if field.name == "properties" or (field.name == "body" and body_type == MAP):
        return _by(decode_properties, buf, field)
    if field.name == "body" and body_type == TEXT:
        return _by(lambda cursor: cursor.nsstr("body text"), buf, field)
    if field.name == "encoded message":
        return section_fields(buf, field.offset, field.offset + field.size)
    return iter((field,))


def _by(decode: Callable[[ByteReader], object], buf: bytes | memoryview, field: Field) -> Iterator[Field]:
    cursor = RecordingCursor(buf, field.offset, field.offset + field.size)
    why = "more bytes than the fields need"
    try:
        decode(cursor)
    except Undecodable as err:
        why = err.detail
    yield from map(_property, cursor.fields)
    at = cursor.fields[-1].offset + cursor.fields[-1].size if cursor.fields else field.offset
    if at < cursor.end:
        yield Field(at, cursor.end - at, "not understood", bytes(buf[at : cursor.end]), why)


def _property(field: Field) -> Field:
    if field.name == "value type" and isinstance(field.value, int):
        return field.saying(
            f"{field.value}: {PROPERTY_TYPES[field.value].kind if field.value in PROPERTY_TYPES else 'unknown'}"
        )
    return field.saying(_truth(field.value)) if field.name.endswith(" present") else field


def _explained(field: Field, layout: Layout) -> Field:
    field = _property(field)
    meaning = _MEANINGS.get(field.name)
    if meaning is None or field.value is None:
        return field
    if field.name == "large type" and layout is Layout.OLD:
        return field.saying("large" if field.value else "ordinary message")
    return field.saying(meaning(field.value))


def _moment(value: object) -> str:
    """Return milliseconds since 1970 as a date; other values unchanged."""
    return time_text(value) if isinstance(value, int) and value > 0 else plain(value)


def _table(table: dict[int, str]) -> Callable[[object], str]:
    def meaning(value: object) -> str:
        return f"{value}: {table.get(value, 'unknown')}" if isinstance(value, int) else plain(value)

    return meaning


def _truth(value: object) -> str:
    return "yes" if value else "no"


_MEANINGS: Final[dict[str, Callable[[object], str]]] = {
    "transaction": lambda value: "none" if value == -1 else plain(value),
    "large type": _table(_LARGE_TYPES),
    "persister id": _table(PERSISTER_NAMES),
    "message type": _table(MESSAGE_TYPES),
    "durable": _truth,
    "expiration": lambda value: "never" if value == 0 else _moment(value),
    "timestamp": lambda value: "not set" if value == 0 else _moment(value),
    "user id": lambda value: user_id_text(value) or "" if isinstance(value, bytes) else plain(value),
}
