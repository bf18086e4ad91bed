"""The property list of a JSON line: typed properties of core messages, sorted by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pagefmt.columns import properties as props
from pagefmt.columns.fragments import Cell, Codes, Even, Pool, Runs, either, listed
from pagefmt.columns.gather import Ints, PageBytes
from pagefmt.columns.json_text import Quote, java_text, utf16_texts
from pagefmt.columns.strings import slices
from pagefmt.properties import double_of, float_of
from pagefmt.values import Typed
from pagefmt.values_json import Json, typed_json, utf16_order

_QUOTED: Final = (props.TEXT, props.BYTES)


def property_list(
    page: PageBytes, entries: props.Entries, names: pa.DictionaryArray, pool: Pool, quote: Quote
) -> Even | Runs:
    """The inside of each message's list. ``names`` as ``raw_keys`` gives them."""
    known = [java_text(raw) for raw in names.dictionary.to_pylist()]
    which: Ints = np.asarray(names.indices).astype(np.int64)
    order = by_name(entries.offsets, which, known)
    kinds = len(props.NAMES)
    combined = which * kinds + entries.type
    prefixes = np.zeros(len(known) * kinds, np.int32)
    for each in np.flatnonzero(np.bincount(combined, minlength=1)).tolist():
        name, code = known[each // kinds], each % kinds
        start = f'{{"name":{quote(name)},"type":"{props.NAMES[code]}","value":'
        prefixes[each] = pool.constant(start + '"' * (code in _QUOTED))
    prefix = prefixes[combined]
    content = _contents(page, entries, pool, quote)
    quoted = (entries.type == props.TEXT) | (entries.type == props.BYTES)
    suffix = either(quoted, pool.constant('"}'), pool.constant("}"))
    return listed(pool, entries.offsets, ordered([prefix, content, suffix], order))


def ordered(cells: list[Cell], order: Ints | None) -> list[Cell]:
    """The cells in another order, None: as they are."""
    return cells if order is None else [cell if isinstance(cell, int) else cell[order] for cell in cells]


def by_name(offsets: Ints, which: Ints, known: list[str]) -> Ints | None:
    """The entries in the order of their names within each message; None where they are in it. ``which``: index into
    the ``known`` names."""
    if len(which) < 2:
        return None
    rank = np.empty(len(known), np.int64)
    rank[sorted(range(len(known)), key=lambda n: utf16_order(known[n]))] = np.arange(len(known))
    ranks, counts = rank[which], np.diff(offsets)
    width = int(counts[0])
    if width and len(which) == width * len(counts) and bool((counts == width).all()):
        table = ranks.reshape(-1, width)
        if bool((table == table[0]).all()):
            first = np.argsort(table[0], kind="stable")
            return (first + width * np.arange(len(counts))[:, None]).reshape(-1)
    message = np.repeat(np.arange(len(counts)), counts)
    return np.argsort(message * len(known) + ranks, kind="stable")


def _contents(page: PageBytes, entries: props.Entries, pool: Pool, quote: Quote) -> Codes:
    code, at, size = entries.type, entries.value_at, entries.value_size
    out = np.empty(len(code), np.int32)
    for kind in np.flatnonzero(np.bincount(code, minlength=1)).tolist():
        here = np.flatnonzero(code == kind)
        out[here] = _TEXTS[kind](page, at[here], size[here], pool, quote)
    return out


_Texts = Callable[[PageBytes, Ints, Ints, Pool, Quote], Cell]


def _whole(read: str) -> _Texts:
    return lambda page, at, size, pool, quote: pool.numbers(getattr(page, read)(at))


def _null(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Cell:
    return pool.constant("null")


def _booleans(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Cell:
    return pool.flags(page.byte(at) != 0)


def _chars(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Cell:
    return pool.numbers(page.i16(at) & 0xFFFF)


def _strings(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Codes:
    return pool.add(utf16_texts(page, at, size, quote))


def _bytes(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Codes:
    return pool.texts(value.hex() for value in slices(page, at, size).to_pylist())


def _floats(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Codes:
    return reals(pool, page.i32(at) & 0xFFFFFFFF, float_of)


def _doubles(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Codes:
    return reals(pool, page.i64(at).view(np.uint64), double_of)


def reals(pool: Pool, bits: npt.NDArray[np.integer[Any]], value: Callable[[int], Typed]) -> Codes:
    """Floating point by its bits, and these: each distinct one is written once."""
    distinct, which = np.unique(bits, return_inverse=True)
    return pool.texts(_real(typed_json(value(each))) for each in distinct.tolist())[which]


def _real(fields: Json) -> str:
    return f'{json.dumps(fields["value"])},"bits":"{fields["bits"]}"'


_TEXTS: Final[dict[int, _Texts]] = {
    props.NULL: _null, props.BOOLEAN: _booleans, props.BYTE: _whole("i8"), props.SHORT: _whole("i16"),
    props.INT: _whole("i32"), props.LONG: _whole("i64"), props.CHAR: _chars, props.FLOAT: _floats,
    props.DOUBLE: _doubles, props.TEXT: _strings, props.BYTES: _bytes,
}  # fmt: skip
