"""The properties of a JSON line: typed properties of core messages, sorted by name.

The properties of a message are an object of plain values and one of the types that JSON does not show; the body of a
map message is a list of named, typed values. ``EntryForm`` is the difference between the two.
"""

from __future__ import annotations

import json
from binascii import hexlify
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Bytes, Ints, Mask
from pagefmt.codec.messages.bodies import COMPRESSED
from pagefmt.codec.messages.properties import double_of, float_of
from pagefmt.codec.messages.values import TypedValue
from pagefmt.describe.values_json import SHOWN_TYPES, Quote, plain_value, utf16_order
from pagefmt.vectors.arrays.fragments import Cell, Codes, Even, Pool, Runs, listed
from pagefmt.vectors.arrays.json_text import java_text, utf16_texts
from pagefmt.vectors.arrays.strings import slices, table_slices
from pagefmt.vectors.core import properties as props
from pagefmt.vectors.core.uniform_properties import Column, alike
from pagefmt.vectors.pages.gather import PageBytes

_QUOTED: Final = (props.TEXT, props.BYTES)
_NUMBERS: Final = (props.BYTE, props.SHORT, props.INT, props.LONG, props.CHAR)
# Bits of doubles: between these, neither Arrow nor Python uses an exponent.
_LEAST_PLAIN, _PLAIN_BELOW = np.array([1e-4, 1e9]).view(np.uint64)
_UNSIGNED: Final = np.uint64((1 << 63) - 1)


@dataclass(frozen=True, slots=True)
class EntryForm:
    """How a named value is written: its quoted name in ``lead``, then the ``head`` of its type code, content, close.

    ``typed``: the type stands with the value, and the bits of floating point after it.
    """

    lead: str
    head: Callable[[int], str]
    typed: bool

    def of_types(self, names: Sequence[str]) -> EntryForm:
        """Return the form of entries of ``property_types``; ``names`` are the types by code."""
        return EntryForm(self.lead, lambda code: f'"{names[code]}"', typed=False)


def _opening_quote(code: int) -> str:
    return '"' if code in _QUOTED else ""


NAMED: Final = '{{"name":{},'
BY_NAME: Final = "{}:"
# Items of a list: name, type and value.
ENTRIES: Final = EntryForm(
    NAMED, lambda code: f'"type":"{props.NAMES[code]}","value":{_opening_quote(code)}', typed=True
)
# Fields of an object: plain values by name.
FIELDS: Final = EntryForm(BY_NAME, _opening_quote, typed=False)


@dataclass(frozen=True, slots=True)
class PropertyLines:
    """Properties as parts of JSON lines.

    ``inside``: of each message's list or object; ``types``: of its ``property_types``.

    ``compressed``: messages with a property that may say so of the body.
    """

    inside: Even | Runs
    types: Even | Runs
    compressed: Mask


def property_lines(
    page: PageBytes,
    at: Ints,
    end: Ints,
    present: Mask,
    regular: Mask,
    pool: Pool,
    quote: Quote,
    form: EntryForm = FIELDS,
) -> PropertyLines | None:
    """Return the properties blocks (``at`` to ``end``) of the messages ``present``; None if some are irregular."""
    if present.all() and (table := alike(page, at, end)) is not None:
        texts_of_names = [java_text(column.name) for column in table]
        compressed = np.full(len(at), any(name in COMPRESSED for name in texts_of_names))
        return PropertyLines(*_table_entries(page, table, texts_of_names, pool, quote, form), compressed)
    entries, fine = props.read_entries(page, at, end, present)
    regular &= fine | ~present
    if not regular.all():
        return None
    names = props.raw_keys(page, entries)
    regular &= ~props.repeated_keys(entries.offsets, names)
    if not regular.all():
        return None
    inside, types = _flat_entries(page, entries, names, pool, quote, form)
    return PropertyLines(inside, types, _may_be_compressed(names, entries.offsets))


def _may_be_compressed(names: pa.DictionaryArray, offsets: Ints) -> Mask:
    """Return which messages may have a compressed body. ``names``: of the entries, from ``raw_keys``."""
    out = np.zeros(len(offsets) - 1, bool)
    for n, raw in enumerate(names.dictionary.to_pylist()):
        if java_text(raw) in COMPRESSED:
            entries = np.flatnonzero(np.asarray(names.indices) == n)
            out[np.searchsorted(offsets, entries, "right") - 1] = True
    return out


