"""JSON Lines of standard AMQP messages: headers, application properties, all sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.amqp_message import decode_extra
from pagefmt.codec.messages.amqp_sections import PROPERTY_FIELDS
from pagefmt.codec.messages.amqp_text import identifier_text
from pagefmt.codec.messages.values import last_wins
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.describe.amqp_json import ADDRESS
from pagefmt.describe.message_json import BodyForm, unscanned
from pagefmt.describe.values_json import Quote, property_types_json, property_values_json
from pagefmt.vectors.amqp import values, walk
from pagefmt.vectors.amqp.amqp_columns import amqp_facts, body_texts
from pagefmt.vectors.amqp.line_sections import (
    HeaderParts,
    OptionalCells,
    body_list,
    field_of,
    fields_object,
    header_parts,
    map_parts,
)
from pagefmt.vectors.amqp.line_values import decoded
from pagefmt.vectors.amqp.parts import AmqpParts, amqp_parts
from pagefmt.vectors.amqp.structure import Structure, ValueColumn, structure
from pagefmt.vectors.arrays.fragments import Cell, Even, Part, Pool, either, laid_out, where_present
from pagefmt.vectors.arrays.json_text import java_text, utf8_texts
from pagefmt.vectors.arrays.strings import distinct, few
from pagefmt.vectors.core.batch import Batch, queue_lists
from pagefmt.vectors.core.body_lines import raw_forms
from pagefmt.vectors.core.line_parts import LineSource, coded, digests, frame_parts, keyed, plain_values, state_parts
from pagefmt.vectors.core.property_lines import property_lines
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import PageFrames

_MESSAGE_ID: Final = PROPERTY_FIELDS.index("message_id")
_EXPIRES: Final = PROPERTY_FIELDS.index("absolute_expiry_time")
_CREATED: Final = PROPERTY_FIELDS.index("creation_time")


@dataclass(frozen=True, slots=True)
class _AmqpRecords:
    """The structure of the records. ``fields``: positions of the properties."""

    parts: AmqpParts
    queues: pa.ListArray
    built: Structure
    header: HeaderParts
    fields: list[ValueColumn]
    created: Ints
    expires: Ints


def amqp_line_parts(batch: Batch, frames: PageFrames, source: LineSource, pool: Pool) -> list[Part]:
    """Return the parts of each JSON line.

    Clears ``batch.regular`` for irregular records, and returns no parts if there are any.
    """
    records = _read(batch, pool, source.quote)
    if records is None:
        return []
    page, parts, regular, quote = batch.page, records.parts, batch.regular, source.quote
    built = records.built
    maps = {kind: map_parts(built, kind, pool, quote) for kind in walk.MAPS}
    fields = [field_of(built, value, 2, pool, quote) for value in records.fields]
    body = body_list(built, pool, quote, shown=source.wanted.shows_values)
    body_forms = _body_forms(built, parts, source, pool)
    extra = _extra_properties(page, parts, regular, pool, quote)
    if extra is None or not regular.all():
        return []
    tx, address = page.i64(batch.payload), _addresses(page, parts, pool, quote)
    fixed = unscanned(source.wanted.edition)
    facts = {key: column for key, column in _facts(records).items() if key not in fixed}
    values: dict[str, Sequence[Part | str]] = plain_values(pool, facts) | {
        "large_type": ["0"],
        "persister": [pool.numbers(parts.persister)],
        "protocol": ['"amqp"'],
        "address": [address],
        "user_id": [] if "user_id" in fixed else [_identifiers(page, fields[_MESSAGE_ID], pool, quote)],
        "type": ["null"],
        "type_name": ["null"],
        "large_id": ["null"],
        "large_file": ["null"],
        "large_size": ["null"],
        "properties": ["{", maps[walk.APPLICATION].given, "}"],
        "property_types": ["{", maps[walk.APPLICATION].types, "}"],
        **{key: [quote(value)] for key, value in fixed.items()},
    }
    return [
        *frame_parts(pool, batch, frames, source, tx, records.queues),
        *keyed(pool, values),
        *body_forms,
        *state_parts(pool, source, batch.row + frames.number, tx, records.queues),
        pool.constant(',"amqp":{"message_format":'),
        pool.numbers(parts.format),
        pool.constant(',"encoded_size":'),
        pool.numbers(parts.encoded_size),
        pool.constant(',"encoded_sha256":"'),
        digests(page, parts.encoded_at, parts.encoded_size, pool),
        pool.constant('","header":'),
        records.header.section,
        pool.constant(',"delivery_annotations":'),
        maps[walk.DELIVERY].section,
        pool.constant(',"message_annotations":'),
        maps[walk.ANNOTATIONS].section,
        pool.constant(',"properties":'),
        fields_object(built, fields, pool),
        pool.constant(',"application_properties":'),
        maps[walk.APPLICATION].section,
        pool.constant(',"footer":'),
        maps[walk.FOOTER].section,
        pool.constant(',"body":['),
        body,
        pool.constant('],"extra_properties":'),
        _extra(parts, extra.inside, address, pool),
        pool.constant(',"extra_property_types":'),
        _extra(parts, extra.types, None, pool),
        pool.constant("}}\n"),
    ]


def _body_forms(built: Structure, parts: AmqpParts, source: LineSource, pool: Pool) -> list[Part]:
    """Return the text and the encoded message as asked for. Size and checksum exist for large bodies only: null."""
    of_large = [form for form in (BodyForm.SIZE, BodyForm.SHA256) if form in source.wanted.forms]
    out: list[Part] = [pool.constant(f',"body_{form}":null') for form in of_large]
    if BodyForm.TEXT in source.wanted.forms:
        texts = body_texts(built, data=True)
        there: Mask = np.asarray(texts.is_valid())
        head, tail = pool.constant(',"body_text":"'), pool.constant('"')
        text = Even((head, pool.add(utf8_texts(texts, source.quote)), tail))
        out.append(where_present(pool, there, text, pool.constant("")))
    return [*out, *raw_forms(built.page, parts.encoded_at, parts.encoded_size, source, pool)]


def _read(batch: Batch, pool: Pool, quote: Quote) -> _AmqpRecords | None:
    page, regular = batch.page, batch.regular
    parts = amqp_parts(page, batch.payload, batch.length)
    regular &= parts.regular & parts.has_address
    parts.regular = regular
    built = structure(page, parts)
    regular &= built.body_kinds() <= 1
    header = header_parts(built, pool, quote)
    fields = [built.field(walk.PROPS, n) for n in range(len(PROPERTY_FIELDS))]
    created, expires = (
        values.integers(page, fields[n], regular, kinds=values.TIMESTAMPS)[0] for n in (_CREATED, _EXPIRES)
    )
    queues = queue_lists(batch, parts.parts_end)
    has_extra = parts.extra_end > parts.extra_at
    # a block that is there but says "no properties" is not the same as none
    regular &= ~has_extra | (page.byte(parts.extra_at) != 0)
    records = _AmqpRecords(parts, queues, built, header, fields, created, expires)
    return records if regular.all() else None


def _facts(records: _AmqpRecords) -> dict[str, Ints | Mask]:
    header = records.header
    return amqp_facts(
        records.parts, header.durable, header.priority, header.has_priority, records.created, records.expires
    )


def _identifiers(page: PageBytes, field: OptionalCells | None, pool: Pool, quote: Quote) -> Part:
    """Return the message id of each message as JSON text, or ``null``."""
    if field is None:
        return pool.constant("null")
    cells, mark = field.cells, pool.constant('"')
    if isinstance(cells.code, int) and values.IS_STRING[cells.code]:
        marks = field.at_rows(mark, pool.constant(""))
        return Even((marks, field.at_rows(cells.content, pool.constant("null")), marks))
    at = field.at if field.rows is None else field.at[field.rows]
    plain = np.broadcast_to(values.IS_STRING[cells.code], at.shape)
    content = np.array(np.broadcast_to(cells.content, at.shape), np.int32)
    others = np.flatnonzero(~plain)
    content[others] = pool.texts(_identifier_texts(page, at[others], quote))
    marks = field.at_rows(either(plain, mark, pool.constant("")), pool.constant(""))
    return Even((marks, field.at_rows(content, pool.constant("null")), marks))


def _identifier_texts(page: PageBytes, at: Ints, quote: Quote) -> Iterator[str]:
    _, start, size = walk.widths(page, at)
    for first, end in zip(at.tolist(), (start + size).tolist(), strict=True):
        value = decoded(page, first, end, 2)
        yield quote(None if value is None else identifier_text(value))


def _addresses(page: PageBytes, parts: AmqpParts, pool: Pool, quote: Quote) -> Cell:
    raw = distinct(page, parts.address_at, parts.address_size)
    return coded(pool, raw, lambda value: quote(java_text(value)))


@dataclass(frozen=True, slots=True)
class _ExtraParts:
    """The inside of the objects of the broker's own properties: ``inside`` of the values, ``types`` of their types."""

    inside: Part
    types: Part


