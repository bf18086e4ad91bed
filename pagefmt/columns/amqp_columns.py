"""The columns of AMQP messages."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.columns import amqp_values as values
from pagefmt.columns import amqp_walk as walk
from pagefmt.columns import properties
from pagefmt.columns.amqp_parts import AmqpParts, amqp_parts
from pagefmt.columns.amqp_walk import ABSENT
from pagefmt.columns.batch import Batch, Columns, queue_lists, repeated_text
from pagefmt.columns.gather import Ints, Mask, PageBytes
from pagefmt.columns.schema import AMQP, AMQP_HEADER, AMQP_PROPERTIES, STRING, Level
from pagefmt.columns.strings import slices

_DEFAULT_PRIORITY: Final = 4
_HIGHEST_PRIORITY: Final = 9
_FIELDS: Final = ("message_id", "user_id", "to", "subject", "reply_to", "correlation_id", "content_type",
                  "content_encoding", "absolute_expiry_time", "creation_time", "group_id", "group_sequence",
                  "reply_to_group_id")  # fmt: skip
_NOTHING: Final = np.empty(0, np.int64)


def may_be_amqp(page: PageBytes, payload: Ints) -> Mask:
    """A quick look: an ordinary record with the persister of a standard AMQP message."""
    first = page.byte(payload + 9)
    standard: Mask = (page.byte(payload + 8) == 0) & ((first == 2) | (first == 3) | (first == 5))
    return standard


def amqp_columns(batch: Batch, level: Level) -> Columns:
    page, n, regular = batch.page, len(batch.row), batch.regular
    parts = amqp_parts(page, batch.payload, batch.length)
    regular &= parts.regular & parts.has_address
    parts.regular = regular
    found = walk.sections(page, parts)
    header = walk.list_fields(page, found.at[walk.HEADER], 5, regular)
    fields = dict(zip(_FIELDS, walk.list_fields(page, found.at[walk.PROPS], 13, regular), strict=True))
    queues = queue_lists(batch, parts.parts_end)
    durable, has_durable = values.integers(page, header[0], regular, kinds=values.BOOLEANS)
    priority, has_priority = values.integers(page, header[1], regular, kinds=values.UBYTES)
    created, _ = values.integers(page, fields["creation_time"], regular, kinds=values.TIMESTAMPS)
    user_id = values.texts(page, fields["message_id"], regular, kinds=values.STRINGS)
    # without a stored expiration the broker works it out anew from these
    counted = parts.persister != 5
    regular &= ~counted | ((header[2] == ABSENT) & (fields["absolute_expiry_time"] == ABSENT))
    if not regular.all():
        return {}
    shown = np.where(has_priority, np.minimum(priority, _HIGHEST_PRIORITY), _DEFAULT_PRIORITY)
    out: Columns = {
        "tx": pa.array(page.i64(batch.payload)), "queues": queues, "large_type": pa.repeat(pa.scalar(0, pa.int8()), n),
        "persister": pa.array(parts.persister), "protocol": pa.repeat(pa.scalar("amqp", STRING), n),
        "id": pa.array(parts.id),
        "address": repeated_text(page, parts.address_at, parts.address_size, parts.has_address),
        "durable": pa.array(durable != 0), "priority": pa.array(shown), "timestamp": pa.array(created),
        "expiration": pa.array(parts.expiration), "user_id": user_id, "type": pa.nulls(n, pa.int8()),
        "type_name": pa.nulls(n, STRING), "large": pa.repeat(pa.scalar(False), n), "body_size": pa.nulls(n, pa.int64()),
    }  # fmt: skip
    if level >= Level.PROPERTIES:
        fixed = {"durable": (durable, has_durable), "priority": (priority, has_priority)}
        out |= _property_columns(batch, parts, found, header, fields, fixed)
    if level >= Level.TEXTS and regular.all():
        out["body_text"] = _texts(page, found, regular)
    if level >= Level.BODIES and regular.all():
        out["body"] = slices(page, parts.encoded_at, parts.encoded_size)
    return out


def _texts(page: PageBytes, found: walk.Sections, regular: Mask) -> pa.StringArray:
    """The text of messages whose body is one string value."""
    at = found.at[walk.AMQP_VALUE]
    one = (at != ABSENT) & (found.body_kinds == 1)
    is_text = one & values.IS_STRING[page.byte(np.where(one, at, 0))]
    return values.texts(page, np.where(is_text, at, ABSENT), regular, kinds=values.STRINGS)


def _property_columns(
    batch: Batch, parts: AmqpParts, found: walk.Sections, header: Ints, fields: dict[str, Ints],
    fixed: dict[str, tuple[Ints, Mask]],
) -> Columns:  # fmt: skip
    page, regular = batch.page, batch.regular
    application = _map(page, found.at[walk.APPLICATION], regular, as_given=True)
    parts_of_amqp = [
        pa.array(parts.format), pa.array(parts.encoded_size), _header(page, found, header, fixed, regular),
        _map(page, found.at[walk.DELIVERY], regular), _map(page, found.at[walk.ANNOTATIONS], regular),
        _fields(page, found, fields, regular), _map(page, found.at[walk.FOOTER], regular), _extra(batch, parts),
    ]  # fmt: skip
    if not regular.all():
        return {}
    return {
        "properties": _without_nulls(application),
        "amqp": pa.StructArray.from_arrays(parts_of_amqp, fields=list(AMQP)),
    }


def _without_nulls(maps: pa.MapArray) -> pa.MapArray:
    """Absent maps as empty ones: the broker's interface knows no difference for properties."""
    if maps.null_count == 0:
        return maps
    offsets = pa.array(np.asarray(maps.offsets))
    return pa.MapArray.from_arrays(offsets, maps.keys, maps.items).cast(maps.type)


