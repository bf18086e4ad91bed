"""The property list of a JSON line: typed properties of core messages, sorted by name."""

from __future__ import annotations

import json
from binascii import hexlify
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.arrays.fragments import Cell, Codes, Even, Pool, Runs, either, listed
from pagefmt.columns.arrays.json_text import Quote, java_text, utf16_texts
from pagefmt.columns.arrays.strings import slices, table_slices
from pagefmt.columns.core import properties as props
from pagefmt.columns.core.alike import Column, alike
from pagefmt.describe.values_json import Json, typed_json, utf16_order
from pagefmt.messages.bodies import COMPRESSED
from pagefmt.messages.properties import double_of, float_of
from pagefmt.messages.values import TypedValue
from pagefmt.pages.gather import Bytes, Ints, Mask, PageBytes

_QUOTED: Final = (props.TEXT, props.BYTES)
_NUMBERS: Final = (props.BYTE, props.SHORT, props.INT, props.LONG, props.CHAR)
_LEAST_PLAIN, _PLAIN_BELOW = np.array([1e-4, 1e9]).view(np.uint64)
"""Bits of doubles: between these neither Arrow nor Python writes one with an exponent."""
_UNSIGNED: Final = np.uint64((1 << 63) - 1)


@dataclass(frozen=True, slots=True)
class PropertyLines:
    """``inside``: of each message's list. ``compressed``: messages with a property that may say so of the body."""

    inside: Even | Runs
    compressed: Mask


def property_lines(
    page: PageBytes, at: Ints, end: Ints, present: Mask, regular: Mask, pool: Pool, quote: Quote
) -> PropertyLines | None:
    """The properties blocks from ``at`` to ``end`` of the messages ``present``; None where some are not regular."""
    if present.all() and (table := alike(page, at, end)) is not None:
        known = [java_text(column.name) for column in table]
        compressed = np.full(len(at), any(name in COMPRESSED for name in known))
        return PropertyLines(_table_list(page, table, known, pool, quote), compressed)
    entries, fine = props.read_entries(page, at, end, present)
    regular &= fine | ~present
    if not regular.all():
        return None
    names = props.raw_keys(page, entries)
    regular &= ~props.repeated_keys(entries.offsets, names)
    if not regular.all():
        return None
    return PropertyLines(_flat_list(page, entries, names, pool, quote), _may_be_compressed(names, entries.offsets))


def _may_be_compressed(names: pa.DictionaryArray, offsets: Ints) -> Mask:
    """``names``: of the entries, by ``raw_keys``."""
    out = np.zeros(len(offsets) - 1, bool)
    for n, raw in enumerate(names.dictionary.to_pylist()):
        if java_text(raw) in COMPRESSED:
            entries = np.flatnonzero(np.asarray(names.indices) == n)
            out[np.searchsorted(offsets, entries, "right") - 1] = True
    return out


def _table_list(page: PageBytes, columns: list[Column], known: list[str], pool: Pool, quote: Quote) -> Even:
    """Of messages that all have the same properties."""
    texts = [column for column in columns if column.type == props.TEXT]
    codes: Iterator[Codes] = iter(())
    if texts:
        rows = len(texts[0].at)
        raw = table_slices(page, [(column.at, column.size) for column in texts], rows)
        codes = iter(pool.add(utf16_texts(raw, quote)).reshape(rows, len(texts)).T)
    contents = [next(codes) if each.type == props.TEXT else _column(page, each, pool, quote) for each in columns]
    named = [
        NamedCells(name, each.type, content, pool.constant(_close(each.type)))
        for name, each, content in zip(known, columns, contents, strict=True)
    ]
    return Even(tuple(named_cells(named, _type_head, pool, quote)))


def _column(page: PageBytes, column: Column, pool: Pool, quote: Quote) -> Cell:
    if column.type in _NUMBERS and column.values is not None:
        return pool.numbers(column.values.astype(np.int64))
    return _TEXTS[column.type](page, column.at, np.broadcast_to(column.size, column.at.shape), pool, quote)


def _type_head(code: int) -> str:
    return f'"type":"{props.NAMES[code]}","value":{chr(34) * (code in _QUOTED)}'


def _close(code: int) -> str:
    return '"}' if code in _QUOTED else "}"


