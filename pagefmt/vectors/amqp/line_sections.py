"""The sections of AMQP messages as they stand in JSON Lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.amqp_sections import HEADER, PROPERTY_FIELDS, AmqpSections, decode_sections
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.describe.amqp_json import header_json
from pagefmt.describe.values_json import Quote, annotations_json, plain_value, utf16_order
from pagefmt.vectors.amqp import values, walk
from pagefmt.vectors.amqp.line_values import ENTRIES, FIELDS, ValueCells, decoded, undecodable, value_cells
from pagefmt.vectors.amqp.maps import known_keys
from pagefmt.vectors.amqp.structure import RepeatedSection, Structure, ValueColumn
from pagefmt.vectors.amqp.values import GIVEN_CONSTRUCTOR_NAMES
from pagefmt.vectors.amqp.walk import ABSENT
from pagefmt.vectors.arrays.fragments import (
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
from pagefmt.vectors.core.line_parts import digests
from pagefmt.vectors.core.properties import repeated_keys
from pagefmt.vectors.core.property_lines import (
    EntryForm,
    NamedCells,
    by_name,
    named_cells,
    ordered,
    prefixes,
    type_entries,
)
from pagefmt.vectors.pages.gather import PageBytes


@dataclass(frozen=True, slots=True)
class MapParts:
    """The parts of a map section in JSON lines.

    ``section``: a list of named values, or null.

    Of application properties alone, as the broker hands them out: ``given``, the inside of the object of values, and
    ``types``, that of their types.
    """

    section: Part
    given: Part
    types: Part


def map_parts(messages: Structure, kind: int, pool: Pool, quote: Quote) -> MapParts:
    """Return a map section of all messages, sorted by name. Values that cannot be shown clear ``messages.regular``."""
    if messages.section(kind).code == ABSENT:
        return _only_section(pool.constant("null"), pool)
    entries = messages.entries(kind)
    keys = None if entries is None else known_keys(entries[0::2])
    if entries is None or keys is None:
        return _joined_lists(messages, kind, pool, quote)
    columns = [value_cells(messages.page, value, 2, pool, quote) for value in entries[1::2]]
    for cell in columns:
        _irregular(messages.regular, kind, cell)
    named = [NamedCells(name, cell.code, cell.content, cell.close) for name, cell in zip(keys, columns, strict=True)]
    section = Even((pool.constant("["), *named_cells(named, ENTRIES, pool, quote), pool.constant("]")))
    if kind != walk.APPLICATION or not named:
        return _only_section(section, pool)
    plain = [replace(cell, close=of.closing_quote(pool)) for cell, of in zip(named, columns, strict=True)]
    types = _types(sorted(named, key=lambda cell: utf16_order(cell.name)), len(messages.regular), pool, quote)
    return MapParts(section, Even(tuple(named_cells(plain, FIELDS, pool, quote))), types)


def _only_section(section: Part, pool: Pool) -> MapParts:
    nothing = pool.constant("")
    return MapParts(section, nothing, nothing)


def _types(named: list[NamedCells], rows: int, pool: Pool, quote: Quote) -> Even | Runs:
    """Return the inside of the object of types for each message, if all messages have the same property names."""
    which = np.tile(np.arange(len(named)), rows)
    code = np.empty((rows, len(named)), np.uint8)
    for n, cell in enumerate(named):
        code[:, n] = cell.code
    names = [cell.name for cell in named]
    offsets = np.arange(rows + 1) * len(named)
    return type_entries(offsets, which, names, code.reshape(-1), GIVEN_CONSTRUCTOR_NAMES, pool, quote)


def _irregular(regular: Mask, kind: int, cells: ValueCells, owners: Ints | None = None) -> None:
    """Clear ``regular`` for values that do not decode, or that the broker hands out as others than they are.

    ``owners``: the message of each value, if the values are not one for each message.
    """
    wrong = cells.bad | cells.huge if kind == walk.APPLICATION else cells.bad
    if np.any(wrong):
        regular[wrong if owners is None else owners[wrong]] = False


def _joined_lists(messages: Structure, kind: int, pool: Pool, quote: Quote) -> MapParts:
    """Return the list of each message joined into one piece of its line."""
    present = messages.section(kind).at != ABSENT
    if not present.any():
        return _only_section(pool.constant("null"), pool)
    if kind != walk.APPLICATION and (repeated := messages.repeated(kind)) is not None:
        texts = [_map_text(kind, raw, quote) for raw in repeated.different]
        return _only_section(_repeated_texts(messages, repeated, texts, pool), pool)
    opened = either(present, pool.constant("["), pool.constant("null"))
    closed = either(present, pool.constant("]"), pool.constant(""))
    section, plain, types = (
        pool.constant("") if text is None else pool.add(text) for text in _map_texts(messages, kind, quote)
    )
    return MapParts(Even((opened, section, closed)), plain, types)


def _repeated_texts(messages: Structure, repeated: RepeatedSection, texts: list[str | None], pool: Pool) -> Codes:
    """Return the text of each message's section. None in ``texts`` clears ``messages.regular`` of its messages."""
    wrong = repeated.spread([text is None for text in texts], np.zeros(len(messages.regular), bool))
    messages.regular[wrong] = False
    absent = np.full(len(messages.regular), pool.constant("null"), np.int32)
    return repeated.spread([pool.constant(text or "") for text in texts], absent)


