"""Reading and writing the broker's primitive types (docs/spec/page-files.md 1, docs/spec/messages.md 5.1).

Everything fixed-size is big-endian; the characters of an ``sstr`` are UTF-16 little-endian. A length read from the
input is compared with what is left before anything is sliced or allocated.
"""

from __future__ import annotations

from codecs import utf_16_le_decode
from struct import Struct
from typing import Any, Final, NamedTuple

from pagefmt.errors import PageFmtError

_I16: Final = Struct(">h")
_U16: Final = Struct(">H")
_I32: Final = Struct(">i")
_I64: Final = Struct(">q")
_MARK_AND_SIZE: Final = Struct(">Bi")
_i32, _i64 = _I32.unpack_from, _I64.unpack_from


class FixedField(NamedTuple):
    """A field of fixed size.

    ``name``: of the attribute; ``layout``: of its bytes; ``label``: what errors and ``inspect`` call it.
    """

    name: str
    layout: Struct
    label: str


class FixedFields:
    """Fields of fixed size that follow each other. Given as (name, code of ``struct``, label)."""

    __slots__ = ("fields", "size", "struct")

    def __init__(self, *fields: tuple[str, str, str]) -> None:
        self.fields = tuple(FixedField(name, Struct(">" + code), label) for name, code, label in fields)
        self.struct = Struct(">" + "".join(code for _, code, _ in fields))
        self.size = self.struct.size


class Undecodable(PageFmtError):
    """Bytes that do not mean what their place says. ``offset`` counts from the start of the buffer."""

    def __init__(self, offset: int, detail: str) -> None:
        super().__init__(f"offset {offset}: {detail}")
        self.offset = offset
        self.detail = detail


class ByteReader:
    """A position in a buffer that never leaves ``pos … end``. Offsets in errors are those of the buffer."""

    __slots__ = ("buf", "end", "pos")

    def __init__(self, buf: bytes | memoryview, pos: int = 0, end: int | None = None) -> None:
        self.buf = buf
        self.pos = pos
        self.end = len(buf) if end is None else end

    def left(self) -> int:
        """Return the number of bytes between the position and the end."""
        return self.end - self.pos

    def _advance(self, size: int, what: str) -> int:
        at = self.pos
        if size < 0:
            raise Undecodable(at, f"{what}: negative length {size}")
        if size > self.end - at:
            raise Undecodable(at, f"{what}: needs {size} bytes, {self.end - at} are left")
        self.pos = at + size
        return at

    def u8(self, what: str = "byte") -> int:
        """Read an unsigned byte, 0 to 255."""
        at = self.pos
        if at >= self.end:
            self._advance(1, what)
        self.pos = at + 1
        return self.buf[at]

    def i8(self, what: str = "byte") -> int:
        """Read a signed byte, -128 to 127."""
        value = self.buf[self._advance(1, what)]
        return value - 256 if value > 127 else value

    def i16(self, what: str = "short") -> int:
        """Read a signed 16-bit integer."""
        return int(_I16.unpack_from(self.buf, self._advance(2, what))[0])

    def u16(self, what: str = "unsigned short") -> int:
        """Read an unsigned 16-bit integer."""
        return int(_U16.unpack_from(self.buf, self._advance(2, what))[0])

    def i32(self, what: str = "int") -> int:
        """Read a signed 32-bit integer."""
        at = self.pos
        if at + 4 > self.end:
            self._advance(4, what)
        self.pos = at + 4
        value: int = _i32(self.buf, at)[0]
        return value

    def i64(self, what: str = "long") -> int:
        """Read a signed 64-bit integer."""
        at = self.pos
        if at + 8 > self.end:
            self._advance(8, what)
        self.pos = at + 8
        value: int = _i64(self.buf, at)[0]
        return value

    def fixed(self, fields: FixedFields) -> tuple[Any, ...]:
        """Read these fields in their order."""
        if fields.size > self.end - self.pos:
            for field in fields.fields:
                self._advance(field.layout.size, field.label)
        return fields.struct.unpack_from(self.buf, self._advance(fields.size, "fixed fields"))

    def skip(self, size: int, what: str = "bytes") -> None:
        """Step over ``size`` bytes."""
        self._advance(size, what)

    def take(self, size: int, what: str = "bytes") -> bytes:
        """Read and return ``size`` bytes."""
        at = self.pos
        if size < 0 or at + size > self.end:
            self._advance(size, what)
        self.pos = at + size
        return bytes(self.buf[at : at + size])

    def sub(self, size: int, what: str = "block") -> ByteReader:
        """Return a reader over the next ``size`` bytes, and skip them."""
        at = self._advance(size, what)
        return self._part(at, at + size)

    def _part(self, start: int, end: int) -> ByteReader:
        return ByteReader(self.buf, start, end)

    def rest(self, what: str = "bytes") -> bytes:
        """Read all bytes up to the end."""
        return self.take(self.left(), what)

    def finish(self, what: str) -> None:
        """Raise unless every byte was consumed."""
        if self.left():
            raise Undecodable(self.pos, f"{what}: {self.left()} bytes left over")

    def sstr(self, what: str = "string") -> str:
        """Read an ``i32`` byte count and UTF-16 little-endian code units; lone surrogates are kept."""
        size = self.i32(what)
        if size % 2:
            raise Undecodable(self.pos - 4, f"{what}: odd byte count {size}")
        return utf_16_le_decode(self.take(size, what), "surrogatepass", True)[0]

    def nsstr(self, what: str = "string") -> str | None:
        """Read a byte, 0 for null, else followed by an ``sstr``."""
        return self.sstr(what) if self.u8(what) else None

    def marked_sstr(self, what: str = "string") -> tuple[int, str | None]:
        """Read an ``nsstr``. Return its first byte, for which any value but 0 means present, and the string."""
        mark = self.u8(f"{what} present")
        return mark, self.sstr(what) if mark else None