def _flat_list(
    page: PageBytes, entries: props.Entries, names: pa.DictionaryArray, pool: Pool, quote: Quote
) -> Even | Runs:
    """The inside of each message's list. ``names`` as ``raw_keys`` gives them."""
    known = [java_text(raw) for raw in names.dictionary.to_pylist()]
    which: Ints = np.asarray(names.indices).astype(np.int64)
    order = by_name(entries.offsets, which, known)
    prefix = prefixes(which, known, entries.type, _type_head, pool, quote)
    content = _contents(page, entries, pool, quote)
    quoted = (entries.type == props.TEXT) | (entries.type == props.BYTES)
    suffix = either(quoted, pool.constant('"}'), pool.constant("}"))
    return listed(pool, entries.offsets, ordered([prefix, content, suffix], order))


@dataclass(frozen=True, slots=True)
class NamedCells:
    """A named value of all messages. ``code``: its type, by which ``content`` and ``close`` are written."""

    name: str
    code: int | Bytes
    content: Cell
    close: Cell


def named_cells(named: list[NamedCells], type_head: Callable[[int], str], pool: Pool, quote: Quote) -> list[Cell]:
    """The objects of a property list that has the same names in all messages, sorted by name, commas between them.

    ``type_head``: what stands between the name and the content of a value with a type code.
    """
    out: list[Cell] = []
    for each in sorted(named, key=lambda each: utf16_order(each.name)):
        lead = prefixes(0, [each.name], each.code, type_head, pool, quote)
        out += [*([pool.constant(",")] if out else []), lead, each.content, each.close]
    return out


def prefixes(
    which: Ints | int, known: list[str] | None, code: int | Bytes, type_head: Callable[[int], str], pool: Pool,
    quote: Quote = str,
) -> Cell:  # fmt: skip
    """What stands in front of each content: ``{"name":N,`` (without ``known`` nothing), then the head of its type.

    ``which``: the name's index in ``known``, ``code``: the type; each combination is made once.
    """
    leads = [""] if known is None else [f'{{"name":{quote(name)},' for name in known]
    if isinstance(code, int) and isinstance(which, int):
        return pool.constant(leads[which] + type_head(code))
    combined = np.asarray(which << 8 | np.asarray(code, np.int64))
    texts = np.zeros(len(leads) << 8, np.int32)
    for each in np.flatnonzero(np.bincount(combined, minlength=1)).tolist():
        texts[each] = pool.constant(leads[each >> 8] + type_head(each & 0xFF))
    cells: Codes = texts[combined]
    return cells


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
    return pool.add(utf16_texts(slices(page, at, size), quote))


def _bytes(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Codes:
    return pool.texts(value.hex() for value in slices(page, at, size).to_pylist())


def _floats(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Codes:
    return reals(pool, page.i32(at) & 0xFFFFFFFF, float_of)


def _doubles(page: PageBytes, at: Ints, size: Ints, pool: Pool, quote: Quote) -> Codes:
    return doubles(pool, page.i64(at).view(np.uint64))


def doubles(pool: Pool, bits: npt.NDArray[np.uint64]) -> Codes:
    """As ``reals``, of doubles. Those that are written without an exponent are written at once."""
    size = bits & _UNSIGNED  # bits of positive numbers rise as these do
    plain = ((size >= _LEAST_PLAIN) & (size < _PLAIN_BELOW)) | (size == 0)
    numbers = np.where(plain, bits, 0).view(np.float64)
    digits = pa.array(numbers).cast(pa.string())
    whole = pa.array(np.trunc(numbers) == numbers)  # Arrow writes 1 for 1.0
    between = pc.if_else(whole, '.0,"bits":"', ',"bits":"')
    ends = pa.py_buffer(np.arange(0, 16 * len(bits) + 1, 16, dtype=np.int32))
    raw = pa.py_buffer(hexlify(bits.astype(">u8").tobytes()))
    bits_text = pa.Array.from_buffers(pa.string(), len(bits), [None, ends, raw])
    out = pool.add(pc.binary_join_element_wise(digits, between, bits_text, '"', ""))
    if not plain.all():
        out[~plain] = reals(pool, bits[~plain], double_of)
    return out


def reals(pool: Pool, bits: npt.NDArray[np.integer[Any]], value: Callable[[int], TypedValue]) -> Codes:
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