@lru_cache(1024)
def _sections(kind: int, raw: bytes) -> AmqpSections | None:
    """Decode one section with the reference decoder. Return None if it does not decode."""
    try:
        return decode_sections(ByteReader(b"\0\x53" + bytes([HEADER + kind]) + raw))
    except Undecodable:
        return None


@lru_cache(1024)
def _map_text(kind: int, raw: bytes, quote: Quote) -> str | None:
    sections = _sections(kind, raw)
    if sections is None:
        return None
    maps = (
        sections.delivery_annotations,
        sections.message_annotations,
        sections.application_properties,
        sections.footer,
    )
    return quote(annotations_json(maps[walk.MAPS.index(kind)]))


def _map_texts(
    messages: Structure, kind: int, quote: Quote
) -> tuple[pa.BinaryArray, pa.BinaryArray | None, pa.BinaryArray | None]:
    """Return the inside of each message's list; of application properties also the plain values and their types.

    Plain values and types are those that the broker hands out.
    """
    page, regular, pairs = messages.page, messages.regular, messages.pairs(kind)
    names = values.raw_keys(page, pairs, regular)
    regular &= ~repeated_keys(pairs.offsets, names)
    which: Ints = np.asarray(names.indices).astype(np.int64)
    texts_of_names, wrong = [], []
    for n, raw in enumerate(names.dictionary.to_pylist()):
        try:
            texts_of_names.append(raw.decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            texts_of_names.append("")
            wrong.append(n)
    if wrong:
        regular[pairs.owners()[np.isin(which, wrong)]] = False
    pool = Pool()
    cells = value_cells(page, ValueColumn(pairs.value_at), 2, pool, quote)
    _irregular(regular, kind, cells, pairs.owners())
    order = by_name(pairs.offsets, which, texts_of_names)

    def texts(form: EntryForm, close: Cell) -> pa.BinaryArray:
        prefix = prefixes(which, texts_of_names, cells.code, form, pool, quote)
        parts = ordered([prefix, cells.content, close], order)
        return pool.joined(len(regular), [listed(pool, pairs.offsets, parts)])

    section = texts(ENTRIES, cells.close)
    if kind != walk.APPLICATION:
        return section, None, None
    plain = texts(FIELDS, cells.closing_quote(pool))
    code = np.broadcast_to(np.asarray(cells.code, np.uint8), which.shape)
    if order is not None:
        which, code = which[order], code[order]
    types = type_entries(pairs.offsets, which, texts_of_names, code, GIVEN_CONSTRUCTOR_NAMES, pool, quote)
    return section, plain, pool.joined(len(regular), [types])


@dataclass(frozen=True, slots=True)
class OptionalCells:
    """A value that some messages have: the ``rows``, None: all. ``cells`` are those of these messages."""

    at: Ints
    rows: Ints | None
    cells: ValueCells

    def spread(self, pool: Pool) -> list[Cell]:
        """Return the cells of the field, empty for messages without it."""
        head = prefixes(0, None, self.cells.code, ENTRIES, pool)
        cells = [head, self.cells.content, self.cells.close]
        return cells if self.rows is None else [self.at_rows(cell, pool.constant("")) for cell in cells]

    def at_rows(self, cell: Cell, absent: int) -> Cell:
        """Return ``cell`` for the messages that have the field, and ``absent`` for the others."""
        if self.rows is None:
            return cell
        column = np.full(len(self.at), absent, np.int32)
        column[self.rows] = cell
        return column


def field_of(messages: Structure, value: ValueColumn, depth: int, pool: Pool, quote: Quote) -> OptionalCells | None:
    """Return the cells of a field, or None if no message has it. Undecodable values clear ``messages.regular``."""
    if value.code == ABSENT:
        return None
    rows = None if value.code >= 0 else np.flatnonzero(value.at != ABSENT)
    if rows is not None and not len(rows):
        return None
    if rows is not None and len(rows) == len(value.at):
        rows = None
    present = value if rows is None else ValueColumn(value.at[rows])
    cells = value_cells(messages.page, present, depth, pool, quote)
    if np.any(cells.bad):
        messages.regular[cells.bad if rows is None else rows[cells.bad]] = False
    return OptionalCells(value.at, rows, cells)


def fields_object(messages: Structure, fields: list[OptionalCells | None], pool: Pool) -> Part:
    """Return the fields of the properties section by name."""
    inner: list[Part] = []
    for name, field in zip(PROPERTY_FIELDS, fields, strict=True):
        start = f'{"," if inner else "{"}"{name}":'
        absent = pool.constant(start + "null")
        if field is None:
            inner.append(absent)
        else:
            inner += [field.at_rows(pool.constant(start + "{"), absent), *field.spread(pool)]
    return _or_null(messages.section(walk.PROPS), [*inner, pool.constant("}")], pool)


def _or_null(section: ValueColumn, inner: list[Part], pool: Pool) -> Part:
    present = section.at != ABSENT
    return where_present(pool, present, laid_out(len(present), inner), pool.constant("null"))


_HEADER: Final = ("durable", "priority", "ttl", "first_acquirer", "delivery_count")
_FLAGS: Final = ("durable", "first_acquirer")
_HEADER_KINDS: Final = (values.BOOLEANS, values.UBYTES, values.UINTS, values.BOOLEANS, values.UINTS)


@dataclass(frozen=True, slots=True)
class HeaderParts:
    """The header section in JSON lines, and the fields that lines show elsewhere.

    ``section``: an object, or null. The others: of all messages, 0 where they are missing.
    """

    section: Part
    durable: Ints
    priority: Ints
    has_priority: Mask


def header_parts(messages: Structure, pool: Pool, quote: Quote) -> HeaderParts:
    """Return the header section. Values that do not fit clear ``messages.regular``."""
    repeated = None if messages.only else messages.repeated(walk.HEADER)
    if repeated is None:
        return _header(messages, pool)
    n = len(messages.regular)
    decoded_sections = [_sections(walk.HEADER, raw) for raw in repeated.different]
    headers = [None if item is None else item.header for item in decoded_sections]
    texts = [None if header is None else quote(header_json(header)) for header in headers]
    priorities = [None if header is None else header.priority for header in headers]
    return HeaderParts(
        _repeated_texts(messages, repeated, texts, pool),
        repeated.spread((header is not None and bool(header.durable) for header in headers), np.zeros(n, np.int64)),
        repeated.spread((item or 0 for item in priorities), np.zeros(n, np.int64)),
        repeated.spread((item is not None for item in priorities), np.zeros(n, bool)),
    )


def _header(messages: Structure, pool: Pool) -> HeaderParts:
    fields = [
        values.integers(messages.page, messages.field(walk.HEADER, n), messages.regular, kinds=kinds)
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
    section = _or_null(messages.section(walk.HEADER), [*parts, pool.constant("}")], pool)
    (durable, _), (priority, has_priority), *_ = fields
    return HeaderParts(section, durable, priority, has_priority)


def body_list(messages: Structure, pool: Pool, quote: Quote, *, shown: bool) -> Even:
    """Return the body section of each message, or nothing. Unless ``shown``, values become size and checksum."""
    at = messages.section(walk.AMQP_VALUE)
    value = field_of(messages, at, 1, pool, quote) if shown else None
    kind = pool.constant('{"kind":"value",')
    if value is not None and value.rows is None:
        return Even((kind, *value.spread(pool)))
    out = np.full((len(messages.regular), 5), pool.constant(""), np.int32)
    if value is not None:
        for n, cell in enumerate((value.at_rows(kind, pool.constant("")), *value.spread(pool))):
            out[:, n] = cell
    elif not shown:
        _put_values(messages.page, at.at, pool, messages.regular, out)
    _put_data(messages.page, messages.section(walk.DATA).at, pool, messages.regular, out)
    _put_sequences(
        messages.page, messages.section(walk.SEQUENCE).at, pool, messages.regular, quote if shown else None, out
    )
    return Even(tuple(out.T))


def _ends(page: PageBytes, at: Ints) -> Ints:
    """Return the position after each value."""
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
        sequence = decoded(page, first, end, 1)
        regular[row] &= sequence is not None
        if sequence is None or quote is None:
            texts.append("")
        else:
            texts.append(f'{{"kind":"sequence","value":{quote(plain_value(sequence))}}}')
    if quote is None:
        _put_sums("sequence", page, at[rows], ends, rows, pool, out)
    else:
        out[rows, 0] = pool.texts(texts)
