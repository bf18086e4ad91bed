"""Rendering of a page's records as JSON Lines from columns. Output equals the reference decoder's byte for byte.

The text of each field is made for all records of a chunk at once; the fields are then joined into lines. Irregular
records and large messages are left to the reference decoder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.pages.file_part import WHOLE_FILE, FilePart
from pagefmt.codec.pages.frames import Damage, end_of_records
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import Layout
from pagefmt.describe.message_json import MessageOptions
from pagefmt.describe.values_json import Json, Quote
from pagefmt.directory.paging import Store
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.message_filter import Judged, MessageFilter, SelectedMessage, message_at, wanted_messages
from pagefmt.outstanding.message_location import MessageOrigin, PageOrigin
from pagefmt.table.joined_pages import JoinedPages, page_groups
from pagefmt.table.location_columns import note_schedules, set_apart
from pagefmt.table.message_row import selected_row
from pagefmt.table.table import PageSource
from pagefmt.vectors import (
    IrregularPage,
    LineSource,
    PageBytes,
    PageFrames,
    opened_chunks,
    ordinary_lines,
    wanted_records,
)


@dataclass(frozen=True, slots=True)
class MessageLines:
    """Finished lines of records that follow one another."""

    texts: pa.BinaryArray

    def __len__(self) -> int:
        return len(self.texts)

    def first(self, count: int) -> MessageLines:
        """Return the first ``count`` lines, or all if there are fewer."""
        return MessageLines(self.texts.slice(0, count))

    @property
    def content(self) -> memoryview:
        """Return all lines with their line ends, in UTF-8."""
        _, offsets, content = self.texts.buffers()
        at = np.frombuffer(offsets, np.int32)[self.texts.offset : self.texts.offset + len(self.texts) + 1]
        return memoryview(content)[int(at[0]) : int(at[-1])] if content is not None else memoryview(b"")


Item = MessageLines | SelectedMessage | Damage


@dataclass(frozen=True, slots=True)
class LineFormat:
    """How lines are written. ``quote``: text as JSON."""

    wanted: MessageOptions
    quote: Quote


def picked_lines(
    page: PageFile | PageInMemory,
    state: Judged | None,
    store: Store,
    form: LineFormat | None,
    choice: MessageFilter,
    origin: MessageOrigin | None = None,
    part: FilePart = WHOLE_FILE,
) -> Iterator[Item]:
    """Yield what ``select_messages`` does, with finished lines in place of most messages if there is a ``form``.

    An item is valid until the next one is requested. With an ``origin`` lines have the location and the queue states.
    """
    rule = None if state is None else state.rule(page.number)
    source = None
    if form is not None:
        source = LineSource(store.name, store.address, page.number, rule, form.wanted, form.quote, origin)
    layout = None
    for content, frames, opened in opened_chunks(page, part):
        layout = opened.layout()
        try:
            mask = wanted_records(content, frames, rule, choice, opened.strict_layout())
        except IrregularPage:
            yield from _rest(page, rule, choice, frames.base, frames.number)
            return
        if isinstance(origin, PageOrigin) and mask.any():
            note_schedules(origin, content, opened, frames)
            set_apart(origin, frames, mask)
        wanted = np.flatnonzero(mask)
        if not len(wanted):
            continue
        done, texts = ordinary_lines(content, frames, source, wanted, opened.strict_layout())
        if source is not None and origin is not None and rule is not None and rule.end is None:
            end = _first_thrown(opened, frames, wanted[~done])
            if end is not None:  # lines after it say that the broker does not read that far
                rule = rule.ending_at(end)
                source = replace(source, rule=rule)
                done, texts = ordinary_lines(content, frames, source, wanted, opened.strict_layout())
        for first, last, has_line in _stretches(done):
            if has_line:
                at = int(np.count_nonzero(done[:first]))
                yield MessageLines(texts.slice(at, last - first))
                continue
            for n in wanted[first:last].tolist():
                route = opened.route(frames.number + n, int(frames.offset[n]), int(frames.length[n]))
                if isinstance(route, Damage):
                    yield route
                elif route[2] == frames.length[n]:
                    yield from message_at(page, opened, route, rule, choice)
                else:  # an old reader goes on where its fields end, not where the length says
                    yield from _rest(page, rule, choice, frames.base + route[1], route[0])
                    return
    if not frames.whole and layout is Layout.OLD:
        yield from _rest(page, rule, choice, frames.base + frames.end, frames.number + len(frames.offset))
    elif not frames.whole:
        damage = _stopped(page, content, frames)
        if damage is not None:
            yield damage


def lines_together(
    sources: Sequence[PageSource], state: Judged | None, store: Store, form: LineFormat | None, choice: MessageFilter
) -> Iterator[tuple[int, Item]]:
    """Yield what ``picked_lines`` gives for each page of a store, with the number of its source.

    Lines of several small pages have the number of the first one.
    """
    for first, group in page_groups(sources):
        if len(group) > 1 and form is not None:
            yield from ((first + n, item) for n, item in _group_lines(group, state, store, form, choice))
        else:
            yield from ((first, item) for item in _source_lines(group[0], state, store, form, choice))


def _source_lines(
    source: PageSource, state: Judged | None, store: Store, form: LineFormat | None, choice: MessageFilter
) -> Iterator[Item]:
    assert not isinstance(source.file, Path)
    return picked_lines(source.file, state, store, form, choice, source.origin, source.part)


def _group_lines(
    group: Sequence[PageSource], state: Judged | None, store: Store, form: LineFormat, choice: MessageFilter
) -> Iterator[tuple[int, Item]]:
    """Yield items with the index in the group of their page, or of their first page if lines are of several.

    The small pages of a group are rendered as one. A page with anything that columns do not read is then read by
    itself, in its turn, so the order is that of the pages.
    """
    read = JoinedPages.of(group)
    rule, origin = read.source.rule, read.source.origin
    rows = np.zeros(0, np.int64)
    texts = pa.array([], pa.binary())
    try:
        mask = wanted_records(read.content, read.frames, rule, choice, None)
    except IrregularPage:
        read.sound[:] = False
    else:
        if isinstance(origin, PageOrigin) and mask.any():
            note_schedules(origin, read.content, read.opened, read.frames)
        wanted = np.flatnonzero(mask)
        source = LineSource(store.name, store.address, 0, rule, form.wanted, form.quote, origin)
        done, texts = ordinary_lines(read.content, read.frames, source, wanted, None)
        read.sound[read.owner[wanted[~done]]] = False
        rows = wanted[done]
    for first, last, begin, end in read.in_turn(rows):
        if last is None:
            yield from ((first, item) for item in _source_lines(group[first], state, store, form, choice))
        elif begin < end:
            yield first, MessageLines(texts.slice(begin, end - begin))


def _first_thrown(opened: Page, frames: PageFrames, rows: Ints) -> int | None:
    """Return the number of the first of these records that a broker cannot decode."""
    for n in rows.tolist():
        if isinstance(opened.route(frames.number + n, int(frames.offset[n]), int(frames.length[n])), Damage):
            return int(frames.number + n)
    return None


def _rest(
    page: PageFile | PageInMemory, rule: PageRule | None, choice: MessageFilter, at: int, number: int
) -> Iterator[SelectedMessage | Damage]:
    """Yield the messages and damage from the record ``number`` at ``at`` on, decoded one by one."""
    with open_page(page) as opened:
        yield from wanted_messages(page, opened, rule, choice, at, number)


def _stopped(page: PageFile | PageInMemory, content: PageBytes, last: PageFrames) -> Damage | None:
    """Return the damage at which reading stopped in the last chunk."""
    at, number = last.base + last.end, last.number + len(last.offset)
    if last.unreadable is None:
        with open_page(page) as opened:
            return opened.stopped(at, number)
    damage = end_of_records(memoryview(content.buffer)[: content.size], last.end, number, last.unreadable)
    return damage and damage._replace(offset=at)


def rows_together(
    sources: Sequence[PageSource], state: Judged | None, store: Store, form: LineFormat, choice: MessageFilter
) -> Iterator[tuple[int, Json | Damage]]:
    """Yield what ``lines_together`` gives, with each message as the object that its line holds, and its own source.

    Objects come fastest out of finished lines: their printing and their parsing are both compiled code.
    """
    places = {source.page: n for n, source in enumerate(sources)}
    for n, item in lines_together(sources, state, store, form, choice):
        if isinstance(item, MessageLines):
            for row in map(json.loads, str(item.content, "utf-8").split("\n")[:-1]):
                yield n if row["page"] is None else places[row["page"]], row
        elif isinstance(item, Damage):
            yield n, item
        else:
            yield n, selected_row(store, item, form.wanted, sources[n].origin)


def _stretches(done: Mask) -> Iterator[tuple[int, int, bool]]:
    """Yield (first, after the last, value) of runs of equal values."""
    if not len(done):
        return
    cuts = [0, *(np.flatnonzero(done[1:] != done[:-1]) + 1).tolist(), len(done)]
    for first, last in pairwise(cuts):
        yield first, last, bool(done[first])
