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
from pagefmt.columns.fragments import Codes, Part, Pool, Runs, laid_out, listed, where_present
from pagefmt.columns.gather import Ints, Mask, PageBytes
from pagefmt.columns.json_text import Quote
from pagefmt.columns.line_parts import digests
from pagefmt.columns.properties import repeated_keys
from pagefmt.columns.property_lines import by_name
from pagefmt.values_json import plain_value


@dataclass(frozen=True, slots=True)
class NamedValues:
    """One map section of all messages: its entries, their distinct names, the texts of their values."""

    pairs: walk.Pairs
    which: Ints
    known: list[str]
    texts: ValueTexts


def named_values(page: PageBytes, at: Ints, pool: Pool, regular: Mask, quote: Quote) -> NamedValues:
    """The map at ``at``; what does not fit clears ``regular``."""
    pairs = walk.map_pairs(page, at, regular)
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


def entries_of(found: NamedValues, pool: Pool, quote: Quote, *, given: bool) -> Runs:
    """The inside of a list of named values, sorted by name. ``given``: typed as the broker hands them out."""
    texts = found.texts
    names = np.array([pool.constant(f'{{"name":{quote(name)},') for name in found.known], np.int32)
    parts: list[Codes] = [names[found.which], texts.given if given else texts.head, texts.content, texts.close]
    order = by_name(found.pairs.offsets, found.which, found.known)
    return listed(pool, found.pairs.offsets, parts if order is None else [part[order] for part in parts])


def map_or_null(found: NamedValues, pool: Pool, quote: Quote) -> Runs:
    present = found.pairs.present
    entries = entries_of(found, pool, quote, given=False)
    inner = laid_out(len(present), [pool.constant("["), entries, pool.constant("]")])
    return where_present(present, inner, pool.constant("null"))


@dataclass(frozen=True, slots=True)
class Cells:
    """Values of a table with a row for each message, of which some are absent; ``at`` and ``texts`` have the others."""

    present: Mask
    at: Ints
    texts: ValueTexts

    def column(self, field: int) -> Ints:
        """The places of a field in ``at`` and ``texts``, of the rows that have it."""
        index: Ints = np.cumsum(self.present).reshape(self.present.shape) - 1
        found: Ints = index[self.present[:, field], field]
        return found


def cells_of(page: PageBytes, at: Ints, depth: int, pool: Pool, regular: Mask, quote: Quote) -> Cells:
    """The values at ``at``; those that do not decode clear ``regular``."""
    present = at != ABSENT
    flat = at[present]
    texts = value_texts(page, flat, depth, pool, quote)
    if texts.bad.any():
        regular[np.nonzero(present)[0][texts.bad]] = False
    return Cells(present, flat, texts)


def fields_object(sections: walk.Sections, fields: Cells, pool: Pool) -> Runs:
    """The fields of the properties section by name."""
    rows, width = fields.present.shape
    lead = np.empty((rows, width), np.int32)
    for k, name in enumerate(PROPERTY_FIELDS):
        start = f'{"," if k else "{"}"{name}":'
        lead[:, k] = np.where(fields.present[:, k], pool.constant(start + "{"), pool.constant(start + "null"))
    there = fields.present.reshape(-1)
    texts = laid_out(len(fields.at), [fields.texts.head, fields.texts.content, fields.texts.close])
    cells = laid_out(there.size, [lead.reshape(-1), Runs(np.where(there, 3, 0), texts.codes)])
    each = Runs(cells.counts.reshape(rows, width).sum(axis=1), cells.codes)
    inner = laid_out(rows, [each, pool.constant("}")])
    return where_present(sections.at[walk.PROPS] != ABSENT, inner, pool.constant("null"))


_HEADER: Final = ("durable", "priority", "ttl", "first_acquirer", "delivery_count")
_FLAGS: Final = ("durable", "first_acquirer")


def header_object(sections: walk.Sections, fields: list[tuple[Ints, Mask]], pool: Pool) -> Runs:
    present = sections.at[walk.HEADER] != ABSENT
    parts: list[Part] = []
    for name, (number, valid) in zip(_HEADER, fields, strict=True):
        texts = pool.flags(number != 0) if name in _FLAGS else pool.numbers(number)
        parts.append(pool.constant(f'{"," if parts else "{"}"{name}":'))
        parts.append(np.where(valid, texts, pool.constant("null")).astype(np.int32))
    return where_present(present, laid_out(len(present), [*parts, pool.constant("}")]), pool.constant("null"))


def body_list(page: PageBytes, sections: walk.Sections, pool: Pool, regular: Mask, quote: Quote) -> Runs:
    """The one body section of each message, or nothing."""
    out = np.full((len(regular), 5), pool.constant(""), np.int32)
    value = cells_of(page, sections.at[walk.AMQP_VALUE][:, None], 1, pool, regular, quote)
    rows = np.flatnonzero(value.present)
    out[rows, 0] = pool.constant('{"kind":"value",')
    out[rows, 1], out[rows, 2], out[rows, 3] = value.texts.head, value.texts.content, value.texts.close
    _put_data(page, sections.at[walk.DATA], pool, regular, out)
    _put_sequences(page, sections.at[walk.SEQUENCE], pool, regular, quote, out)
    return Runs(np.full(len(regular), 5), out.reshape(-1))


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
