"""Ordinary messages of a page as XML, a chunk at once; ``pagefmt.exchange.xml_writing`` is the reference.

What the document does not hold as it is (names and texts of other characters, characters as values, messages that are
not durable) is left to the reference, and so are large messages and AMQP messages of rare structures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints, Mask, distinct
from pagefmt.codec.messages.properties import double_of, float_of
from pagefmt.codec.messages.values import ValueKind
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import Layout, PageRecord
from pagefmt.describe.arrow_schema import Detail
from pagefmt.exchange.xml_writing import NOT_PLAIN, NULL_TEXT, UNFIT, property_frame, value_text, xml_text, xml_type
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.named_queues import ACK_STATES
from pagefmt.vectors.amqp.amqp_columns import may_be_amqp
from pagefmt.vectors.amqp.xml_templates import amqp_texts, rows_by_structure
from pagefmt.vectors.arrays.fragments import Cell, Part, Pool, Runs, as_runs, base64, either, url_safe
from pagefmt.vectors.arrays.json_text import java_text
from pagefmt.vectors.arrays.order import in_order
from pagefmt.vectors.arrays.strings import offsets_and_bytes, slices, text_of_utf16
from pagefmt.vectors.core import parts as core
from pagefmt.vectors.core import properties as props
from pagefmt.vectors.core.batch import Batch, queue_lists, read_regular
from pagefmt.vectors.core.core_columns import may_be_core, user_ids
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import PageFrames
from pagefmt.vectors.record_choice import opened_chunks
from pagefmt.vectors.routes.ack_state_columns import ack_state_columns
from pagefmt.vectors.routes.route_columns import IrregularPage, RouteColumns, route_columns

# The queues that a record names, in its order, with the acknowledgement state for each.
Routing = tuple[tuple[int, AckState], ...]
_MOST_QUEUES: Final = 20
_MOST_ROUTINGS: Final = 64
_MOST_QUEUE_TEXT: Final = 128 << 20  # characters; a chunk's text is in memory twice
_SMALL = 16 << 10  # bytes of a chunk whose messages are written one by one in less time
_LARGEST: Final = 32 << 20
# Bytes read at once. A chunk's messages of one structure cost little more than a single one.
XML_CHUNK: Final = 16 << 20
_SKIPPED, _WRITTEN, _BY_ITSELF = 0, 1, 2


@dataclass(frozen=True, slots=True)
class XmlTexts:
    """Finished elements, and message counts by routing, including messages for which no queue waits."""

    text: memoryview
    counts: tuple[tuple[Routing, int], ...] = ()


XmlItem = XmlTexts | tuple[PageRecord, Routing] | Damage


def xml_items(
    page: PageFile | PageInMemory, rule: PageRule, queues: Callable[[Routing], str | None]
) -> Iterator[XmlItem]:
    """Yield the messages and the damage of a page in order; messages that are not rendered come as records.

    ``queues`` returns the XML elements of the queues that wait for a message with this routing, or None if none waits.
    """
    for content, frames, opened in opened_chunks(page, chunk=XML_CHUNK):
        for item in _items(content, frames, opened, rule, queues):
            yield item
            if isinstance(item, Damage) and _stops_broker(item, frames, opened, rule):
                return
    if not frames.whole:
        with open_page(page) as whole:
            for _ in whole.frames():
                pass
            if whole.damage is not None:
                yield whole.damage


def joined_xml_items(
    content: PageBytes, frames: PageFrames, opened: Page, rule: PageRule, queues: Callable[[Routing], str | None]
) -> list[XmlItem] | None:
    """Return the messages of several pages in one buffer, as ``xml_items`` does; None if one of them is damaged."""
    items: list[XmlItem] = []
    for item in _items(content, frames, opened, rule, queues):
        if isinstance(item, Damage):
            return None
        items.append(item)
    return items


def _items(
    content: PageBytes, frames: PageFrames, opened: Page, rule: PageRule, queues: Callable[[Routing], str | None]
) -> Iterator[XmlItem]:
    """Yield the messages and the damage of a chunk in order."""
    kind, texts = np.full(len(frames.offset), _BY_ITSELF), pa.array([], pa.binary())
    try:
        if opened.strict_layout() is not Layout.OLD and _SMALL < content.size <= _LARGEST:
            kind, texts, counts = _chunk(content, frames, opened, rule, queues)
            yield XmlTexts(memoryview(b""), counts)
    except IrregularPage:
        pass
    left = np.flatnonzero(kind != _SKIPPED)
    written = np.cumsum(kind == _WRITTEN)
    turns = np.flatnonzero(kind[left][1:] != kind[left][:-1]) + 1
    for group in np.split(left, turns) if len(left) else ():
        if kind[group[0]] == _WRITTEN:
            yield XmlTexts(offsets_and_bytes(texts.slice(int(written[group[0]]) - 1, len(group)))[1].data)
            continue
        for n in group.tolist():
            at, length = int(frames.offset[n]), int(frames.length[n])
            record = opened.record(frames.number + n, at, length, opened.strict_layout())
            if isinstance(record, Damage):
                yield record
            else:
                yield record, tuple(rule.ack_states(frames.number + n, record.tx, record.queues))


def _stops_broker(damage: Damage, frames: PageFrames, opened: Page, rule: PageRule) -> bool:
    """Return whether a broker stops reading the page at a damaged record."""
    n = damage.number - frames.number
    thrown = opened.route(damage.number, int(frames.offset[n]), int(frames.length[n]))
    return isinstance(thrown, Damage) and rule.ending_at(damage.number).end is not None


def _chunk(
    content: PageBytes, frames: PageFrames, opened: Page, rule: PageRule, queues: Callable[[Routing], str | None]
) -> tuple[Ints, pa.BinaryArray, tuple[tuple[Routing, int], ...]]:
    """Return how each record is handled, the texts of the rendered ones, and the counts by routing.

    Counts cover records that are understood and rendered or skipped. Raises ``IrregularPage``.
    """
    which, routings = _routings(rule, route_columns(content, frames))
    waiting = [queues(routing) for routing in routings]
    wanted = np.array([item is not None for item in waiting], bool)[which]
    elements = [item or "" for item in waiting]
    if int(np.array([len(item) for item in elements], np.int64)[which].sum()) > _MOST_QUEUE_TEXT:
        raise IrregularPage("queue elements")
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
        render = partial(make, elements=elements, which=which)
        rows, texts = read_regular(content, frames, rows, render)
        if texts is not None:
            kind[rows] = _WRITTEN
            written.append((rows, texts))
    texts = in_order(written, pa.concat_arrays) if written else pa.array([], pa.binary())
    counts = np.bincount(which[kind != _BY_ITSELF], minlength=len(routings)).tolist()
    return kind, texts, tuple((item, count) for item, count in zip(routings, counts, strict=True) if count)


def _alike(content: PageBytes, frames: PageFrames, rows: Ints) -> Iterator[Ints]:
    if len(rows):
        for some in rows_by_structure(content, frames.offset[rows] + 5, frames.length[rows]):
            yield rows[some]


def _routings(rule: PageRule, routes: RouteColumns) -> tuple[Ints, list[Routing]]:
    """Return each record's index into the list of the distinct routings, and that list.

    Raises ``IrregularPage`` if there are many queues or routings, or queues in several orders.
    """
    keys, which = np.zeros(len(routes), np.int64), np.zeros(len(routes), np.int64)
    places: dict[int, int] = {}
    routings: list[Routing] = []
    for queue, rows, codes in ack_state_columns(rule, routes):
        places[queue] = 3 * len(places)
        if len(places) > _MOST_QUEUES:
            raise IrregularPage("queues")
        # Three bits of the key per queue hold its state plus 1, 0 if the record does not name the queue.
        keys[rows] |= (codes.astype(np.int64) + 1) << places[queue]
    for named in routes.named:
        mine = np.arange(len(routes))[named.rows]
        for key in distinct(keys[mine]).tolist():
            rows_of_key = np.flatnonzero(keys[mine] == key)
            ids = named.ids[rows_of_key]
            if len(routings) == _MOST_ROUTINGS or (ids != ids[0]).any():
                raise IrregularPage("routings")
            which[mine[rows_of_key]] = len(routings)
            once = dict.fromkeys(ids[0].tolist())
            routings.append(tuple((queue, ACK_STATES[(key >> places[queue] & 7) - 1]) for queue in once))
    return which, routings


def _texts(batch: Batch, elements: list[str], which: Ints) -> pa.BinaryArray | None:
    """Return the elements of the messages, or None if some are not regular."""
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
    types = np.array([pool.constant(xml_type(code - 128)) for code in range(256)], np.int32)
    lines: list[Part] = [
        pool.constant('      <message id="'),
        pool.numbers(parts.id),
        pool.constant('" priority="'),
        pool.numbers(parts.priority),
        pool.constant('" expiration="'),
        pool.numbers(parts.expiration),
        pool.constant('" timestamp="'),
        pool.numbers(parts.timestamp),
        pool.constant('" type="'),
        types[parts.type + 128],
        *_users(page, parts, pool),
        pool.constant('">\n         <properties>\n'),
        properties,
        pool.constant("         </properties>\n         <queues>\n"),
        pool.texts(elements)[which[batch.row]],
        pool.constant("         </queues>\n         <body>\n            <![CDATA["),
        *base64(page, parts.body_at, parts.body_size, url_safe),
        pool.constant("]]>\n         </body>\n      </message>\n"),
    ]
    return pool.joined(len(batch.row), lines)


def _users(page: PageBytes, parts: core.CoreParts, pool: Pool) -> list[Part]:
    if not parts.has_user_id.any():
        return []
    return [either(parts.has_user_id, pool.constant('" user-id="'), pool.constant("")), pool.add(user_ids(page, parts))]


def _properties(page: PageBytes, entries: props.Entries, regular: Mask, pool: Pool) -> Runs:
    """Return the properties in the order of the messages.

    Clear ``regular`` if only the reference can write a message.
    """
    names = props.raw_keys(page, entries)
    regular &= ~props.repeated_keys(entries.offsets, names)
    texts_of_names, code = [java_text(raw) for raw in names.dictionary.to_pylist()], entries.type
    combined = np.asarray(names.indices).astype(np.int64) << 8 | code
    leads, closes = np.zeros(len(texts_of_names) << 8, np.int32), np.zeros(256, np.int32)
    odd = np.zeros(len(code), bool)
    for pair in distinct(combined).tolist():
        lead, close, unfit = property_frame(texts_of_names[pair >> 8], ValueKind(props.NAMES[pair & 0xFF]))
        leads[pair], closes[pair & 0xFF] = pool.constant(lead), pool.constant(close)
        if unfit or not close:
            odd |= combined == pair
    content = np.zeros(len(code), np.int32)
    for kind in distinct(code.astype(np.int64)).tolist():
        rows = np.flatnonzero(code == kind)
        content[rows] = _contents(page, kind, entries.value_at[rows], entries.value_size[rows], pool, odd, rows)
    regular[np.searchsorted(entries.offsets, np.flatnonzero(odd), "right") - 1] = False
    flat = as_runs(len(code), [leads[combined], content, closes[code]])
    return Runs(3 * np.diff(entries.offsets), flat.codes)


def _contents(page: PageBytes, kind: int, at: Ints, size: Ints, pool: Pool, odd: Mask, rows: Ints) -> Cell:
    match kind:
        case props.NULL:
            return pool.constant(NULL_TEXT)
        case props.BOOLEAN:
            return pool.flags(page.byte(at) != 0)
        case props.BYTE | props.SHORT | props.INT | props.LONG:
            read = {props.BYTE: page.i8, props.SHORT: page.i16, props.INT: page.i32}.get(kind, page.i64)
            return pool.numbers(read(at))
        case props.BYTES:
            return pool.base64(page, at, size, url_safe)
        case props.FLOAT | props.DOUBLE:
            bits = page.i32(at) & 0xFFFFFFFF if kind == props.FLOAT else page.i64(at).view(np.uint64)
            value = float_of if kind == props.FLOAT else double_of
            several, which = np.unique(bits, return_inverse=True)
            return pool.texts(value_text(value(pattern)) for pattern in several.tolist())[which]
        case props.TEXT:
            return pool.add(_strings(slices(page, at, size), odd, rows))
        case _:
            return pool.constant("")


def _strings(raw: pa.BinaryArray, odd: Mask, rows: Ints) -> pa.Array:
    texts = text_of_utf16(raw)
    unusual = np.flatnonzero(np.asarray(pc.match_substring_regex(texts, NOT_PLAIN.pattern)))
    odd[rows[np.flatnonzero(np.asarray(pc.equal(texts, NULL_TEXT)))]] = True
    if not len(unusual):
        return texts
    mask, by = np.zeros(len(texts), bool), []
    mask[unusual] = True
    for n in unusual.tolist():
        text = java_text(raw[n].as_py())
        odd[rows[n]] |= UNFIT.search(text) is not None
        by.append(xml_text(text))
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(by, pa.string()))
