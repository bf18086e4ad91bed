"""The columns of AMQP messages."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.columns.amqp import values, walk
from pagefmt.columns.amqp.identifiers import identifiers
from pagefmt.columns.amqp.maps import map_array, map_column
from pagefmt.columns.amqp.parts import AmqpParts, amqp_parts
from pagefmt.columns.amqp.structure import Structure, ValueColumn, structure
from pagefmt.columns.amqp.values import integers, number_array
from pagefmt.columns.amqp.walk import ABSENT
from pagefmt.columns.arrays.repeated import Nulls, RepeatedCache, repeated
from pagefmt.columns.arrays.schema import AMQP, AMQP_HEADER, AMQP_PROPERTIES, BINARY, STRING, Detail
from pagefmt.columns.arrays.strings import only_one, slices, text_of_utf8, without_controls
from pagefmt.columns.core import properties
from pagefmt.columns.core.alike import alike
from pagefmt.columns.core.alike_arrays import table_maps
from pagefmt.columns.core.batch import Batch, Columns, queue_lists, repeated_text
from pagefmt.messages.amqp_message import DEFAULT_PRIORITY, HIGHEST_PRIORITY
from pagefmt.messages.amqp_sections import PROPERTY_FIELDS
from pagefmt.pages.gather import Ints, Mask, PageBytes

_NO_TEXT, _NO_BYTES, _NO_FLAG = Nulls(STRING), Nulls(BINARY), Nulls(pa.bool_())
_NO_TYPE, _NO_NUMBER = Nulls(pa.int8()), Nulls(pa.int64())
_AMQP_FIELDS: Final = list(AMQP)
_HEADER_FIELDS: Final = list(AMQP_HEADER)
_PROPERTY_FIELDS: Final = list(AMQP_PROPERTIES)


def may_be_amqp(page: PageBytes, payload: Ints) -> Mask:
    """Records that are probably standard AMQP messages, by large type and persister alone."""
    first = page.byte(payload + 9)
    standard: Mask = (page.byte(payload + 8) == 0) & ((first == 2) | (first == 3) | (first == 5))
    return standard


def amqp_columns(batch: Batch, level: Detail) -> Columns:
    """The columns of the records up to ``level``; none where some are not regular (``batch.regular``)."""
    page, n, regular = batch.page, len(batch.row), batch.regular
    parts = amqp_parts(page, batch.payload, batch.length)
    regular &= parts.regular & parts.has_address
    parts.regular = regular
    found = structure(page, parts)
    queues = queue_lists(batch, parts.parts_end)
    created, has_created = integers(page, _property(found, "creation_time"), regular, kinds=values.TIMESTAMPS)
    out: Columns = {
        "tx": pa.array(parts.tx), "queues": queues, "protocol": repeated(("amqp",), n), "id": pa.array(parts.id),
        "timestamp": pa.array(created), "large": pa.array(np.zeros(n, bool)),
    }  # fmt: skip
    if level < Detail.HEADERS:
        return out
    durable, has_durable = integers(page, found.field(walk.HEADER, 0), regular, kinds=values.BOOLEANS)
    priority, has_priority = integers(page, found.field(walk.HEADER, 1), regular, kinds=values.UBYTES)
    expires, has_expires = integers(page, _property(found, "absolute_expiry_time"), regular, kinds=values.TIMESTAMPS)
    user_id, id_type = identifiers(page, _property(found, "message_id"), regular)
    if not regular.all():
        return {}
    shown = np.where(has_priority, np.minimum(priority, HIGHEST_PRIORITY), DEFAULT_PRIORITY)
    out |= {
        "large_type": pa.array(np.zeros(n, np.int8)), "persister": pa.array(parts.persister.astype(np.int8)),
        "address": repeated_text(page, parts.address_at, parts.address_size, parts.has_address),
        "durable": pa.array(durable != 0), "priority": pa.array(shown.astype(np.int8)),
        # without a stored one it is the sender's
        "expiration": pa.array(np.where(parts.persister == 5, parts.expiration, np.maximum(expires, 0))),
        "user_id": user_id, "type": _NO_TYPE(n), "type_name": _NO_TEXT(n),
        "body_size": _NO_NUMBER(n),
    }  # fmt: skip
    if level >= Detail.PROPERTIES:
        known = {"durable": pa.array(durable != 0, mask=~has_durable), "message_id": user_id}
        known |= {"priority": number_array(priority.astype(np.int16), has_priority)}
        known |= {"creation_time": number_array(created, has_created), "message_id_type": id_type}
        known |= {"absolute_expiry_time": number_array(expires, has_expires)}
        out |= _property_columns(batch, parts, found, known)
    if level >= Detail.STRINGS and regular.all():
        out["body_text"] = body_texts(found, data=level >= Detail.TEXTS)
    if level >= Detail.BODIES and regular.all():
        out["body"] = slices(page, parts.encoded_at, parts.encoded_size)
    return out


def _property(found: Structure, name: str) -> ValueColumn:
    return found.field(walk.PROPS, PROPERTY_FIELDS.index(name))


def body_texts(found: Structure, *, data: bool) -> pa.StringArray:
    """The text of messages whose body is one string value, and of ``data`` that is text to read."""
    page, body, section = found.page, found.section(walk.AMQP_VALUE), found.section(walk.DATA)
    one = found.body_kinds() == 1
    if body.code in values.STRINGS and one.all():
        return values.texts(page, body, found.regular, kinds=values.STRINGS)
    strings = one & (body.at != ABSENT)
    code, start, size = walk.widths(page, np.where(strings, body.at, 0))
    strings &= values.IS_STRING[code]
    shown = strings.copy()
    if data and section.code != ABSENT:
        there = section.at != ABSENT
        found.regular &= ~there | one
        code, data_start, data_size = walk.widths(page, np.where(there, section.at, 0))
        rows, _ = without_controls(page, data_start, data_size, there & values.IS_BINARY[code])
        shown[rows], start[rows], size[rows] = True, data_start[rows], data_size[rows]
    texts, bad = text_of_utf8(slices(page, start, size, shown))
    found.regular[bad & strings] = False
    return texts


def _property_columns(batch: Batch, parts: AmqpParts, found: Structure, known: Columns) -> Columns:
    """``known``: fields of the header and the properties that are there already."""
    footer = found.section(walk.FOOTER)
    if footer.code != ABSENT:
        # behind a body that does not decode there is none
        batch.regular &= (footer.at == ABSENT) | ~found.passed_over()
    application = map_column(found, walk.APPLICATION, as_given=True, nulls=False)
    parts_of_amqp = [
        pa.array(parts.format), pa.array(parts.encoded_size), _header(found, known),
        map_column(found, walk.DELIVERY), map_column(found, walk.ANNOTATIONS),
        _fields(found, known), map_column(found, walk.FOOTER), _extra(batch, parts),
    ]  # fmt: skip
    if not batch.regular.all():
        return {}
    return {"properties": application, "amqp": pa.StructArray.from_arrays(parts_of_amqp, fields=_AMQP_FIELDS)}


def _header(found: Structure, known: Columns) -> pa.StructArray:
    ttl, count = (_number(found, found.field(walk.HEADER, n), values.UINTS) for n in (2, 4))
    acquirer = found.field(walk.HEADER, 3)
    first, has_first = integers(found.page, acquirer, found.regular, kinds=values.BOOLEANS)
    flags = _NO_FLAG(len(first)) if acquirer.code == ABSENT else pa.array(first != 0, mask=~has_first)
    columns = [known["durable"], known["priority"], ttl, flags, count]
    return _section_struct(columns, _HEADER_FIELDS, found.section(walk.HEADER))


def _section_struct(columns: list[pa.Array], fields: list[pa.Field], section: ValueColumn) -> pa.StructArray:
    """Null where the section is absent."""
    absent = None if section.code >= 0 else pa.array(section.at == ABSENT)
    return pa.StructArray.from_arrays(columns, fields=fields, mask=absent)


def _number(found: Structure, value: ValueColumn, kinds: tuple[int, ...]) -> pa.Array:
    if value.code == ABSENT:
        return _NO_NUMBER(len(found.regular))
    return number_array(*integers(found.page, value, found.regular, kinds=kinds))


def _fields(found: Structure, known: Columns) -> pa.StructArray:
    text, kind = identifiers(found.page, _property(found, "correlation_id"), found.regular)
    known = known | {"correlation_id": text, "correlation_id_type": kind}
    names = [field.name for field in _PROPERTY_FIELDS]
    columns = [known[name] if name in known else _field(found, name) for name in names]
    return _section_struct(columns, _PROPERTY_FIELDS, found.section(walk.PROPS))


def _field(found: Structure, name: str) -> pa.Array:
    """A field of the properties section that is no id."""
    page, regular, value = found.page, found.regular, _property(found, name)
    if name == "user_id":
        return _NO_BYTES(len(regular)) if value.code == ABSENT else values.binaries(page, value, regular)
    if name == "group_sequence":
        return _number(found, value, values.UINTS)
    if value.code == ABSENT:
        return _NO_TEXT(len(regular))
    kinds = values.SYMBOLS if name.startswith("content_") else values.STRINGS
    return values.texts(page, value, regular, kinds=kinds)


def _extra(batch: Batch, parts: AmqpParts) -> pa.MapArray:
    """The broker's own extra properties: a block of typed properties as in core messages."""
    page, present = batch.page, parts.extra_end > parts.extra_at
    same = only_one(page, parts.extra_at, parts.extra_end - parts.extra_at)
    made = _SAME_EXTRA.get(same, len(present)) if same else None
    if made is not None:
        return made.slice(0, len(present))
    entries, fine = properties.read_entries(page, parts.extra_at, parts.extra_end, batch.regular & present)
    batch.regular &= fine | ~present
    # a block that is there but says "no properties"
    batch.regular &= ~present | (page.byte(parts.extra_at) != 0)
    names = properties.keys(page, entries)
    batch.regular &= ~properties.repeated_keys(entries.offsets, names)
    return map_array(entries.offsets, present, names.cast(STRING), properties.value_array(page, entries))


def _repeated_extra(block: bytes, rows: int) -> pa.MapArray | None:
    """The properties of one block, so many times; None where they are no table."""
    table = alike(PageBytes(block), np.zeros(1, np.int64), np.array([len(block)]))
    return table_maps(PageBytes(block), table, 1)[0].take(pa.array(np.zeros(rows, np.int32))) if table else None


_SAME_EXTRA: Final = RepeatedCache(_repeated_extra, most=4)
