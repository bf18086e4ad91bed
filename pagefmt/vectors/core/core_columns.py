"""The columns of core messages."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.bodies import COMPRESSED
from pagefmt.codec.messages.body_text import READABLE
from pagefmt.codec.messages.core_fields import MESSAGE_TYPES, TEXT
from pagefmt.describe.arrow_schema import AMQP, STRING, Detail
from pagefmt.vectors.arrays.repeated import Nulls, repeated
from pagefmt.vectors.arrays.strings import readable_texts, slices, text_of_utf16, with_texts
from pagefmt.vectors.core import parts as core
from pagefmt.vectors.core.batch import Batch, Columns, queue_lists, repeated_text
from pagefmt.vectors.core.property_maps import property_maps
from pagefmt.vectors.pages.gather import PageBytes

_NO_TEXT, _NO_AMQP = Nulls(STRING), Nulls(AMQP)
_CORE_TYPE_NAMES: Final = pa.array([MESSAGE_TYPES.get(code) for code in range(-128, 128)], STRING)


def _type_names(code: Ints) -> pa.StringArray:
    name = MESSAGE_TYPES.get(int(code[0]))
    if name is not None and bool((code == code[0]).all()):
        return repeated((name,), len(code))
    return _CORE_TYPE_NAMES.take(pa.array(code + 128))


def may_be_core(page: PageBytes, payload: Ints) -> Mask:
    """Return which records are probably core messages, judging by large type and persister alone."""
    first = page.byte(payload + 9)
    core: Mask = (page.byte(payload + 8) != 0) | (first < 2)
    return core


def core_facts(parts: core.CoreParts) -> dict[str, Ints | Mask]:
    """Return the columns that are numbers and flags as they are stored."""
    return {
        "id": parts.id,
        "durable": parts.durable,
        "priority": parts.priority,
        "timestamp": parts.timestamp,
        "expiration": parts.expiration,
        "large": parts.large,
    }


def core_columns(batch: Batch, level: Detail) -> Columns:
    """Return the columns of the records up to ``level``; none if some are not regular (``batch.regular``)."""
    page, n = batch.page, len(batch.row)
    parts = core.core_parts(page, batch.payload, batch.length)
    batch.regular &= parts.regular
    queues = queue_lists(batch, parts.block_end)
    if not batch.regular.all():
        return {}
    out: Columns = {
        "tx": pa.array(parts.tx),
        "queues": queues,
        "protocol": repeated(("core",), n),
        "id": pa.array(parts.id),
        "timestamp": pa.array(parts.timestamp),
        "large": pa.array(parts.large),
    }
    if level < Detail.HEADERS:
        return out
    ids = user_ids(page, parts) if parts.has_user_id.any() else _NO_TEXT(n)
    out |= {name: pa.array(column) for name, column in core_facts(parts).items() if name not in out}
    out |= {
        "large_type": pa.array(parts.large_type.astype(np.int8)),
        "persister": pa.array(np.ones(n, np.int8), mask=parts.large | parts.old),
        "address": repeated_text(page, parts.address_at, parts.address_size, parts.has_address),
        "user_id": ids,
        "type": pa.array(parts.type.astype(np.int8)),
        "type_name": _type_names(parts.type),
        "body_size": pa.array(parts.body_size, mask=parts.large),
    }
    if level >= Detail.PROPERTIES:
        out["properties"] = property_maps(
            page, parts.properties_at, parts.block_end, batch.regular, frozenset(COMPRESSED)
        )
        out["amqp"] = _NO_AMQP(n)
    if level >= Detail.STRINGS and batch.regular.all():
        out["body_text"] = _core_texts(batch, parts)
    if level >= Detail.TEXTS and batch.regular.all():
        bytes_ = np.isin(parts.type, READABLE) & ~parts.large
        out["body_text"] = with_texts(out["body_text"], *readable_texts(page, parts.body_at, parts.body_size, bytes_))
    if level >= Detail.BODIES and batch.regular.all():
        out["body"] = slices(page, parts.body_at, parts.body_size, ~parts.large)
    return out


def user_ids(page: PageBytes, parts: core.CoreParts) -> pa.StringArray:
    """Return the user ids as UUID texts, null for messages without one."""
    have = parts.has_user_id
    text = core.uuid_texts(page, parts.user_id_at[have])
    offsets = np.concatenate(([0], np.cumsum(np.where(have, 36, 0)))).astype(np.int32)
    bits = pa.py_buffer(np.packbits(have, bitorder="little"))
    return pa.Array.from_buffers(STRING, len(have), [bits, pa.py_buffer(offsets), pa.py_buffer(text)])


def _core_texts(batch: Batch, parts: core.CoreParts) -> pa.StringArray:
    """Return the bodies of text messages: one nullable string that fills the body."""
    page = batch.page
    wanted = (parts.type == TEXT) & ~parts.large
    if not wanted.any():
        return _NO_TEXT(len(wanted))
    flag = page.byte(parts.body_at)
    size = page.i32(parts.body_at + 1)
    present = wanted & (parts.body_size > 0) & (flag != 0)
    batch.regular &= ~present | ((size >= 0) & (size % 2 == 0) & (size + 5 == parts.body_size))
    batch.regular &= ~(wanted & ~present) | (parts.body_size <= 1)
    if not batch.regular.all():
        return _NO_TEXT(len(wanted))
    return text_of_utf16(slices(page, parts.body_at + 5, size, present))
