"""Ordinary messages of a page as XML, a chunk at once; ``pagefmt.exchange.xml_writing`` is the reference.

What the document does not hold as it is (names and texts of other characters, characters as values, messages that are
not durable) is left to the reference, and so are large messages and AMQP messages of rare structures.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.amqp.amqp_columns import may_be_amqp
from pagefmt.columns.amqp.xml_forms import alike_rows, amqp_texts
from pagefmt.columns.arrays.fragments import Cell, Codes, Part, Pool, Runs, as_runs, either
from pagefmt.columns.arrays.json_text import java_text
from pagefmt.columns.arrays.order import in_order
from pagefmt.columns.arrays.schema import Detail
from pagefmt.columns.arrays.strings import slices, text_of_utf16
from pagefmt.columns.core import parts as core
from pagefmt.columns.core import properties as props
from pagefmt.columns.core.batch import Batch, queue_lists, read_regular
from pagefmt.columns.core.core_columns import may_be_core, user_ids
from pagefmt.columns.page import decode_page
from pagefmt.columns.wanted_records import opened_chunks
from pagefmt.exchange.xml_writing import NOT_PLAIN, NULL_TEXT, TYPES, UNFIT, property_frame, value_text, xml_text
from pagefmt.messages.properties import double_of, float_of
from pagefmt.messages.values import ValueKind
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.ack_state_columns import ACK_STATES, ack_state_columns
from pagefmt.outstanding.route_columns import IrregularPage, RouteColumns, route_columns
from pagefmt.pages.frames import Damage
from pagefmt.pages.gather import Ints, Mask, PageBytes, distinct
from pagefmt.pages.in_memory import PageInMemory
from pagefmt.pages.page import Page, open_page
from pagefmt.pages.paging import PageFile
from pagefmt.pages.record import Layout, PageRecord
from pagefmt.pages.scan import PageFrames

Routing = tuple[tuple[int, AckState], ...]
"""The queues that a record names, in its order, and what becomes of it for each."""
_MOST_QUEUES: Final = 20
_MOST_ROUTINGS: Final = 64
_SMALL = 16 << 10  # bytes of a chunk whose messages are written one by one in less time
_LARGEST: Final = 16 << 20
_SKIPPED, _WRITTEN, _BY_ITSELF = 0, 1, 2


@dataclass(frozen=True, slots=True)
class XmlTexts:
    """Finished elements, and how many messages have which routing: those of the text, and those nobody waits for."""

    text: str
    counts: tuple[tuple[Routing, int], ...] = ()


XmlItem = XmlTexts | tuple[PageRecord, Routing] | Damage


def xml_items(
    page: PageFile | PageInMemory, rule: PageRule, queues: Callable[[Routing], str | None]
) -> Iterator[XmlItem]:
    """The messages of a page in their order, and what is damaged in it. ``queues``: the elements of the queues that
    wait for a message with this routing, None where none does. Messages that are not written come as records."""
    for content, frames, opened in opened_chunks(page):
        kind, texts = np.full(len(frames.offset), _BY_ITSELF), pa.array([], pa.binary())
        try:
            if opened.strict_layout() is not Layout.OLD and _SMALL < content.size <= _LARGEST:
                kind, texts, counts = _chunk(content, frames, opened, rule, queues)
                yield XmlTexts("", counts)
        except IrregularPage:
            pass
        left = np.flatnonzero(kind != _SKIPPED)
        written = np.cumsum(kind == _WRITTEN)
        turns = np.flatnonzero(kind[left][1:] != kind[left][:-1]) + 1
        for some in np.split(left, turns) if len(left) else ():
            if kind[some[0]] == _WRITTEN:
                yield XmlTexts(_joined(texts.slice(int(written[some[0]]) - 1, len(some))))
                continue
            for n in some.tolist():
                at, length = int(frames.offset[n]), int(frames.length[n])
                thrown = opened.route(frames.number + n, at, length)
                found = opened.record(frames.number + n, at, length, opened.strict_layout())
                if isinstance(found, Damage):
                    yield found
                    if isinstance(thrown, Damage) and rule.ending_at(frames.number + n).end is not None:
                        return  # a broker stops reading the page here
                else:
                    yield found, tuple(rule.ack_states(frames.number + n, found.tx, found.queues))
    if not frames.whole:
        with open_page(page) as whole:
            for _ in whole.frames():
                pass
            if whole.damage is not None:
                yield whole.damage


def _joined(texts: pa.BinaryArray) -> str:
    _, offsets, content = texts.buffers()
    at = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return str(memoryview(content)[int(at[0]) : int(at[-1])], "utf-8")


def _chunk(
    content: PageBytes, frames: PageFrames, opened: Page, rule: PageRule, queues: Callable[[Routing], str | None]
) -> tuple[Ints, pa.BinaryArray, tuple[tuple[Routing, int], ...]]:
    """What is done with each record, the texts of those that are written, and what is counted of them and of the
    others that are understood. Raises ``IrregularPage``."""
    which, known = _routings(rule, route_columns(content, frames))
    elements = [queues(routing) for routing in known]
    wanted = np.array([each is not None for each in elements], bool)[which]
    kind = np.where(wanted, _BY_ITSELF, _SKIPPED)
    if not wanted.all():
        for row in decode_page(content, 0, Detail.PROPERTIES, frames, opened.layout()).odd:
            kind[row] = _BY_ITSELF
    payload = frames.offset + 5
    ordinary = wanted & (content.byte(payload + 8) == 0)
    written: list[tuple[Ints, pa.BinaryArray]] = []
    for rows, make in (
        (np.flatnonzero(ordinary & may_be_core(content, payload)), _texts),
        *(
            (rows, amqp_texts)
            for rows in _alike(content, frames, np.flatnonzero(ordinary & may_be_amqp(content, payload)))
        ),
    ):
        made = partial(make, elements=[each or "" for each in elements], which=which)
        rows, texts = read_regular(content, frames, rows, made)
        if texts is not None:
            kind[rows] = _WRITTEN
            written.append((rows, texts))
    texts = in_order(written, pa.concat_arrays) if written else pa.array([], pa.binary())
    counts = np.bincount(which[kind != _BY_ITSELF], minlength=len(known)).tolist()
    return kind, texts, tuple((each, count) for each, count in zip(known, counts, strict=True) if count)


def _alike(content: PageBytes, frames: PageFrames, rows: Ints) -> Iterator[Ints]:
    if len(rows):
        for some in alike_rows(content, frames.offset[rows] + 5, frames.length[rows]):
            yield rows[some]


def _routings(rule: PageRule, routes: RouteColumns) -> tuple[Ints, list[Routing]]:
    """Which routing each record has. Raises ``IrregularPage`` where there are many, or queues in several orders."""
    keys, which = np.zeros(len(routes), np.int64), np.zeros(len(routes), np.int64)
    places: dict[int, int] = {}
    known: list[Routing] = []
    for queue, rows, codes in ack_state_columns(rule, routes):
        places[queue] = 3 * len(places)
        if len(places) > _MOST_QUEUES:
            raise IrregularPage("queues")
        keys[rows] |= (codes.astype(np.int64) + 1) << places[queue]
    for each in routes.named:
        mine = np.arange(len(routes))[each.rows]
        for key in distinct(keys[mine]).tolist():
            here = np.flatnonzero(keys[mine] == key)
            ids = each.ids[here]
            if len(known) == _MOST_ROUTINGS or (ids != ids[0]).any():
                raise IrregularPage("routings")
            which[mine[here]] = len(known)
            once = dict.fromkeys(ids[0].tolist())
            known.append(tuple((queue, ACK_STATES[(key >> places[queue] & 7) - 1]) for queue in once))
    return which, known


def _texts(batch: Batch, elements: list[str], which: Ints) -> pa.BinaryArray | None:
    """The elements of the messages; None where some are not regular."""
    page, parts, pool = batch.page, core.core_parts(batch.page, batch.payload, batch.length), Pool()
    batch.regular &= parts.regular & ~parts.large & parts.durable
    queue_lists(batch, parts.block_end)
    if not batch.regular.all():
        return None
    entries, fine = props.read_entries(page, parts.properties_at, parts.block_end, batch.regular)
    batch.regular &= fine
    if not batch.regular.all():
        return None
    properties = _properties(page, entries, batch.regular, pool)
    if not batch.regular.all():
        return None
    types = np.array([pool.constant(TYPES.get(code - 128, "default")) for code in range(256)], np.int32)
    lines: list[Part] = [
        pool.constant('      <message id="'), pool.numbers(parts.id),
        pool.constant('" priority="'), pool.numbers(parts.priority),
        pool.constant('" expiration="'), pool.numbers(parts.expiration),
        pool.constant('" timestamp="'), pool.numbers(parts.timestamp),
        pool.constant('" type="'), types[parts.type + 128], *_users(page, parts, pool),
        pool.constant('">\n         <properties>\n'), properties,
        pool.constant("         </properties>\n         <queues>\n"), pool.texts(elements)[which[batch.row]],
        pool.constant("         </queues>\n         <body>\n            <![CDATA["),
        _encoded(page, parts.body_at, parts.body_size, pool),
        pool.constant("]]>\n         </body>\n      </message>\n"),
    ]  # fmt: skip
    return pool.joined(len(batch.row), lines)


def _users(page: PageBytes, parts: core.CoreParts, pool: Pool) -> list[Part]:
    if not parts.has_user_id.any():
        return []
    return [either(parts.has_user_id, pool.constant('" user-id="'), pool.constant("")), pool.add(user_ids(page, parts))]


def _encoded(page: PageBytes, at: Ints, size: Ints, pool: Pool) -> Codes:
    content, ends = memoryview(page.buffer), (at + size).tolist()
    bodies = [urlsafe_b64encode(content[first:end]) for first, end in zip(at.tolist(), ends, strict=True)]
    return pool.add(pa.array(bodies, pa.binary()))


def _properties(page: PageBytes, entries: props.Entries, regular: Mask, pool: Pool) -> Runs:
    """In the order of the messages; ``regular`` is cleared where the reference has to write a message."""
    names = props.raw_keys(page, entries)
    regular &= ~props.repeated_keys(entries.offsets, names)
    known, code = [java_text(raw) for raw in names.dictionary.to_pylist()], entries.type
    combined = np.asarray(names.indices).astype(np.int64) << 8 | code
    leads, closes = np.zeros(len(known) << 8, np.int32), np.zeros(256, np.int32)
    odd = np.zeros(len(code), bool)
    for each in distinct(combined).tolist():
        lead, close, unfit = property_frame(known[each >> 8], ValueKind(props.NAMES[each & 0xFF]))
        leads[each], closes[each & 0xFF] = pool.constant(lead), pool.constant(close)
        if unfit or not close:
            odd |= combined == each
    content = np.zeros(len(code), np.int32)
    for kind in distinct(code.astype(np.int64)).tolist():
        here = np.flatnonzero(code == kind)
        content[here] = _contents(page, kind, entries.value_at[here], entries.value_size[here], pool, odd, here)
    regular[np.searchsorted(entries.offsets, np.flatnonzero(odd), "right") - 1] = False
    flat = as_runs(len(code), [leads[combined], content, closes[code]])
    return Runs(3 * np.diff(entries.offsets), flat.codes)


def _contents(page: PageBytes, kind: int, at: Ints, size: Ints, pool: Pool, odd: Mask, here: Ints) -> Cell:
    match kind:
        case props.NULL:
            return pool.constant(NULL_TEXT)
        case props.BOOLEAN:
            return pool.flags(page.byte(at) != 0)
        case props.BYTE | props.SHORT | props.INT | props.LONG:
            read = {props.BYTE: page.i8, props.SHORT: page.i16, props.INT: page.i32}.get(kind, page.i64)
            return pool.numbers(read(at))
        case props.BYTES:
            return _encoded(page, at, size, pool)
        case props.FLOAT | props.DOUBLE:
            bits = page.i32(at) & 0xFFFFFFFF if kind == props.FLOAT else page.i64(at).view(np.uint64)
            value = float_of if kind == props.FLOAT else double_of
            several, which = np.unique(bits, return_inverse=True)
            return pool.texts(value_text(value(each)) for each in several.tolist())[which]
        case props.TEXT:
            return pool.add(_strings(slices(page, at, size), odd, here))
        case _:
            return pool.constant("")


def _strings(raw: pa.BinaryArray, odd: Mask, here: Ints) -> pa.Array:
    texts = text_of_utf16(raw)
    unusual = np.flatnonzero(np.asarray(pc.match_substring_regex(texts, NOT_PLAIN.pattern)))
    odd[here[np.flatnonzero(np.asarray(pc.equal(texts, NULL_TEXT)))]] = True
    if not len(unusual):
        return texts
    mask, by = np.zeros(len(texts), bool), []
    mask[unusual] = True
    for n in unusual.tolist():
        text = java_text(raw[n].as_py())
        odd[here[n]] |= UNFIT.search(text) is not None
        by.append(xml_text(text))
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(by, pa.string()))