class ByteWriter:
    """Bytes in the making: the mirror image of ``ByteReader``."""

    __slots__ = ("out",)

    def __init__(self) -> None:
        self.out = bytearray()

    def u8(self, value: int) -> None:
        """Append a byte; only the low 8 bits count."""
        self.out.append(value & 0xFF)

    def i16(self, value: int) -> None:
        """Append a signed 16-bit integer."""
        self.out += _I16.pack(value)

    def u16(self, value: int) -> None:
        """Append an unsigned 16-bit integer."""
        self.out += _U16.pack(value)

    def i32(self, value: int) -> None:
        """Append a signed 32-bit integer."""
        self.out += _I32.pack(value)

    def i64(self, value: int) -> None:
        """Append a signed 64-bit integer."""
        self.out += _I64.pack(value)

    def raw(self, value: bytes) -> None:
        """Append bytes as they are."""
        self.out += value

    def sstr(self, value: str) -> None:
        """Append an ``i32`` byte count and UTF-16 little-endian code units."""
        encoded = value.encode("utf-16-le", "surrogatepass")
        self.i32(len(encoded))
        self.out += encoded

    def nsstr(self, value: str | None) -> None:
        """Append 0 for None, else 1 and an ``sstr``."""
        self.marked_sstr(1, value)

    def marked_sstr(self, mark: int, value: str | None) -> None:
        """Append an ``nsstr`` with ``mark`` as the first byte of a string that is present."""
        self.out += string_bytes(value, mark)

    def done(self) -> bytes:
        """Return all bytes that were written."""
        return bytes(self.out)


def string_bytes(value: str | None, mark: int = 1) -> bytes:
    """Return an ``nsstr``: 0 for None, else ``mark``, ``i32`` byte count, UTF-16 little-endian code units."""
    if value is None:
        return b"\0"
    encoded = value.encode("utf-16-le", "surrogatepass")
    return _MARK_AND_SIZE.pack(mark, len(encoded)) + encoded