def _table_entries(
    page: PageBytes, columns: list[Column], texts_of_names: list[str], pool: Pool, quote: Quote, form: EntryForm
) -> tuple[Even, Even]:
    """Return the entries and their types, of messages that all have the same properties."""
    texts = [column for column in columns if column.type == props.TEXT]
    codes: Iterator[Codes] = iter(())
    if texts:
        rows = len(texts[0].at)
        raw = table_slices(page, [(column.at, column.size) for column in texts], rows)
        codes = iter(pool.add(utf16_texts(raw, quote)).reshape(rows, len(texts)).T)
    contents = [next(codes) if prop.type == props.TEXT else _column(page, prop, pool, quote) for prop in columns]
    named = [
        NamedCells(name, prop.type, content, _close(page, prop.type, prop.at, pool, form))
        for name, prop, content in zip(texts_of_names, columns, contents, strict=True)
    ]
    hidden = sorted(
        ((name, prop.type) for name, prop in zip(texts_of_names, columns, strict=True) if HIDDEN[prop.type]),
        key=lambda entry: utf16_order(entry[0]),
    )
    types = ",".join(f'{quote(name)}:"{props.NAMES[code]}"' for name, code in hidden)
    return Even(tuple(named_cells(named, form, pool, quote))), Even((pool.constant(types),))


def _column(page: PageBytes, column: Column, pool: Pool, quote: Quote) -> Cell:
    if column.type in _NUMBERS and column.values is not None:
        return pool.numbers(column.values.astype(np.int64))
    return _TEXTS[column.type](page, column.at, np.broadcast_to(column.size, column.at.shape), pool, quote)


def _close(page: PageBytes, code: int, at: Ints, pool: Pool, form: EntryForm) -> Cell:
    """Return the text that ends the values of one type at ``at``."""
    if not form.typed:
        return pool.constant(_opening_quote(code))
    if code == props.FLOAT:
        return bits_closes(pool, page.i32(at) & 0xFFFFFFFF, 8)
    if code == props.DOUBLE:
        return bits_closes(pool, page.i64(at), 16)
    return pool.constant(_opening_quote(code) + "}")


def _flat_entries(
    page: PageBytes, entries: props.Entries, names: pa.DictionaryArray, pool: Pool, quote: Quote, form: EntryForm
) -> tuple[Even | Runs, Even | Runs]:
    """Return the entries of each message, and their types. ``names`` are those of ``raw_keys``."""
    texts_of_names = [java_text(raw) for raw in names.dictionary.to_pylist()]
    which: Ints = np.asarray(names.indices).astype(np.int64)
    order = by_name(entries.offsets, which, texts_of_names)
    prefix = prefixes(which, texts_of_names, entries.type, form, pool, quote)
    content, close = _contents(page, entries, pool, quote, form)
    inside = listed(pool, entries.offsets, ordered([prefix, content, close], order))
    code = entries.type
    if order is not None:
        which, code = which[order], code[order]
    return inside, type_entries(entries.offsets, which, texts_of_names, code, props.NAMES, pool, quote)


# By type code of core properties: JSON does not show the type.
HIDDEN: Final = np.array([bool(name) and name not in SHOWN_TYPES for name in props.NAMES])


def type_entries(
    offsets: Ints, which: Ints, key_names: list[str], code: Bytes, names: Sequence[str], pool: Pool, quote: Quote
) -> Even | Runs:
    """Return the types of each message's entries that JSON does not show by itself.

    ``which``: index into ``key_names`` for each entry; ``names``: of the types, by ``code``.
    """
    hidden = np.array([bool(name) and name not in SHOWN_TYPES for name in names])[code]
    if not hidden.any():
        return Even((pool.constant(""),))
    inside = np.concatenate(([0], np.cumsum(hidden)))[offsets]
    return listed(pool, inside, [prefixes(which[hidden], key_names, code[hidden], FIELDS.of_types(names), pool, quote)])


@dataclass(frozen=True, slots=True)
class NamedCells:
    """A named value of all messages. ``code``: its type, by which ``content`` and ``close`` are written."""

    name: str
    code: int | Bytes
    content: Cell
    close: Cell


def named_cells(named: list[NamedCells], form: EntryForm, pool: Pool, quote: Quote) -> list[Cell]:
    """Return the entries of messages that all have the same names, sorted by name, with commas between them."""
    out: list[Cell] = []
    for entry in sorted(named, key=lambda entry: utf16_order(entry.name)):
        lead = prefixes(0, [entry.name], entry.code, form, pool, quote)
        out += [*([pool.constant(",")] if out else []), lead, entry.content, entry.close]
    return out


