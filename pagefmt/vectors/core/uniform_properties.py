"""Properties of messages that all have the same names and types in the same order, the usual case, read as a table.

The first message's block is the pattern. Between two values of a stated size every byte has its place, so that such a
run of names, types and numbers is one window of each message, compared with the first's as a whole. Anything that does
not fit makes the answer ``None``: ``properties.read_entries`` reads messages that differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pagefmt.arrays import Ints
from pagefmt.vectors.core import properties as props
from pagefmt.vectors.pages.gather import PageBytes

_SIZE: Final = Struct(">i").unpack_from
# The fixed-width field after a type code: the value, or its length.
_FORMS: Final = {
    props.NULL: "V0", props.BOOLEAN: "u1", props.BYTE: "i1", props.BYTES: ">i4", props.SHORT: ">i2", props.INT: ">i4",
    props.LONG: ">i8", props.FLOAT: ">f4", props.DOUBLE: ">f8", props.TEXT: ">i4", props.CHAR: ">u2",
}  # fmt: skip
_SIZED: Final = (props.BYTES, props.TEXT)
_WIDEST_RUN: Final = 1024
_SIGN: Final = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Column:
    """One property of all messages.

    ``name``: UTF-16LE. ``at``: of the value's content, ``size``: its bytes. ``values``: the numbers, None where the
    type is not of a fixed width.
    """

    name: bytes
    type: int
    at: Ints
    size: Ints | int
    values: npt.NDArray[Any] | None


@dataclass(frozen=True, slots=True)
class _Field:
    """A name, its type, and the offset ``at`` in the run of what follows: the value, or its size."""

    name: bytes
    type: int
    at: int


@dataclass(frozen=True, slots=True)
class _FixedRun:
    """Bytes at the same offsets in all messages, up to a value of a stated size.

    ``words``: for each eight bytes, those that all messages have, and a mask of the bits to compare.
    """

    fields: tuple[_Field, ...]
    width: int
    words: tuple[tuple[np.uint64, np.uint64], ...]

    @property
    def layout(self) -> np.dtype[np.void]:
        return np.dtype(
            {
                "names": [f"value{k}" for k in range(len(self.fields))],
                "formats": [_FORMS[field.type] for field in self.fields],
                "offsets": [field.at for field in self.fields],
                "itemsize": 8 * len(self.words),
            }
        )


def alike(page: PageBytes, at: Ints, end: Ints) -> list[Column] | None:
    """Return the columns of the properties blocks from ``at`` to ``end``, or None if names or types differ."""
    # The first message's block is the pattern: fixed bytes must be the same in all messages, fields may differ.
    runs = _runs_of_first(page, at, end)
    columns: list[Column] = []
    for run in runs or ():
        next_at = _read_run(page, at, run, columns)
        if next_at is None:
            return None
        at = next_at
    return columns if runs is not None and bool((at == end).all()) else None


def like_first(page: PageBytes, at: Ints, end: Ints) -> Ints:
    """Return the rows of blocks with the names and types of the first one, none if that one is irregular."""
    runs, rows = _runs_of_first(page, at, end), np.arange(len(at))
    if runs is None:
        return rows[:0]
    for run in runs:
        inside = at + run.width <= end
        rows, at, end = rows[inside], at[inside], end[inside]
        content = page.window(at, 8 * len(run.words))
        words = content.view(np.uint64)
        good = np.ones(len(rows), bool)
        for k, (word, bits) in enumerate(run.words):
            good &= ((words[:, k] ^ word) & bits) == 0
        at = at + run.width
        if run.fields and (kind := run.fields[-1].type) in _SIZED:
            size = content.view(run.layout).reshape(-1)[f"value{len(run.fields) - 1}"].astype(np.int64)
            good &= (size & _unfit(kind)) == 0
            at = at + size
        rows, at, end = rows[good], at[good], end[good]
    fitting: Ints = rows[at == end]
    return fitting


def _runs_of_first(page: PageBytes, at: Ints, end: Ints) -> list[_FixedRun] | None:
    first, last = int(at[0]), int(end[0])
    return _pattern(page.u8[first:last].tobytes()) if 0 <= first < last <= page.size else None


def _unfit(kind: int) -> int:
    """Return the bits that no size of a value of the type has."""
    return _SIGN | (kind == props.TEXT)


def _read_run(page: PageBytes, at: Ints, run: _FixedRun, columns: list[Column]) -> Ints | None:
    """Add the columns of a run that begins at these positions of all messages, and return where it ends in each.

    Return None if the run of any message differs from the pattern.
    """
    if int(at.max()) + run.width > page.size or len(at) * run.width > page.size:
        return None
    # A row for each message, compared with the pattern eight bytes at a time; the bits of values are masked.
    rows = page.window(at, 8 * len(run.words))
    words = rows.view(np.uint64)
    for k, (word, bits) in enumerate(run.words):
        if bool(((words[:, k] ^ word) & bits).any()):
            return None
    table = rows.view(run.layout).reshape(-1)
    behind = at + run.width
    for k, field in enumerate(run.fields):
        values = table[f"value{k}"]
        if field.type in _SIZED:
            size = values.astype(np.int64)
            if int(np.bitwise_or.reduce(size)) & _unfit(field.type):
                return None
            columns.append(Column(field.name, field.type, behind, size, None))
            return behind + size
        columns.append(Column(field.name, field.type, at + field.at, values.dtype.itemsize, values))
    return behind


def _pattern(block: bytes) -> list[_FixedRun] | None:
    """Return the runs of one message's block, or None if the block is odd."""
    count = 0 if not block[0] else _SIZE(block, 1)[0] if len(block) >= 5 else -1
    if not 0 <= count <= props.MAX_ENTRIES:
        return None
    runs: list[_FixedRun] = []
    fields: list[_Field] = []
    start, at = 0, 5 if block[0] else 1
    for _ in range(count):
        field = _field(block, at, start)
        if field is None:
            return None
        fields.append(field)
        at = start + field.at + np.dtype(_FORMS[field.type]).itemsize
        sized = field.type in _SIZED
        if at > len(block):
            return None
        if sized or at - start > _WIDEST_RUN:
            runs.append(_run(fields, block[start:at]))
            stated = _SIZE(block, at - 4)[0] if sized else 0
            if stated < 0:
                return None
            at += stated
            fields, start = [], at
    if at > start:
        runs.append(_run(fields, block[start:at]))
    names = {field.name for run in runs for field in run.fields}
    return runs if at == len(block) and len(names) == count else None


def _field(block: bytes, at: int, start: int) -> _Field | None:
    if not start <= at <= len(block) - 5:
        return None
    size = _SIZE(block, at)[0]
    if size < 0 or size & 1 or at + 4 + size >= len(block):
        return None
    name, code = block[at + 4 : at + 4 + size], block[at + 4 + size]
    return _Field(name, code, at + 5 + size - start) if code in _FORMS else None


def _run(fields: list[_Field], content: bytes) -> _FixedRun:
    same = bytearray(b"\xff" * len(content))
    for field in fields:
        width = np.dtype(_FORMS[field.type]).itemsize
        same[field.at : field.at + width] = bytes(width)
    # Eight bytes are compared at once; bytes that may differ are masked.
    padding = bytes(-len(content) % 8)
    words, bits = (np.frombuffer(raw + padding, np.uint64) for raw in (content, same))
    return _FixedRun(tuple(fields), len(content), tuple(zip(words, bits, strict=True)))
