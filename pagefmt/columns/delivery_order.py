"""The order in which a broker that starts delivers what a queue waits for (docs/spec/journal.md 7.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.arrays.schema import Detail
from pagefmt.columns.origin_columns import note_schedules, set_apart
from pagefmt.columns.page import decode_page
from pagefmt.columns.wanted_records import opened_chunks, wanted_records
from pagefmt.editions import Edition
from pagefmt.messages.amqp_message import DEFAULT_PRIORITY
from pagefmt.messages.persisters import AMQP
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.origins import PageOrigin
from pagefmt.outstanding.route_columns import IrregularPage
from pagefmt.outstanding.schedules import amqp_at_default
from pagefmt.pages.chunks import FilePart
from pagefmt.pages.gather import Ints, Mask, PageBytes
from pagefmt.pages.paging import PageFile
from pagefmt.pages.record import FRAME


class PageTurn(NamedTuple):
    """Messages of a page that a broker delivers together when it has read the page; ``numbers``: which, ``part`` has
    them all. ``late``: their time is over: they come ahead of others of their priority."""

    priority: int
    late: bool
    numbers: Ints
    part: FilePart


def page_turns(
    page: PageFile, rule: PageRule | None, choice: MessageFilter, origin: PageOrigin, edition: Edition
) -> list[PageTurn] | None:
    """The messages of a page that ``choice`` takes, by priority, scheduled ones set apart in ``origin``; None where
    they have to be read one by one."""
    keys, numbers, starts, ends = [], [], [], []
    frames = None
    for content, frames, opened in opened_chunks(page):
        try:
            mask = wanted_records(content, frames, rule, choice, opened.strict_layout())
        except IrregularPage:
            return None
        found = decode_page(content, page.number, Detail.HEADERS, frames, opened.layout())
        if found.odd or found.cut is not None:
            return None
        note_schedules(origin, content, opened, frames)
        set_apart(origin, frames, mask)
        rows = np.flatnonzero(mask)
        late = np.isin(rows + frames.number, list(origin.scheduled))
        keys.append(_priorities(found.table, edition)[rows] * 2 + late)
        numbers.append(rows + frames.number)
        starts.append(frames.offset[rows] + frames.base)
        ends.append(starts[-1] + frames.length[rows] + FRAME)
    if frames is None or not frames.whole:
        return None
    key, number, start, end = map(np.concatenate, (keys, numbers, starts, ends))
    turns = []
    for each in np.unique(key).tolist():
        mine = np.flatnonzero(key == each)
        part = FilePart(int(start[mine[0]]), int(number[mine[0]]), int(end[mine[-1]]))
        turns.append(PageTurn(each // 2, bool(each % 2), number[mine], part))
    return turns


def _priorities(known: pa.RecordBatch, edition: Edition, looked_into: Mask | None = None) -> Ints:
    """Of messages, given their headers."""
    priority = pc.fill_null(known.column("priority"), DEFAULT_PRIORITY)
    if looked_into is not None and amqp_at_default(edition):
        unread = pc.is_in(known.column("persister"), pa.array(AMQP, known.column("persister").type))
        unread = pc.and_not(unread, pa.array(looked_into))
        priority = pc.if_else(unread, DEFAULT_PRIORITY, priority)
    return np.asarray(priority).astype(np.int64)


def delivery_order(parts: JournalParts, queue: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Numbers of the messages that are due with their priorities, and of those that are scheduled with their times.

    Those of a higher priority come first, those of one priority in the order of arrival; scheduled ones at their time.
    Some editions do not look into AMQP messages for their priority.
    """
    waiting, times = parts.due(queue)
    due = waiting[times == 0]
    of_message = np.full(len(parts.messages), DEFAULT_PRIORITY, np.int16)
    for part in parts.parts(due):
        if isinstance(part, JournalPart):
            known = decode_page(PageBytes(part.page.content), 0, Detail.HEADERS).table
            mine = part.origin.numbers[: len(known)]
            of_message[mine] = _priorities(known, parts.start.edition, parts.looked_into[mine])
    priority = of_message[due]
    order = np.argsort(-priority, kind="stable")
    later = np.flatnonzero(times)
    later = later[np.argsort(times[later], kind="stable")]
    return due[order], priority[order], waiting[later], times[later]
