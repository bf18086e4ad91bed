"""Bodies of core messages by type (docs/spec/messages.md 5.1, 6). The type is only a promise of the sender.

    0 default  free                       5 map       one properties block
    2 object   i32 n, n bytes of Java     6 stream    items: i8 type, value; 10 is a nullable string
    3 text     one nsstr                  7 embedded  "EMB", then a persister encoding
    4 bytes    the whole body             8 large     the encoding is in the property _AMQ_EMBED_LARGE

    string     i32 n code units; n < 9: n × u16; n < 4095: a UTF form; else an sstr
    UTF        u16 byte count; one byte for 0 – 7F, two for 80 – 7FF, three for the rest, surrogates one by one

Serialised Java objects are never read. Compressed bodies are inflated only by ``inflated``, within a limit.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

from pagefmt.codec.messages.core_fields import PROPERTY_CODES
from pagefmt.codec.messages.properties import READERS, decode_properties
from pagefmt.codec.messages.values import NULL, Property, TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

COMPRESSED: Final = ("_AMQ_LARGE_COMPRESSED", "_HQ_LARGE_COMPRESSED")
LARGE_SIZE: Final = ("_AMQ_LARGE_SIZE", "_HQ_LARGE_SIZE")
_STRING: Final = PROPERTY_CODES[ValueKind.STRING]


def text_of(body: bytes) -> str | None:
    """Decode the text of a text message's body, None if it is null or the body is empty.

    Bytes after the text are ignored.
    """
    return ByteReader(body).nsstr("text") if body else None


def map_of(body: bytes) -> tuple[Property, ...]:
    """Decode the entries of a map body. Raise ``Undecodable``."""
    return decode_properties(ByteReader(body)).entries if body else ()


def stream_of(body: bytes) -> tuple[TypedValue, ...]:
    """Decode the items of a stream body. Raise ``Undecodable``."""
    reader = ByteReader(body)
    items = []
    while reader.left():
        items.append(_stream_item(reader))
    return tuple(items)


def _stream_item(reader: ByteReader) -> TypedValue:
    at = reader.pos
    code = reader.u8("item type")
    if code == _STRING:
        text = nullable_string(reader)
        return NULL if text is None else TypedValue(ValueKind.STRING, text)
    decode: Callable[[ByteReader], TypedValue] | None = READERS.get(code)
    if decode is None:
        raise Undecodable(at, f"unknown item type {code}")
    return decode(reader)


def nullable_string(reader: ByteReader) -> str | None:
    """Decode a byte, 0 for null, else followed by a ``counted_string``."""
    return counted_string(reader) if reader.u8("string present") else None


def counted_string(reader: ByteReader) -> str:
    """Decode a string, whose form depends on its length."""
    at = reader.pos
    units = reader.i32("string length")
    if units < 0:
        raise Undecodable(at, f"string: negative length {units}")
    if units < 9:
        return reader.take(2 * units, "string").decode("utf-16-be", "surrogatepass")
    return utf_form(reader) if units < 4095 else reader.sstr("string")


def write_nullable(out: ByteWriter, text: str | None) -> None:
    """Append a string in the form that ``nullable_string`` decodes."""
    out.u8(0 if text is None else 1)
    if text is None:
        return
    units = text.encode("utf-16-be", "surrogatepass")
    count = len(units) // 2
    out.i32(count)
    if count < 9:
        out.raw(units)
    elif count < 4095:
        write_utf(out, text)
    else:
        out.sstr(text)


def write_utf(out: ByteWriter, text: str) -> None:
    """Append a string in the form that ``utf_form`` decodes."""
    units = text.encode("utf-16-be", "surrogatepass")
    packed = b"".join(_packed_unit(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
    out.u16(len(packed))
    out.raw(packed)


def _packed_unit(unit: int) -> bytes:
    if 1 <= unit < 0x80:
        return bytes((unit,))
    if unit < 0x800:
        return bytes((0xC0 | unit >> 6, 0x80 | unit & 0x3F))
    return bytes((0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F))


def utf_form(reader: ByteReader) -> str:
    """Read Java's modified UTF-8 with its byte count."""
    size = reader.u16("UTF length")
    at = reader.pos
    raw = reader.take(size, "UTF text")
    units, n = [], 0
    while n < size:
        first = raw[n]
        width = 1 if first < 0x80 else 3 if first >> 5 == 0b111 else 2
        if n + width > size:
            raise Undecodable(at + n, "UTF text ends inside a character")
        units.append(_utf_unit(raw[n : n + width]))
        n += width
    packed = b"".join(unit.to_bytes(2, "big") for unit in units)
    return packed.decode("utf-16-be", "surrogatepass")


def _utf_unit(raw: bytes) -> int:
    match len(raw):
        case 1:
            return raw[0]
        case 2:
            return (raw[0] & 0x1F) << 6 | raw[1] & 0x3F
        case _:
            return (raw[0] & 0x0F) << 12 | (raw[1] & 0x3F) << 6 | raw[2] & 0x3F


def is_compressed(properties: dict[str, TypedValue]) -> bool:
    """Return whether the body is a zlib stream: of a large message, or of one that was large before."""
    marks = [properties[name] for name in COMPRESSED if name in properties]
    return any(value.kind is ValueKind.BOOLEAN and value.value for value in marks)


def inflated(body: bytes, limit: int) -> bytes:
    """Inflate a zlib stream. Raise ``Undecodable`` if it is damaged or gives more than ``limit`` bytes."""
    worker = zlib.decompressobj()
    try:
        out = worker.decompress(body, limit + 1)
    except zlib.error as err:
        raise Undecodable(0, f"compressed body: {err}") from err
    if len(out) > limit:
        raise Undecodable(0, f"compressed body: more than {limit} bytes when inflated")
    if not worker.eof:
        raise Undecodable(len(body), "compressed body: the stream is cut off")
    return out
