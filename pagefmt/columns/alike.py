"""Properties of messages that all have the same names and types in the same order: the usual case, read as a table.

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

from pagefmt.columns import properties as props
from pagefmt.columns.gather import Ints, PageBytes

_SIZE: Final = Struct(">i").unpack_from
_COUNTED: Final = np.dtype([("present", "u1"), ("count", ">i4")])
_FORMS: Final = {
    props.NULL: "V0", props.BOOLEAN: "u1", props.BYTE: "i1", props.BYTES: ">i4", props.SHORT: ">i2", props.INT: ">i4",
    props.LONG: ">i8", props.FLOAT: ">f4", props.DOUBLE: ">f8", props.TEXT: ">i4", props.CHAR: ">u2",
}  # fmt: skip
"""What follows a type code: a value, or the length of one."""
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
    """A name, its type and a value of a fixed width, in a run; ``at`` is where the name's length stands."""

    at: int
    name: bytes
    type: int

    @property
    def value_at(self) -> int:
        return self.at + 5 + len(self.name)


@dataclass(frozen=True, slots=True)
class _Run:
    """Bytes that have their place in all messages. ``sized``: the last value's length is the end of it."""

    fields: tuple[_Field, ...]
    width: int
    sized: bool

    @property
    def layout(self) -> np.dtype[np.void]:
        names, formats, offsets = [], [], []
        for k, field in enumerate(self.fields):
            names += [f"head{k}", f"value{k}"]
            formats += [f"V{5 + len(field.name)}", _FORMS[field.type]]
            offsets += [field.at, field.value_at]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.width})


def alike(page: PageBytes, at: Ints, end: Ints) -> list[Column] | None:
    """The properties blocks at ``at``, which must end exactly at ``end``; None where the messages differ in them."""
    first, last = int(at[0]), int(end[0])
    if not 0 <= first < last <= page.size:
        return None
    runs = _pattern(page.u8[first:last].tobytes())
    if runs is None:
        return None
    counted = page.fields(page.inside(at), _COUNTED)
    if bool((counted["present"] != counted["present"][0]).any()):
        return None
    if not counted["present"][0]:
        return [] if bool((at + 1 == end).all()) else None
    if bool((counted["count"] != counted["count"][0]).any()):
        return None
    columns: list[Column] = []
    cursor = at + 5
    for run in runs:
        found = _read(page, cursor, run, columns)
        if found is None:
            return None
        cursor = found
    return columns if bool((cursor == end).all()) else None


def _pattern(block: bytes) -> list[_Run] | None:
    """The runs of one message's block."""
    if not block[0]:
        return [] if len(block) == 1 else None
    if len(block) < 5 or not 0 <= (count := _SIZE(block, 1)[0]) <= props.MAX_ENTRIES:
        return None
    runs: list[_Run] = []
    fields: list[_Field] = []
    names: set[bytes] = set()
    start = at = 5
    for _ in range(count):
        field = _field(block, at, start)
        if field is None or field.name in names:
            return None
        names.add(field.name)
        fields.append(field)
        at = start + field.value_at + np.dtype(_FORMS[field.type]).itemsize
        sized = field.type in _SIZED
        if sized or at - start > _WIDEST_RUN:
            runs.append(_Run(tuple(fields), at - start, sized))
            if sized:
                if at > len(block):
                    return None
                at += _SIZE(block, at - 4)[0]
            fields, start = [], at
    if fields:
        runs.append(_Run(tuple(fields), at - start, False))
    return runs if at == len(block) else None


def _field(block: bytes, at: int, start: int) -> _Field | None:
    if not start <= at <= len(block) - 5:
        return None
    size = _SIZE(block, at)[0]
    if size < 0 or size & 1 or at + 4 + size >= len(block):
        return None
    code = block[at + 4 + size]
    return _Field(at - start, block[at + 4 : at + 4 + size], code) if code in _FORMS else None


def _read(page: PageBytes, at: Ints, run: _Run, columns: list[Column]) -> Ints | None:
    """Add the columns of a run that begins at each position; where it ends, None where one does not fit."""
    if int(at.max()) + run.width > page.size:
        return None
    rows = page.fields(at, run.layout)
    behind = at + run.width
    for k, field in enumerate(run.fields):
        heads = rows[f"head{k}"]
        if bool((heads != heads[0]).any()):
            return None
        values = rows[f"value{k}"]
        if field.type in _SIZED:
            size = values.astype(np.int64)
            if int(np.bitwise_or.reduce(size)) & (_SIGN | (field.type == props.TEXT)):
                return None
            columns.append(Column(field.name, field.type, behind, size, None))
            return behind + size
        columns.append(Column(field.name, field.type, at + field.value_at, values.dtype.itemsize, values))
    return behind
