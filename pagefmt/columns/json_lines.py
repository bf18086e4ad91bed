"""JSON Lines of ordinary core messages, headers and properties, from columns: the same text as the reference gives.

The text of every entry and of every header field is made for a whole page at once; a line is their joining. Records
that are not regular, large messages, AMQP messages and texts with lone surrogates are left to the reference decoder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pagefmt.columns import core
from pagefmt.columns import properties as props
from pagefmt.columns.batch import Batch, queue_lists
from pagefmt.columns.core_columns import may_be_core, user_ids
from pagefmt.columns.gather import Ints, PageBytes
from pagefmt.columns.pieces import pieces
from pagefmt.columns.scan import Frames
from pagefmt.columns.state_columns import state_columns
from pagefmt.columns.strings import slices, text_of_utf16
from pagefmt.columns.table import PageSource
from pagefmt.core_message import TYPE_NAMES
from pagefmt.fates import PageRule
from pagefmt.frames import Damage, stopped_at
from pagefmt.outstanding import StoreState
from pagefmt.page import Page, open_page
from pagefmt.paging import PageFile, Store
from pagefmt.selection import Picked
from pagefmt.values_json import float_json, special_json, utf16_order

REPLACEMENT: Final = "\ufffd"
Item = str | Picked | Damage


def picked_lines(page: PageFile, state: StoreState | None, store: Store, *, body_size: bool) -> Iterator[Item]:
    """As ``selection.pick`` without a choice, with the finished line (no line end) in the place of most messages."""
    rule = None if state is None else state.rule(page.number)
    source = PageSource(page.path, page.number, store.name, store.address, rule)
    for content, frames in pieces(page.path):
        opened = Page(memoryview(content.buffer)[: content.size])
        for n, line in enumerate(_lines(content, frames, source, body_size)):
            if line is not None and REPLACEMENT not in line:
                yield line
            else:
                yield _careful(opened, page, frames, n, rule)
    if frames.end < content.size:
        with open_page(page.path) as whole:
            yield stopped_at(whole.buf, frames.base + frames.end, frames.number + len(frames.offset))


def _careful(opened: Page, page: PageFile, frames: Frames, n: int, rule: PageRule | None) -> Picked | Damage:
    number, offset = frames.number + n, int(frames.offset[n])
    record = replace(opened.record(number, offset, int(frames.length[n]), None), offset=offset + frames.base)
    if isinstance(record, Damage):
        return record
    return Picked(page, number, record, None if rule is None else rule.acked_by(number, record.queues))


def _lines(content: PageBytes, frames: Frames, source: PageSource, body_size: bool) -> list[str | None]:
    out: list[str | None] = [None] * len(frames.offset)
    payload = frames.offset + 5
    row = np.flatnonzero(may_be_core(content, payload) & (content.byte(payload + 8) == 0))
    found = None
    while len(row) and found is None:
        batch = Batch(content, row, payload[row], frames.length[row], np.ones(len(row), bool))
        found = _read(batch)
        row = row[batch.regular]
    if found is None:
        return out
    for n, line in zip(row.tolist(), _joined(found, frames, source, body_size), strict=True):
        out[n] = line
    return out


@dataclass(slots=True)
class _Found:
    batch: Batch
    parts: core.CoreParts
    queues: pa.ListArray
    entries: props.Entries
    names: pa.DictionaryArray


def _read(batch: Batch) -> _Found | None:
    """Everything of the records; None where some are not regular (they are marked)."""
    page = batch.page
    parts = core.core_parts(page, batch.payload, batch.length)
    batch.regular &= parts.regular
    queues = queue_lists(batch, parts.block_end)
    entries, fine = props.read_entries(page, parts.properties_at, parts.block_end, batch.regular)
    batch.regular &= fine
    if not batch.regular.all():
        return None
    names = props.keys(page, entries)
    batch.regular &= ~props.repeated_keys(entries.offsets, names)
    return _Found(batch, parts, queues, entries, names) if batch.regular.all() else None


def _joined(found: _Found, frames: Frames, source: PageSource, body_size: bool) -> Iterator[str]:
    batch, parts, page = found.batch, found.parts, found.batch.page
    number, tx = batch.row + frames.number, page.i64(batch.payload)
    head = f'{{"store":{_quoted(source.store)},"store_address":{_quoted(source.address)},"page":{source.page},"number":'
    acked = [""] * len(number)
    if source.rule is not None:
        done, _ = state_columns(source.rule, number, tx, found.queues)
        acked = [f',"acked_by":[{text}]' for text in _list_texts(done)]
    persister = np.where(parts.old, -1, 1)
    sizes = parts.body_size.tolist() if body_size else [None] * len(number)
    columns = zip(
        number.tolist(), (frames.offset[batch.row] + frames.base).tolist(), batch.length.tolist(), tx.tolist(),
        _list_texts(found.queues), persister.tolist(), parts.id.tolist(), _addresses(page, parts), _kinds(parts),
        parts.timestamp.tolist(), parts.expiration.tolist(), user_ids(page, parts).to_pylist(), parts.type.tolist(),
        _property_texts(page, found), sizes, acked, strict=True,
    )  # fmt: skip
    types = {code: f'"type":{code},"type_name":{_quoted(TYPE_NAMES.get(code))}' for code in set(parts.type.tolist())}
    for (
        n,
        offset,
        length,
        t,
        queues,
        p,
        id_,
        address,
        kind,
        stamp,
        expires,
        user,
        code,
        texts,
        size,
        done_text,
    ) in columns:
        yield (
            f'{head}{n},"offset":{offset},"length":{length},"tx":{t},"queues":[{queues}],"large_type":0,"persister":'
            f'{1 if p == 1 else "null"},"protocol":"core","id":{id_},"address":{address},{kind},"timestamp":{stamp},'
            f'"expiration":{expires},"user_id":{_quoted(user)},{types[code]},"large":false,"large_id":null,'
            f'"large_file":null,"large_size":null,"properties":[{texts}]'
            f"{'' if size is None else _SIZE + str(size)}{done_text}}}"
        )


_SIZE: Final = ',"body_size":'


def _quoted(text: str | None) -> str:
    return "null" if text is None else str(encode_basestring(text))


def _kinds(parts: core.CoreParts) -> list[str]:
    """Durable and priority: few combinations."""
    texts = {}
    for key in set(zip(parts.durable.tolist(), parts.priority.tolist(), strict=True)):
        texts[key] = f'"durable":{"true" if key[0] else "false"},"priority":{key[1]}'
    return [texts[key] for key in zip(parts.durable.tolist(), parts.priority.tolist(), strict=True)]


def _addresses(page: PageBytes, parts: core.CoreParts) -> list[str]:
    coded = slices(page, parts.address_at, parts.address_size, parts.has_address).dictionary_encode()
    texts = [_quoted(text) for text in text_of_utf16(coded.dictionary).to_pylist()]
    return [texts[code] if code is not None else "null" for code in coded.indices.to_pylist()]


def _list_texts(lists: pa.ListArray) -> list[str]:
    """The inside of the JSON lists."""
    offsets, values = np.asarray(lists.offsets).tolist(), np.asarray(lists.values).tolist()
    known: dict[tuple[int, ...], str] = {}
    out = []
    for start, end in pairwise(offsets):
        key = tuple(values[start:end])
        text = known.get(key)
        if text is None:
            text = known[key] = ",".join(map(str, key))
        out.append(text)
    return out


def _property_texts(page: PageBytes, found: _Found) -> list[str]:
    """The inside of each message's property list, sorted by name."""
    entries, names = found.entries, found.names
    if not len(entries.type):
        return [""] * (len(entries.offsets) - 1)
    known = names.dictionary.to_pylist()
    code = np.asarray(names.indices).astype(np.int64)
    rank = np.empty(len(known), np.int64)
    rank[sorted(range(len(known)), key=lambda n: utf16_order(known[n]))] = np.arange(len(known))
    message = np.repeat(np.arange(len(entries.offsets) - 1), np.diff(entries.offsets))
    order = np.argsort(message * len(known) + rank[code], kind="stable")
    prefixes = [
        f'{{"name":{_quoted(name)},"type":"{kind}","value":' for name in known for kind in props.NAMES
    ]  # fmt: skip
    which = (code * len(props.NAMES) + entries.type)[order].tolist()
    values = _value_texts(page, entries, order)
    texts = [prefixes[n] + value for n, value in zip(which, values, strict=True)]
    at = entries.offsets.tolist()
    return [",".join(texts[start:end]) for start, end in pairwise(at)]


