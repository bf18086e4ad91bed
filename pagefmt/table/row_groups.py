"""A Parquet file put together from row groups that were encoded in several places.

Each comes as a small Parquet file. Its columns are taken as they are; of its footer, which is written in Thrift's
compact protocol (parquet-format, ``parquet.thrift``), only what says where they lie is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, RawIOBase
from typing import IO, Any, Final

import pyarrow as pa

from pagefmt.parallel import PassedBytes
from pagefmt.table.table_files import PARQUET, table_file

# Bytes of page files whose rows make row groups of their own.
UNIT: Final = 32 << 20
_MAGIC: Final = b"PAR1"
_ROWS, _GROUPS = 3, 4  # of FileMetaData
_SMALL: Final = 15
_I64: Final = 6
_LIST: Final = 9
_STRUCT: Final = 12
# Offsets in a row group, by field numbers: its own, and of each column chunk those of its parts.
_MOVED: Final = ((5,), (1, 2), (1, 4), (1, 6), (1, 3, 9), (1, 3, 10), (1, 3, 11), (1, 3, 14))
Field = tuple[int, int, Any]


@dataclass(frozen=True, slots=True)
class RowGroups:
    """The footer of a Parquet file of ``rows`` rows, whose columns were passed before."""

    footer: bytes
    rows: int


class _Pieces(RawIOBase):
    """A file in memory that keeps what is written after the magic number until it is drained."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def write(self, content: Any) -> int:
        piece = bytes(content)
        self._pieces.append(piece[max(len(_MAGIC) - self._at, 0) :])
        self._at += len(piece)
        return len(piece)

    def drained(self) -> bytes:
        """Return the bytes written so far and forget them."""
        content = b"".join(self._pieces)
        self._pieces.clear()
        return content


def encoded(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[PassedBytes | RowGroups]:
    """Yield the rows as row groups of a Parquet file: columns as soon as a group is full, metadata last."""
    sink, rows = _Pieces(), 0
    with table_file(pa.PythonFile(sink, "w"), PARQUET, schema) as table:
        for batch in batches:
            if not batch.num_rows:
                continue  # an empty row group has bytes, which nobody counts where a part without rows is left out
            rows += batch.num_rows
            table.write_batch(batch)
            if content := sink.drained():
                yield PassedBytes(content)
    content = sink.drained()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    if end:
        yield PassedBytes(content[:end])
    yield RowGroups(content[end:-8], rows)


class JoinedParquet:
    """A writer that joins row groups of one schema, in their order, to a Parquet file."""

    def __init__(self, out: IO[bytes], schema: pa.Schema) -> None:
        self._out, self._schema = out, schema
        self._footer: list[Field] = []
        self._groups: list[list[Field]] = []
        self._at, self._size = out.write(_MAGIC), 0
        self.rows = 0

    def append(self, part: PassedBytes | RowGroups) -> None:
        """Append a part that ``encoded`` yielded."""
        if isinstance(part, PassedBytes):
            self._size += self._out.write(part.content)
            return
        footer = _ThriftReader(part.footer).struct()
        groups = next(value for number, _, value in footer if number == _GROUPS)[1]
        moved = self._at - len(_MAGIC)
        self._groups += [_moved(group, moved, ()) for group in groups]
        self._footer = self._footer or footer
        self._at, self._size = self._at + self._size, 0
        self.rows += part.rows

    def close(self) -> None:
        """Write the footer, which makes the file complete. ``out`` stays open.

        It is the footer of the first part with all row groups; a file without any has that of an empty table.
        """
        if not self._footer:
            for part in encoded(self._schema, ()):
                self.append(part)
        new = {_ROWS: self.rows, _GROUPS: (_STRUCT, self._groups)}
        footer = bytearray()
        _write(footer, _STRUCT, [(number, kind, new.get(number, value)) for number, kind, value in self._footer])
        self._out.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)


def _moved(fields: Sequence[Field], by: int, path: tuple[int, ...]) -> list[Field]:
    """Return a struct with its offsets moved by ``by``; 0 means no offset and stays."""
    moved = []
    for number, kind, value in fields:
        here_path = (*path, number)
        inside = any(field[: len(here_path)] == here_path for field in _MOVED)
        if here_path in _MOVED and kind == _I64:
            moved.append((number, kind, value and value + by))
        elif inside and kind == _STRUCT:
            moved.append((number, kind, _moved(value, by, here_path)))
        elif inside and kind == _LIST:
            moved.append((number, kind, (value[0], [_moved(field, by, here_path) for field in value[1]])))
        else:
            moved.append((number, kind, value))
    return moved


class _ThriftReader:
    """Values of Thrift's compact protocol. Structs are lists of (field, type, value), lists (type, values)."""

    def __init__(self, content: bytes) -> None:
        self._in = BytesIO(content)

    def struct(self) -> list[Field]:
        fields: list[Field] = []
        number = 0
        while head := self._in.read(1)[0]:
            number = number + (head >> 4) if head >> 4 else _plain(self._varint())
            fields.append((number, head & _SMALL, self._value(head & _SMALL)))
        return fields

    def _value(self, kind: int) -> Any:
        if kind == _STRUCT:
            return self.struct()
        if kind == _LIST:
            head = self._in.read(1)[0]
            count = head >> 4 if head >> 4 < _SMALL else self._varint()
            element_kind = head & _SMALL
            return element_kind, [
                self._in.read(1) if element_kind in (1, 2) else self._value(element_kind) for _ in range(count)
            ]
        if kind in (1, 2):
            return None  # the type is the value
        if kind in (4, 5, _I64):
            return _plain(self._varint())
        if kind == 8:
            return self._in.read(self._varint())
        if kind in (3, 7):
            return self._in.read(1 if kind == 3 else 8)
        raise ValueError(f"type {kind} in a footer of Parquet")

    def _varint(self) -> int:
        """Read an unsigned integer of 7 bits per byte, the lowest first; a set high bit means that more follow."""
        value = shift = 0
        while True:
            (byte,) = self._in.read(1)
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7


def _plain(zigzag: int) -> int:
    return (zigzag >> 1) ^ -(zigzag & 1)


def _write(out: bytearray, kind: int, value: Any) -> None:
    """Write a value as ``_ThriftReader`` reads it."""
    if kind == _STRUCT:
        before = 0
        for number, of, its in value:
            step = number - before
            out.append(step << 4 | of if 0 < step <= _SMALL else of)
            if not 0 < step <= _SMALL:
                _write_varint(out, number << 1)
            _write(out, of, its)
            before = number
        out.append(0)
    elif kind == _LIST:
        of, values = value
        out.append(min(len(values), _SMALL) << 4 | of)
        if len(values) >= _SMALL:
            _write_varint(out, len(values))
        for element in values:
            _write(out, 3 if of in (1, 2) else of, element)
    elif kind in (4, 5, _I64):
        _write_varint(out, value << 1 if value >= 0 else (-value << 1) - 1)
    elif kind == 8:
        _write_varint(out, len(value))
        out += value
    elif kind in (3, 7):
        out += value


def _write_varint(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
