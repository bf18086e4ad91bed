"""Message and correlation ids of AMQP messages as text: strings, unsigned numbers, UUIDs, bytes."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.amqp_text import binary_text
from pagefmt.describe.arrow_schema import STRING
from pagefmt.vectors.amqp import values
from pagefmt.vectors.amqp.structure import ValueColumn
from pagefmt.vectors.amqp.values import BINARIES, IS_STRING, STRINGS, ULONG, by_code, read_integer
from pagefmt.vectors.amqp.walk import ABSENT, widths
from pagefmt.vectors.arrays.repeated import Nulls, repeated
from pagefmt.vectors.arrays.strings import slices, text_of_utf8, with_nulls
from pagefmt.vectors.core.parts import uuid_characters
from pagefmt.vectors.pages.gather import PageBytes

_NONE: Final = Nulls(STRING)
_UUID: Final = 0x98
_TYPES: Final = {
    **dict.fromkeys(STRINGS, "string"), **dict.fromkeys(BINARIES, "bytes"), 0x44: "ulong", 0x53: "ulong",
    ULONG: "ulong", _UUID: "uuid",
}  # fmt: skip


def identifiers(page: PageBytes, value: ValueColumn, regular: Mask) -> tuple[pa.StringArray, pa.StringArray]:
    """Return the identifiers and their types; an identifier of another type clears ``regular``."""
    n = len(regular)
    if value.code == ABSENT:
        return _NONE(n), _NONE(n)
    present = value.at != ABSENT
    there = np.flatnonzero(present)
    codes = page.byte(value.at[there])
    if value.code in STRINGS or IS_STRING[codes].all():
        return values.texts(page, value, regular, kinds=STRINGS), with_nulls(repeated(("string",), n), present)
    rows = [np.flatnonzero(~present)]
    texts, types = [_NONE(len(rows[0]))], [_NONE(len(rows[0]))]
    for code, rows_of_code in by_code(codes):
        mine = there[rows_of_code]
        is_known = code in _TYPES
        regular[mine] &= is_known
        rows.append(mine)
        texts.append(_texts(page, code, value.at[mine], mine, regular) if is_known else _NONE(len(mine)))
        types.append(repeated((_TYPES[code],), len(mine)) if is_known else _NONE(len(mine)))
    back = pa.array(np.argsort(np.concatenate(rows), kind="stable"))
    return pa.concat_arrays(texts).take(back), pa.concat_arrays(types).take(back)


def _texts(page: PageBytes, code: int, at: Ints, rows: Ints, regular: Mask) -> pa.StringArray:
    """Return the identifiers that have the constructor ``code``."""
    if code == _UUID:
        return _uuids(page, at)
    if code in STRINGS:
        text, bad = text_of_utf8(slices(page, *widths(page, at)[1:]))
        regular[rows[bad]] = False
        return text
    if code in BINARIES:
        raw = slices(page, *widths(page, at)[1:])
        return pa.array([binary_text(value) for value in raw.to_pylist()], STRING)
    return pa.array(read_integer(page, code, at + 1).view(np.uint64)).cast(STRING)


def _uuids(page: PageBytes, at: Ints) -> pa.StringArray:
    text = uuid_characters(page.window(page.inside(at + 1), 16))
    offsets = np.arange(len(at) + 1, dtype=np.int32) * np.int32(36)
    return pa.Array.from_buffers(STRING, len(at), [None, pa.py_buffer(offsets), pa.py_buffer(text)])
