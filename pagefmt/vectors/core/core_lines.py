"""JSON Lines of ordinary core messages: headers, properties, bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pagefmt.arrays import Mask
from pagefmt.codec.messages.core_fields import MESSAGE_TYPES
from pagefmt.describe.values_json import Quote
from pagefmt.vectors.arrays.fragments import Cell, Part, Pool, either
from pagefmt.vectors.arrays.json_text import java_text
from pagefmt.vectors.arrays.strings import distinct, slices
from pagefmt.vectors.core import parts as core
from pagefmt.vectors.core.batch import Batch, queue_lists
from pagefmt.vectors.core.body_lines import core_body
from pagefmt.vectors.core.core_columns import core_facts, user_ids
from pagefmt.vectors.core.line_parts import LineSource, coded, frame_parts, keyed, plain_values, state_parts
from pagefmt.vectors.core.property_lines import property_lines
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import PageFrames


def core_line_parts(batch: Batch, frames: PageFrames, source: LineSource, pool: Pool) -> list[Part]:
    """Return the parts of each line; none if some records are irregular (``batch.regular`` marks them)."""
    page, parts = batch.page, core.core_parts(batch.page, batch.payload, batch.length)
    batch.regular &= parts.regular & ~parts.large
    queues = queue_lists(batch, parts.block_end)
    if not batch.regular.all():
        return []
    properties = property_lines(
        page, parts.properties_at, parts.block_end, batch.regular, batch.regular, pool, source.quote
    )
    if properties is None:
        return []
    body = core_body(page, parts, batch.regular, properties.compressed, source, pool)
    if not batch.regular.all():
        return []
    tx = page.i64(batch.payload)
    values: dict[str, Sequence[Part | str]] = plain_values(pool, core_facts(parts)) | {
        "large_type": ["0"],
        "persister": [either(parts.old, pool.constant("null"), pool.constant("1"))],
        "protocol": ['"core"'],
        "address": [_addresses(page, parts, pool, source.quote)],
        "user_id": _user_ids(page, parts, pool),
        "type": [pool.numbers(parts.type)],
        "type_name": [_type_names(parts, pool, source.quote)],
        "large_id": ["null"],
        "large_file": ["null"],
        "large_size": ["null"],
        "properties": ["{", properties.inside, "}"],
        "property_types": ["{", properties.types, "}"],
    }
    return [
        *frame_parts(pool, batch, frames, source, tx, queues),
        *keyed(pool, values),
        *body,
        *state_parts(pool, source, batch.row + frames.number, tx, queues),
        pool.constant("}\n"),
    ]


def _addresses(page: PageBytes, parts: core.CoreParts, pool: Pool, quote: Quote) -> Cell:
    if parts.has_address.all():
        raw = distinct(page, parts.address_at, parts.address_size)
    else:
        raw = slices(page, parts.address_at, parts.address_size, parts.has_address).dictionary_encode()
    return coded(pool, raw, lambda value: quote(java_text(value)))


def _user_ids(page: PageBytes, parts: core.CoreParts, pool: Pool) -> Sequence[Part | str]:
    have: Mask = parts.has_user_id
    if not have.any():
        return ["null"]
    mark, text = pool.constant('"'), pool.add(user_ids(page, parts))
    return [either(have, mark, pool.constant("null")), text, either(have, mark, pool.constant(""))]


def _type_names(parts: core.CoreParts, pool: Pool, quote: Quote) -> Cell:
    texts = np.zeros(256, np.int32)
    for code in np.unique(parts.type).tolist():
        name = MESSAGE_TYPES.get(code)
        texts[code + 128] = pool.constant("null" if name is None else quote(name))
    return texts[parts.type + 128]
