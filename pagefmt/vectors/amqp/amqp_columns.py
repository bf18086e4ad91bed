"""The columns of AMQP messages."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.amqp_message import DEFAULT_PRIORITY, HIGHEST_PRIORITY
from pagefmt.codec.messages.amqp_sections import PROPERTY_FIELDS
from pagefmt.codec.pages.record import ORDINARY
from pagefmt.describe.arrow_schema import AMQP, AMQP_HEADER, AMQP_PROPERTIES, BINARY, STRING, Detail
from pagefmt.vectors.amqp import values, walk
from pagefmt.vectors.amqp.identifiers import identifiers
from pagefmt.vectors.amqp.maps import map_array, map_column
from pagefmt.vectors.amqp.parts import HAS_SECTIONS, AmqpParts, amqp_parts
from pagefmt.vectors.amqp.structure import Structure, ValueColumn, structure
from pagefmt.vectors.amqp.values import integers, number_array
from pagefmt.vectors.amqp.walk import ABSENT
from pagefmt.vectors.arrays.repeated import Nulls, RepeatedCache, repeated
from pagefmt.vectors.arrays.strings import only_one, slices, text_of_utf8, without_controls
from pagefmt.vectors.core import properties
from pagefmt.vectors.core.batch import Batch, Columns, queue_lists, repeated_text
from pagefmt.vectors.core.uniform_maps import table_maps
from pagefmt.vectors.core.uniform_properties import alike
from pagefmt.vectors.pages.gather import PageBytes

_NO_TEXT, _NO_BYTES, _NO_FLAG = Nulls(STRING), Nulls(BINARY), Nulls(pa.bool_())
_NO_TYPE, _NO_NUMBER = Nulls(pa.int8()), Nulls(pa.int64())
_AMQP_FIELDS: Final = list(AMQP)
_HEADER_FIELDS: Final = list(AMQP_HEADER)
_PROPERTY_FIELDS: Final = list(AMQP_PROPERTIES)


def may_be_amqp(page: PageBytes, payload: Ints) -> Mask:
    """Return which records are probably standard AMQP messages, judging by large type and persister alone."""
    standard: Mask = (page.byte(payload + 8) == ORDINARY) & HAS_SECTIONS[page.byte(payload + 9)]
    return standard


def amqp_facts(
    parts: AmqpParts, durable: Ints, priority: Ints, has_priority: Mask, created: Ints, expires: Ints
) -> dict[str, Ints | Mask]:
    """Return the columns that are numbers and flags, from the fields of sections that they are made of.

    Every message has a value: fields that are absent are 0, ``priority`` where ``has_priority`` is false.
    """
    return {
        "id": parts.id,
        "durable": durable != 0,
        "priority": np.where(has_priority, np.minimum(priority, HIGHEST_PRIORITY), DEFAULT_PRIORITY),
        "timestamp": created,
        # without a stored one it is the sender's
        "expiration": np.where(parts.has_expiration, parts.expiration, np.maximum(expires, 0)),
        "large": np.zeros(len(parts.id), bool),
    }


def amqp_columns(batch: Batch, level: Detail) -> Columns:
    """Return the columns of the records up to ``level``.

    Clears ``batch.regular`` for records that this reader does not understand, and returns no columns if there are any.
    """
    page, n, regular = batch.page, len(batch.row), batch.regular
    parts = amqp_parts(page, batch.payload, batch.length)
    regular &= parts.regular & parts.has_address
    parts.regular = regular
    messages = structure(page, parts)
    queues = queue_lists(batch, parts.parts_end)
    created, has_created = integers(page, _property(messages, "creation_time"), regular, kinds=values.TIMESTAMPS)
    out: Columns = {
        "tx": pa.array(parts.tx),
        "queues": queues,
        "protocol": repeated(("amqp",), n),
        "id": pa.array(parts.id),
        "timestamp": pa.array(created),
        "large": pa.array(np.zeros(n, bool)),
    }
    if level < Detail.HEADERS:
        return out
    durable, has_durable = integers(page, messages.field(walk.HEADER, 0), regular, kinds=values.BOOLEANS)
    priority, has_priority = integers(page, messages.field(walk.HEADER, 1), regular, kinds=values.UBYTES)
    expires, has_expires = integers(page, _property(messages, "absolute_expiry_time"), regular, kinds=values.TIMESTAMPS)
    user_id, id_type = identifiers(page, _property(messages, "message_id"), regular)
    if not regular.all():
        return {}
    facts = amqp_facts(parts, durable, priority, has_priority, created, expires)
    out |= {name: pa.array(column) for name, column in facts.items() if name not in out}
    out |= {
        "large_type": pa.array(np.zeros(n, np.int8)),
        "persister": pa.array(parts.persister.astype(np.int8)),
        "address": repeated_text(page, parts.address_at, parts.address_size, parts.has_address),
        "user_id": user_id,
        "type": _NO_TYPE(n),
        "type_name": _NO_TEXT(n),
        "body_size": _NO_NUMBER(n),
    }
    if level >= Detail.PROPERTIES:
        ready = {"durable": pa.array(durable != 0, mask=~has_durable), "message_id": user_id}
        ready |= {"priority": number_array(priority.astype(np.int16), has_priority)}
        ready |= {"creation_time": number_array(created, has_created), "message_id_type": id_type}
        ready |= {"absolute_expiry_time": number_array(expires, has_expires)}
        out |= _property_columns(batch, parts, messages, ready)
    if level >= Detail.STRINGS and regular.all():
        out["body_text"] = body_texts(messages, data=level >= Detail.TEXTS)
    if level >= Detail.BODIES and regular.all():
        out["body"] = slices(page, parts.encoded_at, parts.encoded_size)
    return out


def _property(messages: Structure, name: str) -> ValueColumn:
    return messages.field(walk.PROPS, PROPERTY_FIELDS.index(name))


def body_texts(messages: Structure, *, data: bool) -> pa.StringArray:
    """Return the text of messages whose body is a single string, and with ``data`` of readable binary bodies.

    Null for every other message.
    """
    page, body, section = messages.page, messages.section(walk.AMQP_VALUE), messages.section(walk.DATA)
    is_single = messages.body_kinds() == 1
    if body.code in values.STRINGS and is_single.all():
        return values.texts(page, body, messages.regular, kinds=values.STRINGS)
    strings = is_single & (body.at != ABSENT)
    code, start, size = walk.widths(page, np.where(strings, body.at, 0))
    strings &= values.IS_STRING[code]
    shown = strings.copy()
    if data and section.code != ABSENT:
        there = section.at != ABSENT
        messages.regular &= ~there | is_single
        code, data_start, data_size = walk.widths(page, np.where(there, section.at, 0))
        rows, _ = without_controls(page, data_start, data_size, there & values.IS_BINARY[code])
        shown[rows], start[rows], size[rows] = True, data_start[rows], data_size[rows]
    texts, bad = text_of_utf8(slices(page, start, size, shown))
    messages.regular[bad & strings] = False
    return texts


def _property_columns(batch: Batch, parts: AmqpParts, messages: Structure, ready: Columns) -> Columns:
    """Return the columns ``properties`` and ``amqp``. ``ready`` has the header and properties fields decoded before."""
    footer = messages.section(walk.FOOTER)
    if footer.code != ABSENT:
        # behind a body that does not decode there is none
        batch.regular &= (footer.at == ABSENT) | ~messages.passed_over()
    application = map_column(messages, walk.APPLICATION, as_given=True, nulls=False)
    parts_of_amqp = [
        pa.array(parts.format),
        pa.array(parts.encoded_size),
        _header(messages, ready),
        map_column(messages, walk.DELIVERY),
        map_column(messages, walk.ANNOTATIONS),
        _fields(messages, ready),
        map_column(messages, walk.FOOTER),
        _extra(batch, parts),
    ]
    if not batch.regular.all():
        return {}
    return {"properties": application, "amqp": pa.StructArray.from_arrays(parts_of_amqp, fields=_AMQP_FIELDS)}


def _header(messages: Structure, ready: Columns) -> pa.StructArray:
    ttl, count = (_number(messages, messages.field(walk.HEADER, n), values.UINTS) for n in (2, 4))
    acquirer = messages.field(walk.HEADER, 3)
    first, has_first = integers(messages.page, acquirer, messages.regular, kinds=values.BOOLEANS)
    flags = _NO_FLAG(len(first)) if acquirer.code == ABSENT else pa.array(first != 0, mask=~has_first)
    columns = [ready["durable"], ready["priority"], ttl, flags, count]
    return _section_struct(columns, _HEADER_FIELDS, messages.section(walk.HEADER))


def _section_struct(columns: list[pa.Array], fields: list[pa.Field], section: ValueColumn) -> pa.StructArray:
    """Null where the section is absent."""
    absent = None if section.code >= 0 else pa.array(section.at == ABSENT)
    return pa.StructArray.from_arrays(columns, fields=fields, mask=absent)


def _number(messages: Structure, value: ValueColumn, kinds: tuple[int, ...]) -> pa.Array:
    if value.code == ABSENT:
        return _NO_NUMBER(len(messages.regular))
    return number_array(*integers(messages.page, value, messages.regular, kinds=kinds))


def _fields(messages: Structure, ready: Columns) -> pa.StructArray:
    text, kind = identifiers(messages.page, _property(messages, "correlation_id"), messages.regular)
    ready = ready | {"correlation_id": text, "correlation_id_type": kind}
    names = [field.name for field in _PROPERTY_FIELDS]
    columns = [ready[name] if name in ready else _field(messages, name) for name in names]
    return _section_struct(columns, _PROPERTY_FIELDS, messages.section(walk.PROPS))


def _field(messages: Structure, name: str) -> pa.Array:
    """Return a field of the properties section that is not an identifier."""
    page, regular, value = messages.page, messages.regular, _property(messages, name)
    if name == "user_id":
        return _NO_BYTES(len(regular)) if value.code == ABSENT else values.binaries(page, value, regular)
    if name == "group_sequence":
        return _number(messages, value, values.UINTS)
    if value.code == ABSENT:
        return _NO_TEXT(len(regular))
    kinds = values.SYMBOLS if name.startswith("content_") else values.STRINGS
    return values.texts(page, value, regular, kinds=kinds)


def _extra(batch: Batch, parts: AmqpParts) -> pa.MapArray:
    """Return the broker's own extra properties: a block of typed properties as in core messages."""
    page, present = batch.page, parts.extra_end > parts.extra_at
    same = only_one(page, parts.extra_at, parts.extra_end - parts.extra_at)
    maps = _SAME_EXTRA.get(same, len(present)) if same else None
    if maps is not None:
        return maps.slice(0, len(present))
    entries, fine = properties.read_entries(page, parts.extra_at, parts.extra_end, batch.regular & present)
    batch.regular &= fine | ~present
    # a block that is there but says "no properties"
    batch.regular &= ~present | (page.byte(parts.extra_at) != 0)
    names = properties.keys(page, entries)
    batch.regular &= ~properties.repeated_keys(entries.offsets, names)
    return map_array(entries.offsets, present, names.cast(STRING), properties.value_array(page, entries))


def _repeated_extra(block: bytes, rows: int) -> pa.MapArray | None:
    """Return the map of one properties block ``rows`` times, or None if the block cannot be read as a table."""
    table = alike(PageBytes(block), np.zeros(1, np.int64), np.array([len(block)]))
    return table_maps(PageBytes(block), table, 1)[0].take(pa.array(np.zeros(rows, np.int32))) if table else None


_SAME_EXTRA: Final = RepeatedCache(_repeated_extra, most=4)
