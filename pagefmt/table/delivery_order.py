"""The order in which a broker that starts delivers what a queue waits for (docs/spec/journal.md 7.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.amqp_message import DEFAULT_PRIORITY
from pagefmt.codec.messages.persisters import AMQP
from pagefmt.codec.pages.file_part import FilePart
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME
from pagefmt.describe.arrow_schema import Detail
from pagefmt.editions import Edition
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.message_location import PageOrigin
from pagefmt.outstanding.schedules import amqp_at_default
from pagefmt.table.location_columns import note_schedules, set_apart
from pagefmt.vectors import IrregularPage, PageBytes, decode_page, opened_chunks, wanted_records


class PageTurn(NamedTuple):
    """Messages of a page that a broker delivers together once it has read the page.

    ``numbers``: their numbers within ``part``. ``late``: messages whose scheduled time has passed, which come before
    others of their priority.
    """

    priority: int
    late: bool
    numbers: Ints
    part: FilePart


def page_turns(
    page: PageFile, rule: PageRule | None, choice: MessageFilter, origin: PageOrigin, edition: Edition
) -> list[PageTurn] | None:
    """Return the messages of a page that ``choice`` selects, by priority; scheduled ones are set apart in ``origin``.

    None if they have to be read one by one.
    """
    keys, numbers, starts, ends = [], [], [], []
    frames = None
    for content, frames, opened in opened_chunks(page):
        try:
            mask = wanted_records(content, frames, rule, choice, opened.strict_layout())
        except IrregularPage:
            return None
        decoded = decode_page(content, page.number, Detail.HEADERS, frames, opened.layout())
        if decoded.odd or decoded.cut is not None:
            return None
        note_schedules(origin, content, opened, frames)
        set_apart(origin, frames, mask)
        rows = np.flatnonzero(mask)
        late = np.isin(rows + frames.number, list(origin.scheduled))
        keys.append(_priorities(decoded.table, edition)[rows] * 2 + late)
        numbers.append(rows + frames.number)
        starts.append(frames.offset[rows] + frames.base)
        ends.append(starts[-1] + frames.length[rows] + FRAME)
    if frames is None or not frames.whole:
        return None
    key, number, start, end = map(np.concatenate, (keys, numbers, starts, ends))
    turns = []
    for turn in np.unique(key).tolist():
        mine = np.flatnonzero(key == turn)
        part = FilePart(int(start[mine[0]]), int(number[mine[0]]), int(end[mine[-1]]))
        turns.append(PageTurn(turn // 2, bool(turn % 2), number[mine], part))
    return turns


def _priorities(headers: pa.RecordBatch, edition: Edition, looked_into: Mask | None = None) -> Ints:
    """Return the priority by which a broker orders each message, from the columns of headers."""
    priority = pc.fill_null(headers.column("priority"), DEFAULT_PRIORITY)
    if looked_into is not None and amqp_at_default(edition):
        unread = pc.is_in(headers.column("persister"), pa.array(AMQP, headers.column("persister").type))
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
            headers = decode_page(PageBytes(part.page.content), 0, Detail.HEADERS).table
            mine = part.origin.numbers[: len(headers)]
            of_message[mine] = _priorities(headers, parts.start.edition, parts.looked_into[mine])
    priority = of_message[due]
    order = np.argsort(-priority, kind="stable")
    later = np.flatnonzero(times)
    later = later[np.argsort(times[later], kind="stable")]
    return due[order], priority[order], waiting[later], times[later]