def _map(page: PageBytes, at: Ints, regular: Mask, *, as_given: bool = False) -> pa.MapArray:
    pairs = walk.map_pairs(page, at, regular)
    names = values.pair_keys(page, pairs, regular)
    items = values.pair_values(page, pairs, regular, as_given=as_given)
    regular &= ~properties.repeated_keys(pairs.offsets, names)
    return values.map_array(pairs, names, items)


def _header(
    page: PageBytes, found: walk.Sections, at: Ints, fixed: dict[str, tuple[Ints, Mask]], regular: Mask
) -> pa.StructArray:
    durable, has_durable = fixed["durable"]
    priority, has_priority = fixed["priority"]
    ttl, has_ttl = values.integers(page, at[2], regular, kinds=values.UINTS)
    first, has_first = values.integers(page, at[3], regular, kinds=values.BOOLEANS)
    count, has_count = values.integers(page, at[4], regular, kinds=values.UINTS)
    columns = [
        pa.array(durable != 0, mask=~has_durable), pa.array(priority.astype(np.int16), mask=~has_priority),
        pa.array(ttl, mask=~has_ttl), pa.array(first != 0, mask=~has_first), pa.array(count, mask=~has_count),
    ]  # fmt: skip
    absent = pa.array(found.at[walk.HEADER] == ABSENT)
    return pa.StructArray.from_arrays(columns, fields=list(AMQP_HEADER), mask=absent)


def _fields(page: PageBytes, found: walk.Sections, at: dict[str, Ints], regular: Mask) -> pa.StructArray:
    columns: list[pa.Array] = []
    for field in AMQP_PROPERTIES:
        name = field.name
        if name.endswith("_id_type"):
            present = at[name.removesuffix("_type")] != ABSENT
            columns.append(pa.array(np.where(present, "string", ""), STRING, mask=~present))
        elif name == "user_id":
            columns.append(values.binaries(page, at[name], regular))
        elif pa.types.is_integer(field.type):
            numbers: tuple[int, ...] = values.UINTS if name == "group_sequence" else values.TIMESTAMPS
            number, valid = values.integers(page, at[name], regular, kinds=numbers)
            columns.append(pa.array(number, mask=~valid))
        else:
            kinds = values.SYMBOLS if name.startswith("content_") else values.STRINGS
            columns.append(values.texts(page, at[name], regular, kinds=kinds))
    absent = pa.array(found.at[walk.PROPS] == ABSENT)
    return pa.StructArray.from_arrays(columns, fields=list(AMQP_PROPERTIES), mask=absent)


def _extra(batch: Batch, parts: AmqpParts) -> pa.MapArray:
    """The broker's own extra properties: a block of typed properties as in core messages."""
    page, present = batch.page, parts.extra_end > parts.extra_at
    entries, fine = properties.read_entries(page, parts.extra_at, parts.extra_end, batch.regular & present)
    batch.regular &= fine | ~present
    # a block that is there but says "no properties"
    batch.regular &= ~present | (page.byte(parts.extra_at) != 0)
    names = properties.keys(page, entries)
    batch.regular &= ~properties.repeated_keys(entries.offsets, names)
    pairs = walk.Pairs(entries.offsets, present, _NOTHING, _NOTHING)
    return values.map_array(pairs, names, properties.value_array(page, entries))