def _extra_properties(page: PageBytes, parts: AmqpParts, regular: Mask, pool: Pool, quote: Quote) -> _ExtraParts | None:
    """Return the broker's own properties. Most messages have the same block, which is then rendered once."""
    at, end = parts.extra_at, parts.extra_end
    same = few(page, at, end - at)
    if same is None:
        records = property_lines(page, at, end, end > at, regular, pool, quote)
        return None if records is None else _ExtraParts(records.inside, records.types)
    texts = [_extra_texts(block, quote) for block in same[0]]
    regular &= np.array([text is not None for text in texts])[same[1]]
    inside, types = (
        np.array([pool.constant(text[n] if text else "") for text in texts], np.int32)[same[1]] for n in (0, 1)
    )
    return _ExtraParts(inside, types)


@lru_cache(1024)
def _extra_texts(block: bytes, quote: Quote) -> tuple[str, str] | None:
    """Return values and types by the reference decoder, without braces; None if the block does not decode."""
    try:
        entries = decode_extra(ByteReader(len(block).to_bytes(4, "big") + block)).entries
    except Undecodable:
        return None
    if entries is None:
        return "", ""
    properties = last_wins(entries)
    return quote(property_values_json(properties))[1:-1], quote(property_types_json(properties))[1:-1]


def _extra(parts: AmqpParts, entries: Part, address: Cell | None, pool: Pool) -> Part:
    """Return the object of the broker's own properties.

    Readers of persisters without extra properties add the address to them. ``address`` is None for the object of the
    types, which has no address.
    """
    rows = len(parts.regular)
    listed = laid_out(rows, [pool.constant("{"), entries, pool.constant("}")])
    out = where_present(pool, parts.extra_end > parts.extra_at, listed, pool.constant("null"))
    head = pool.constant("{" if address is None else f'{{"{ADDRESS}":')
    alone = laid_out(rows, [head, *([] if address is None else [address]), pool.constant("}")])
    return where_present(pool, parts.adds_address, alone, laid_out(rows, [out]))
