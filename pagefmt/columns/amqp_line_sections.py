"""The sections of AMQP messages as they stand in JSON Lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pagefmt.amqp_sections import PROPERTY_FIELDS
from pagefmt.columns import amqp_values as values
from pagefmt.columns import amqp_walk as walk
from pagefmt.columns.amqp_line_values import ValueTexts, decoded, value_texts
from pagefmt.columns.amqp_walk import ABSENT
from pagefmt.columns.fragments import Cell, Codes, Even, Part, Pool, Runs, either, laid_out, listed, where_present
from pagefmt.columns.gather import Ints, Mask, PageBytes
from pagefmt.columns.json_text import Quote
from pagefmt.columns.line_parts import digests
from pagefmt.columns.properties import repeated_keys
from pagefmt.columns.property_lines import by_name, ordered
from pagefmt.values_json import plain_value


@dataclass(frozen=True, slots=True)
class NamedValues:
    """One map section of all messages: its entries, their distinct names, the texts of their values."""

    pairs: walk.Pairs
    which: Ints
    known: list[str]
    texts: ValueTexts


def named_values(page: PageBytes, pairs: walk.Pairs, pool: Pool, regular: Mask, quote: Quote) -> NamedValues:
    """The entries of a map section; what does not fit clears ``regular``."""
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
    texts = value_texts(page, pairs.value_at, 2, pool, quote)
    unfit = texts.bad | np.isin(which, wrong) if wrong else texts.bad
    if unfit.any():
        regular[pairs.owners()[unfit]] = False
    return NamedValues(pairs, which, known, texts)


def entries_of(found: NamedValues, pool: Pool, quote: Quote, *, given: bool) -> Even | Runs:
    """The inside of a list of named values, sorted by name. ``given``: typed as the broker hands them out."""
    texts = found.texts
    names = np.array([pool.constant(f'{{"name":{quote(name)},') for name in found.known], np.int32)
    cells: list[Cell] = [names[found.which], texts.given if given else texts.head, texts.content, texts.close]
    order = by_name(found.pairs.offsets, found.which, found.known)
    return listed(pool, found.pairs.offsets, ordered(cells, order))


def map_or_null(found: NamedValues, pool: Pool, quote: Quote) -> Part:
    present = found.pairs.present
    if not present.any():
        return pool.constant("null")
    entries = entries_of(found, pool, quote, given=False)
    inner = laid_out(len(present), [pool.constant("["), entries, pool.constant("]")])
    return where_present(pool, present, inner, pool.constant("null"))


@dataclass(frozen=True, slots=True)
class Cells:
    """Values of a table with a row for each message, of which some are absent.

    ``at`` and ``texts`` have those that are there; ``place``: which of these is in a row and field.
    """

    present: Mask
    at: Ints
    texts: ValueTexts
    place: Ints

    def column(self, field: int) -> Ints:
        """The places of a field in ``at`` and ``texts``, of the rows that have it."""
        found: Ints = self.place[self.present[:, field], field]
        return found

    def cells(self, field: int, pool: Pool) -> list[Cell]:
        """The type, value and closing brace of a field, nothing where it is absent."""
        texts, here = self.texts, self.present[:, field]
        if not here.any():
            return []
        where, rows = self.column(field), np.flatnonzero(here)
        out: list[Cell] = []
        for cell in (texts.head, texts.content, texts.close):
            column = np.full(len(here), pool.constant(""), np.int32)
            column[rows] = cell if isinstance(cell, int) else cell[where]
            out.append(column)
        return out


def cells_of(page: PageBytes, at: Ints, depth: int, pool: Pool, regular: Mask, quote: Quote) -> Cells:
    """The values at ``at``; those that do not decode clear ``regular``."""
    present = at != ABSENT
    flat = at[present]
    texts = value_texts(page, flat, depth, pool, quote)
    if texts.bad.any():
        regular[np.nonzero(present)[0][texts.bad]] = False
    return Cells(present, flat, texts, np.cumsum(present).reshape(present.shape) - 1)


def fields_object(sections: walk.Sections, fields: Cells, pool: Pool) -> Part:
    """The fields of the properties section by name."""
    inner: list[Part] = []
    for n, name in enumerate(PROPERTY_FIELDS):
        start = f'{"," if n else "{"}"{name}":'
        inner.append(either(fields.present[:, n], pool.constant(start + "{"), pool.constant(start + "null")))
        inner += fields.cells(n, pool)
    present = sections.at[walk.PROPS] != ABSENT
    return where_present(pool, present, laid_out(len(present), [*inner, pool.constant("}")]), pool.constant("null"))


_HEADER: Final = ("durable", "priority", "ttl", "first_acquirer", "delivery_count")
_FLAGS: Final = ("durable", "first_acquirer")


def header_object(sections: walk.Sections, fields: list[tuple[Ints, Mask]], pool: Pool) -> Part:
    present = sections.at[walk.HEADER] != ABSENT
    parts: list[Part] = []
    for name, (number, valid) in zip(_HEADER, fields, strict=True):
        texts = pool.flags(number != 0) if name in _FLAGS else pool.numbers(number)
        parts.append(pool.constant(f'{"," if parts else "{"}"{name}":'))
        parts.append(either(valid, texts, pool.constant("null")))
    return where_present(pool, present, laid_out(len(present), [*parts, pool.constant("}")]), pool.constant("null"))


def body_list(page: PageBytes, sections: walk.Sections, pool: Pool, regular: Mask, quote: Quote) -> Even:
    """The one body section of each message, or nothing."""
    value = cells_of(page, sections.at[walk.AMQP_VALUE][:, None], 1, pool, regular, quote)
    here = value.present[:, 0]
    if here.all():
        return Even((pool.constant('{"kind":"value",'), *value.cells(0, pool)))
    out = np.full((len(regular), 5), pool.constant(""), np.int32)
    out[here, 0] = pool.constant('{"kind":"value",')
    for n, cell in enumerate(value.cells(0, pool), 1):
        out[:, n] = cell
    _put_data(page, sections.at[walk.DATA], pool, regular, out)
    _put_sequences(page, sections.at[walk.SEQUENCE], pool, regular, quote, out)
    return Even(tuple(out.T))


def _put_data(page: PageBytes, at: Ints, pool: Pool, regular: Mask, out: Codes) -> None:
    rows = np.flatnonzero(at != ABSENT)
    if not len(rows):
        return
    code, start, size = walk.widths(page, at[rows])
    binary = values.IS_BINARY[code]
    regular[rows[~binary]] = False
    out[rows, 0] = pool.constant('{"kind":"data","size":')
    out[rows, 1] = pool.numbers(size)
    out[rows, 2] = pool.constant(',"sha256":"')
    out[rows, 3] = digests(page, start, size, pool)
    out[rows, 4] = pool.constant('"}')


def _put_sequences(page: PageBytes, at: Ints, pool: Pool, regular: Mask, quote: Quote, out: Codes) -> None:
    rows = np.flatnonzero(at != ABSENT)
    if not len(rows):
        return
    _, start, size = walk.widths(page, at[rows])
    texts = []
    for row, first, end in zip(rows.tolist(), at[rows].tolist(), (start + size).tolist(), strict=True):
        found = decoded(page, first, end, 1)
        regular[row] &= found is not None
        texts.append("" if found is None else f'{{"kind":"sequence","value":{quote(plain_value(found))}}}')
    out[rows, 0] = pool.texts(texts)
