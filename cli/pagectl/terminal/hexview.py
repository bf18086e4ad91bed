"""Bytes beside field names: offset, hex, name and value, eight bytes a line, so that 80 columns are enough."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, TextIO

from pagectl.terminal.sanitise import one_line
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.describe.field import Field
    from pagefmt.directory.locate import DataLocation

_ROW: Final = 8
_BYTES_WIDTH: Final = 3 * _ROW - 1
_SAID_WIDTH: Final = 80 - 10 - _BYTES_WIDTH - 4
_DAMAGE_SHOWN: Final = 64
_BOLD, _DIM, _CYAN, _RED, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[31m", "\x1b[0m"


class HexView:
    """Writes records of a page as text. Colour only when asked for."""

    def __init__(self, out: TextIO, *, with_bytes: bool, coloured: bool) -> None:
        self._out = out
        self._with_bytes = with_bytes
        self._coloured = coloured
        self._base = 0

    def heading(self, text: str) -> None:
        """Print a line in bold."""
        self.line(self._in(_BOLD, text))

    def line(self, text: str = "") -> None:
        """Print a line of text."""
        self._out.write(text + "\n")

    def record(self, buf: bytes | memoryview, number: int, offset: int, length: int, base: int = 0) -> None:
        """Print the fields of the record at ``offset``, and their bytes if requested.

        ``base`` is the offset of ``buf`` in the file.
        """
        from pagefmt.describe.anatomy import record_fields

        self.fields(buf, f"record {number}", offset, length + 6, record_fields(buf, offset, length), base)

    def fields(
        self, buf: bytes | memoryview, title: str, offset: int, size: int, fields: Iterable[Field], base: int = 0
    ) -> None:
        """Print a record under a title, field by field. ``base`` is the offset of ``buf`` in the file."""
        self._base = base
        at = base + offset
        self.line()
        self.line(self._in(_BOLD, title) + f"  offset {at} (0x{at:x}), {size} bytes")
        for field in fields:
            self._field(buf, field)

    def torn(self, offset: int, detail: str) -> None:
        """Print a torn record: bytes that begin like a record and are none."""
        self.line()
        self.line(self._in(_RED, f"torn record at offset {offset} (0x{offset:x})") + f": {one_line(detail)}")

    def damage(self, buf: bytes | memoryview, damage: Damage, behind: int, place: DataLocation) -> None:
        """Print the damage at which reading stopped, and how many whole records follow it."""
        self.line()
        self.line(
            self._in(_RED, f"{damage.kind} at offset {damage.offset} (0x{damage.offset:x})") + f": {damage.detail}"
        )
        for at in range(damage.offset, min(len(buf), damage.offset + _DAMAGE_SHOWN), _ROW):
            row = bytes(buf[at : min(at + _ROW, len(buf))])
            self.line(f"{self._offset(at)}  {row.hex(' '):<{_BYTES_WIDTH}}  {_ascii(row)}")
        if behind:
            self.line(f"after it: {count_text(behind, 'whole record')}; see: {place.call('pages salvage')} --out NEW")

    def _field(self, buf: bytes | memoryview, field: Field) -> None:
        text = one_line(field.text)
        if self._with_bytes and field.size > _ROW:
            text = shortened(text, _SAID_WIDTH - len(field.name))
        label = self._in(_CYAN, one_line(field.name)) + (f"  {text}" if text else "")
        if not self._with_bytes:
            self.line(f"{self._offset(field.offset)}  {field.size:>6}  {label}")
            return
        raw = bytes(buf[field.offset : field.offset + field.size])
        first, further = raw[:_ROW], raw[_ROW:]
        self.line(f"{self._offset(field.offset)}  {first.hex(' '):<{_BYTES_WIDTH}}  {label}")
        for n in range(0, len(further), _ROW):
            row = further[n : n + _ROW]
            dim = self._in(_DIM, _ascii(row))
            self.line(f"{self._offset(field.offset + _ROW + n)}  {row.hex(' '):<{_BYTES_WIDTH}}  {dim}")

    def _offset(self, at: int) -> str:
        return self._in(_DIM, f"{self._base + at:08x}")

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_PLAIN}" if self._coloured else text


def shortened(text: str, width: int) -> str:
    """Return a text of at most ``width`` characters; the bytes below it show what was cut."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def _ascii(row: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
