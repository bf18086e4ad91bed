"""The sections of AMQP messages as they stand in JSON Lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.bytes.wire import ByteReader, Undecodable
from pagefmt.columns.amqp import values, walk
from pagefmt.columns.amqp.line_values import ENTRIES, FIELDS, ValueCells, decoded, undecodable, value_cells
from pagefmt.columns.amqp.maps import known_keys
from pagefmt.columns.amqp.structure import RepeatedSection, Structure, ValueColumn
from pagefmt.columns.amqp.values import GIVEN_CONSTRUCTOR_NAMES
from pagefmt.columns.amqp.walk import ABSENT
from pagefmt.columns.arrays.fragments import (
    Cell,
    Codes,
    Even,
    Part,
    Pool,
    Runs,
    either,
    laid_out,
    listed,
    where_present,
)
from pagefmt.columns.arrays.json_text import Quote
from pagefmt.columns.core.line_parts import digests
from pagefmt.columns.core.properties import repeated_keys
from pagefmt.columns.core.property_lines import (
    EntryForm,
    NamedCells,
    by_name,
    named_cells,
    ordered,
    prefixes,
    type_entries,
)
from pagefmt.describe.amqp_json import header_json
from pagefmt.describe.values_json import annotations_json, plain_value, utf16_order
from pagefmt.messages.amqp_sections import HEADER, PROPERTY_FIELDS, AmqpSections, decode_sections
from pagefmt.pages.gather import Ints, Mask, PageBytes


@dataclass(frozen=True, slots=True)
class MapParts:
    """``section``: a list of named values, or null.

    Of application properties alone, as the broker hands them out: ``given``, the inside of the object of values, and
    ``types``, that of their types.
    """

    section: Part
    given: Part
    types: Part


def map_parts(found: Structure, kind: int, pool: Pool, quote: Quote) -> MapParts:
    """A map section of all messages, sorted by name; what does not fit clears ``found.regular``."""
    if found.section(kind).code == ABSENT:
        return _only_section(pool.constant("null"), pool)
    entries = found.entries(kind)
    keys = None if entries is None else known_keys(entries[0::2])
    if entries is None or keys is None:
        return _joined_lists(found, kind, pool, quote)
    columns = [value_cells(found.page, value, 2, pool, quote) for value in entries[1::2]]
    for each in columns:
        _irregular(found.regular, kind, each)
    named = [NamedCells(name, each.code, each.content, each.close) for name, each in zip(keys, columns, strict=True)]
    section = Even((pool.constant("["), *named_cells(named, ENTRIES, pool, quote), pool.constant("]")))
    if kind != walk.APPLICATION or not named:
        return _only_section(section, pool)
    plain = [replace(each, close=of.closing_quote(pool)) for each, of in zip(named, columns, strict=True)]
    types = _types(sorted(named, key=lambda each: utf16_order(each.name)), len(found.regular), pool, quote)
    return MapParts(section, Even(tuple(named_cells(plain, FIELDS, pool, quote))), types)


def _only_section(section: Part, pool: Pool) -> MapParts:
    nothing = pool.constant("")
    return MapParts(section, nothing, nothing)


def _types(named: list[NamedCells], rows: int, pool: Pool, quote: Quote) -> Even | Runs:
    """The types of application properties that all messages have under the same names."""
    which = np.tile(np.arange(len(named)), rows)
    code = np.empty((rows, len(named)), np.uint8)
    for n, each in enumerate(named):
        code[:, n] = each.code
    known = [each.name for each in named]
    offsets = np.arange(rows + 1) * len(named)
    return type_entries(offsets, which, known, code.reshape(-1), GIVEN_CONSTRUCTOR_NAMES, pool, quote)


def _irregular(regular: Mask, kind: int, cells: ValueCells, owners: Ints | None = None) -> None:
    """Where values do not decode, or are handed out as others than they are."""
    wrong = cells.bad | cells.huge if kind == walk.APPLICATION else cells.bad
    if np.any(wrong):
        regular[wrong if owners is None else owners[wrong]] = False


def _joined_lists(found: Structure, kind: int, pool: Pool, quote: Quote) -> MapParts:
    """The list of each message joined by itself, to stand in its line as one piece."""
    present = found.section(kind).at != ABSENT
    if not present.any():
        return _only_section(pool.constant("null"), pool)
    if kind != walk.APPLICATION and (repeated := found.repeated(kind)) is not None:
        texts = [_map_text(kind, raw, quote) for raw in repeated.different]
        return _only_section(_repeated_texts(found, repeated, texts, pool), pool)
    opened = either(present, pool.constant("["), pool.constant("null"))
    closed = either(present, pool.constant("]"), pool.constant(""))
    section, given, types = (pool.constant("") if text is None else pool.add(text)
                             for text in _map_texts(found, kind, quote))  # fmt: skip
    return MapParts(Even((opened, section, closed)), given, types)


def _repeated_texts(found: Structure, repeated: RepeatedSection, texts: list[str | None], pool: Pool) -> Codes:
    """``texts``: of the different sections, None where one does not decode: ``found.regular`` is cleared there."""
    wrong = repeated.spread([text is None for text in texts], np.zeros(len(found.regular), bool))
    found.regular[wrong] = False
    absent = np.full(len(found.regular), pool.constant("null"), np.int32)
    return repeated.spread([pool.constant(text or "") for text in texts], absent)


@lru_cache(1024)
def _sections(kind: int, raw: bytes) -> AmqpSections | None:
    """A section by the reference decoder; None where it does not decode."""
    try:
        return decode_sections(ByteReader(b"\0\x53" + bytes([HEADER + kind]) + raw))
    except Undecodable:
        return None


@lru_cache(1024)
def _map_text(kind: int, raw: bytes, quote: Quote) -> str | None:
    found = _sections(kind, raw)
    if found is None:
        return None
    maps = (found.delivery_annotations, found.message_annotations, found.application_properties, found.footer)
    return quote(annotations_json(maps[walk.MAPS.index(kind)]))


def _map_texts(
    found: Structure, kind: int, quote: Quote
) -> tuple[pa.BinaryArray, pa.BinaryArray | None, pa.BinaryArray | None]:
    """The inside of each message's list; of application properties also that of the values and types as the broker
    hands them out."""
    page, regular, pairs = found.page, found.regular, found.pairs(kind)
    names = values.raw_keys(page, pairs, regular)
    regular &= ~repeated_keys(pairs.offsets, names)
    which: Ints = np.asarray(names.indices).astype(np.int64)
    known, wrong = [], []
    for n, raw in enumerate(names.dictionary.to_pylist()):
        try:
            known.append(raw.decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            known.append("")
            wrong.append(n)
    if wrong:
        regular[pairs.owners()[np.isin(which, wrong)]] = False
    pool = Pool()
    cells = value_cells(page, ValueColumn(pairs.value_at), 2, pool, quote)
    _irregular(regular, kind, cells, pairs.owners())
    order = by_name(pairs.offsets, which, known)

    def texts(form: EntryForm, close: Cell) -> pa.BinaryArray:
        prefix = prefixes(which, known, cells.code, form, pool, quote)
        parts = ordered([prefix, cells.content, close], order)
        return pool.joined(len(regular), [listed(pool, pairs.offsets, parts)])

    section = texts(ENTRIES, cells.close)
    if kind != walk.APPLICATION:
        return section, None, None
    given = texts(FIELDS, cells.closing_quote(pool))
    code = np.broadcast_to(np.asarray(cells.code, np.uint8), which.shape)
    if order is not None:
        which, code = which[order], code[order]
    types = type_entries(pairs.offsets, which, known, code, GIVEN_CONSTRUCTOR_NAMES, pool, quote)
    return section, given, pool.joined(len(regular), [types])


@dataclass(frozen=True, slots=True)
class OptionalCells:
    """A value that some messages have: the ``rows``, None: all. ``cells`` are those of these messages."""

    at: Ints
    rows: Ints | None
    cells: ValueCells

    def spread(self, pool: Pool) -> list[Cell]:
        """Its cells, empty where it is absent."""
        head = prefixes(0, None, self.cells.code, ENTRIES, pool)
        each = [head, self.cells.content, self.cells.close]
        return each if self.rows is None else [self.at_rows(cell, pool.constant("")) for cell in each]

    def at_rows(self, cell: Cell, absent: int) -> Cell:
        """A cell of these messages, ``absent`` in the others."""
        if self.rows is None:
            return cell
        column = np.full(len(self.at), absent, np.int32)
        column[self.rows] = cell
        return column


def field_of(found: Structure, value: ValueColumn, depth: int, pool: Pool, quote: Quote) -> OptionalCells | None:
    """None: no message has it. A value that does not decode clears ``found.regular``."""
    if value.code == ABSENT:
        return None
    rows = None if value.code >= 0 else np.flatnonzero(value.at != ABSENT)
    if rows is not None and not len(rows):
        return None
    if rows is not None and len(rows) == len(value.at):
        rows = None
    here = value if rows is None else ValueColumn(value.at[rows])
    cells = value_cells(found.page, here, depth, pool, quote)
    if np.any(cells.bad):
        found.regular[cells.bad if rows is None else rows[cells.bad]] = False
    return OptionalCells(value.at, rows, cells)


def fields_object(found: Structure, fields: list[OptionalCells | None], pool: Pool) -> Part:
    """The fields of the properties section by name."""
    inner: list[Part] = []
    for name, field in zip(PROPERTY_FIELDS, fields, strict=True):
        start = f'{"," if inner else "{"}"{name}":'
        absent = pool.constant(start + "null")
        if field is None:
            inner.append(absent)
        else:
            inner += [field.at_rows(pool.constant(start + "{"), absent), *field.spread(pool)]
    return _or_null(found.section(walk.PROPS), [*inner, pool.constant("}")], pool)


def _or_null(section: ValueColumn, inner: list[Part], pool: Pool) -> Part:
    present = section.at != ABSENT
    return where_present(pool, present, laid_out(len(present), inner), pool.constant("null"))


_HEADER: Final = ("durable", "priority", "ttl", "first_acquirer", "delivery_count")
_FLAGS: Final = ("durable", "first_acquirer")
_HEADER_KINDS: Final = (values.BOOLEANS, values.UBYTES, values.UINTS, values.BOOLEANS, values.UINTS)


@dataclass(frozen=True, slots=True)
class HeaderParts:
    """``section``: an object, or null. The others: of all messages, 0 where they are missing."""

    section: Part
    durable: Ints
    priority: Ints
    has_priority: Mask


def header_parts(found: Structure, pool: Pool, quote: Quote) -> HeaderParts:
    """The header section; what does not fit clears ``found.regular``."""
    repeated = None if found.only else found.repeated(walk.HEADER)
    if repeated is None:
        return _header(found, pool)
    n = len(found.regular)
    found_alone = [_sections(walk.HEADER, raw) for raw in repeated.different]
    headers = [None if each is None else each.header for each in found_alone]
    texts = [None if header is None else quote(header_json(header)) for header in headers]
    priorities = [None if header is None else header.priority for header in headers]
    return HeaderParts(
        _repeated_texts(found, repeated, texts, pool),
        repeated.spread((header is not None and bool(header.durable) for header in headers), np.zeros(n, np.int64)),
        repeated.spread((each or 0 for each in priorities), np.zeros(n, np.int64)),
        repeated.spread((each is not None for each in priorities), np.zeros(n, bool)),
    )


def _header(found: Structure, pool: Pool) -> HeaderParts:
    fields = [
        values.integers(found.page, found.field(walk.HEADER, n), found.regular, kinds=kinds)
        for n, kinds in enumerate(_HEADER_KINDS)
    ]
    parts: list[Part] = []
    for name, (number, valid) in zip(_HEADER, fields, strict=True):
        parts.append(pool.constant(f'{"," if parts else "{"}"{name}":'))
        if not valid.any():
            parts.append(pool.constant("null"))
            continue
        texts = pool.flags(number != 0) if name in _FLAGS else pool.numbers(number)
        parts.append(either(valid, texts, pool.constant("null")))
    section = _or_null(found.section(walk.HEADER), [*parts, pool.constant("}")], pool)
    (durable, _), (priority, has_priority), *_ = fields
    return HeaderParts(section, durable, priority, has_priority)


def body_list(found: Structure, pool: Pool, quote: Quote, *, shown: bool) -> Even:
    """The one body section of each message, or nothing; values and sequences by size and sum where not ``shown``."""
    at = found.section(walk.AMQP_VALUE)
    value = field_of(found, at, 1, pool, quote) if shown else None
    kind = pool.constant('{"kind":"value",')
    if value is not None and value.rows is None:
        return Even((kind, *value.spread(pool)))
    out = np.full((len(found.regular), 5), pool.constant(""), np.int32)
    if value is not None:
        for n, cell in enumerate((value.at_rows(kind, pool.constant("")), *value.spread(pool))):
            out[:, n] = cell
    elif not shown:
        _put_values(found.page, at.at, pool, found.regular, out)
    _put_data(found.page, found.section(walk.DATA).at, pool, found.regular, out)
    _put_sequences(found.page, found.section(walk.SEQUENCE).at, pool, found.regular, quote if shown else None, out)
    return Even(tuple(out.T))


def _ends(page: PageBytes, at: Ints) -> Ints:
    """Where the values at these positions end."""
    _, start, size = walk.widths(page, at)
    return start + size


def _put_sums(kind: str, page: PageBytes, start: Ints, end: Ints, rows: Ints, pool: Pool, out: Codes) -> None:
    out[rows, 0] = pool.constant(f'{{"kind":"{kind}","size":')
    out[rows, 1] = pool.numbers(end - start)
    out[rows, 2] = pool.constant(',"sha256":"')
    out[rows, 3] = digests(page, start, end - start, pool)
    out[rows, 4] = pool.constant('"}')


def _put_values(page: PageBytes, at: Ints, pool: Pool, regular: Mask, out: Codes) -> None:
    rows = np.flatnonzero(at != ABSENT)
    if len(rows):
        regular[rows[undecodable(page, at[rows], 1)]] = False
        _put_sums("value", page, at[rows], _ends(page, at[rows]), rows, pool, out)


def _put_data(page: PageBytes, at: Ints, pool: Pool, regular: Mask, out: Codes) -> None:
    rows = np.flatnonzero(at != ABSENT)
    if not len(rows):
        return
    code, start, size = walk.widths(page, at[rows])
    regular[rows[~values.IS_BINARY[code]]] = False
    _put_sums("data", page, start, start + size, rows, pool, out)


def _put_sequences(page: PageBytes, at: Ints, pool: Pool, regular: Mask, quote: Quote | None, out: Codes) -> None:
    rows = np.flatnonzero(at != ABSENT)
    if not len(rows):
        return
    ends = _ends(page, at[rows])
    texts = []
    for row, first, end in zip(rows.tolist(), at[rows].tolist(), ends.tolist(), strict=True):
        found = decoded(page, first, end, 1)
        regular[row] &= found is not None
        if found is None or quote is None:
            texts.append("")
        else:
            texts.append(f'{{"kind":"sequence","value":{quote(plain_value(found))}}}')
    if quote is None:
        _put_sums("sequence", page, at[rows], ends, rows, pool, out)
    else:
        out[rows, 0] = pool.texts(texts)