def _value_texts(page: PageBytes, entries: props.Entries, order: Ints) -> list[str]:
    """Each value with what stands behind it up to the closing brace, in the order given."""
    code, at, size = entries.type, entries.value_at, entries.value_size
    out = np.empty(len(code), object)
    for kind in np.unique(code).tolist():
        here = np.flatnonzero(code == kind)
        out[here] = _TEXTS[kind](page, at[here], size[here])
    return list(out[order])


def _whole(read: str) -> Callable[[PageBytes, Ints, Ints], list[str]]:
    return lambda page, at, size: [f"{value}}}" for value in getattr(page, read)(at).tolist()]


def _strings(page: PageBytes, at: Ints, size: Ints) -> list[str]:
    encode: Any = encode_basestring
    return [encode(text) + "}" for text in text_of_utf16(slices(page, at, size)).to_pylist()]


def _bytes(page: PageBytes, at: Ints, size: Ints) -> list[str]:
    return [f'"{value.hex()}"}}' for value in slices(page, at, size).to_pylist()]


def _booleans(page: PageBytes, at: Ints, size: Ints) -> list[str]:
    return ["true}" if value else "false}" for value in page.byte(at).tolist()]


def _floats(page: PageBytes, at: Ints, size: Ints) -> list[str]:
    bits = (page.i32(at) & 0xFFFFFFFF).tolist()
    return [f'{json.dumps(float_json(v))},"bits":"{b:08x}"}}' for v, b in zip(page.f32(at).tolist(), bits, strict=True)]


def _doubles(page: PageBytes, at: Ints, size: Ints) -> list[str]:
    bits = page.i64(at).view(np.uint64).tolist()
    values = page.f64(at).tolist()
    return [f'{_double(v)},"bits":"{b:016x}"}}' for v, b in zip(values, bits, strict=True)]


def _double(value: float) -> str:
    return repr(value) if math.isfinite(value) else _quoted(special_json(value))


_TEXTS: Final[dict[int, Callable[[PageBytes, Ints, Ints], list[str]]]] = {
    props.NULL: lambda page, at, size: ["null}"] * len(at),
    props.BOOLEAN: _booleans,
    props.BYTE: _whole("i8"),
    props.SHORT: _whole("i16"),
    props.INT: _whole("i32"),
    props.LONG: _whole("i64"),
    props.CHAR: lambda page, at, size: [f"{value & 0xFFFF}}}" for value in page.i16(at).tolist()],
    props.FLOAT: _floats,
    props.DOUBLE: _doubles,
    props.TEXT: _strings,
    props.BYTES: _bytes,
}