def prefixes(
    which: Ints | int, key_names: list[str] | None, code: int | Bytes, form: EntryForm, pool: Pool, quote: Quote = str
) -> Cell:
    """Return the text before each content: the name, if there are ``key_names``, and the head of its type.

    ``which``: index into ``key_names``; ``code``: the type. Each combination is rendered once.
    """
    leads = [""] if key_names is None else [form.lead.format(quote(name)) for name in key_names]
    if isinstance(code, int) and isinstance(which, int):
        return pool.constant(leads[which] + form.head(code))
    # Name index and type code in one integer: a table indexed by it holds the text of each combination.
    combined = np.asarray(which << 8 | np.asarray(code, np.int64))
    texts = np.zeros(len(leads) << 8, np.int32)
    for pair in np.flatnonzero(np.bincount(combined, minlength=1)).tolist():
        texts[pair] = pool.constant(leads[pair >> 8] + form.head(pair & 0xFF))
    cells: Codes = texts[combined]
    return cells


def ordered(cells: list[Cell], order: Ints | None) -> list[Cell]:
    """Return the cells in another order, or as they are if ``order`` is None."""
    return cells if order is None else [cell if isinstance(cell, int) else cell[order] for cell in cells]


def by_name(offsets: Ints, which: Ints, key_names: list[str]) -> Ints | None:
    """Return the order of the entries by name within each message, or None if it needs no sorting.

    ``which``: index into ``key_names`` for each entry.
    """
    if len(which) < 2:
        return None
    rank = np.empty(len(key_names), np.int64)
    rank[sorted(range(len(key_names)), key=lambda n: utf16_order(key_names[n]))] = np.arange(len(key_names))
    ranks, counts = rank[which], np.diff(offsets)
    width = int(counts[0])
    if width and len(which) == width * len(counts) and bool((counts == width).all()):
        table = ranks.reshape(-1, width)
        if bool((table == table[0]).all()):
            first = np.argsort(table[0], kind="stable")
            return (first + width * np.arange(len(counts))[:, None]).reshape(-1)
    message = np.repeat(np.arange(len(counts)), counts)
    return np.argsort(message * len(key_names) + ranks, kind="stable")


def _contents(
    page: PageBytes, entries: props.Entries, pool: Pool, quote: Quote, form: EntryForm
) -> tuple[Codes, Codes]:
    """Return (content, close) of each entry."""
    code, at, size = entries.type, entries.value_at, entries.value_size
    content, close = np.empty(len(code), np.int32), np.empty(len(code), np.int32)
    for kind in np.flatnonzero(np.bincount(code, minlength=1)).tolist():
        rows = np.flatnonzero(code == kind)
        content[rows] = _TEXTS[kind](page, at[rows], size[rows], pool, quote)
        close[rows] = _close(page, kind, at[rows], pool, form)
    return content, close


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
    """Render doubles as ``reals`` does. Those that need no exponent are rendered by Arrow at once."""
    size = bits & _UNSIGNED  # bits of positive numbers rise as these do
    plain = ((size >= _LEAST_PLAIN) & (size < _PLAIN_BELOW)) | (size == 0)
    numbers = np.where(plain, bits, 0).view(np.float64)
    whole = pa.array(np.trunc(numbers) == numbers)  # Arrow writes 1 for 1.0
    digits = pa.array(numbers).cast(pa.string())
    out = pool.add(pc.binary_join_element_wise(digits, pc.if_else(whole, ".0", ""), ""))
    if not plain.all():
        out[~plain] = reals(pool, bits[~plain], double_of)
    return out


def reals(pool: Pool, bits: npt.NDArray[np.integer[Any]], value: Callable[[int], TypedValue]) -> Codes:
    """Render floating point numbers given by their bits, each distinct one once."""
    distinct, which = np.unique(bits, return_inverse=True)
    return pool.texts(json.dumps(plain_value(value(pattern))) for pattern in distinct.tolist())[which]


def bits_closes(pool: Pool, bits: npt.NDArray[np.integer[Any]], digits: int) -> Codes:
    """Return the end of each number's typed value: its bits as hexadecimal digits, and the closing brace."""
    ends = pa.py_buffer(np.arange(0, digits * len(bits) + 1, digits, dtype=np.int32))
    raw = pa.py_buffer(hexlify(bits.astype(f">u{digits // 2}").tobytes()))
    texts = pa.Array.from_buffers(pa.string(), len(bits), [None, ends, raw])
    return pool.add(pc.binary_join_element_wise(',"bits":"', texts, '"}', ""))


_TEXTS: Final[dict[int, _Texts]] = {
    props.NULL: _null,
    props.BOOLEAN: _booleans,
    props.BYTE: _whole("i8"),
    props.SHORT: _whole("i16"),
    props.INT: _whole("i32"),
    props.LONG: _whole("i64"),
    props.CHAR: _chars,
    props.FLOAT: _floats,
    props.DOUBLE: _doubles,
    props.TEXT: _strings,
    props.BYTES: _bytes,
}
