"""Which records of a chunk, or rows of a table, a command asked for.

The columnar form of ``pagefmt.outstanding.message_filter``; what columns cannot decide is decided record by record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from pagefmt.columns.page import decode_page
from pagefmt.columns.selector_columns import body_unread, decides, level_for, of_reference, select
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.ack_state_columns import CODE, ack_state_columns
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.route_columns import RouteColumns, route_columns
from pagefmt.pages.chunks import WHOLE_FILE, FilePart, read_chunks
from pagefmt.pages.gather import Mask, PageBytes
from pagefmt.pages.in_memory import PageInMemory
from pagefmt.pages.page import Page
from pagefmt.pages.paging import PageFile
from pagefmt.pages.record import Layout
from pagefmt.pages.scan import PageFrames
from pagefmt.selector import Selector


def opened_chunks(
    page: Path | PageFile | PageInMemory, part: FilePart = WHOLE_FILE
) -> Iterator[tuple[PageBytes, PageFrames, Page]]:
    """A page chunk by chunk, each of the layout that the page's start told. Valid until the next one is taken."""
    layout = None
    for content, frames in read_chunks(page, part=part, reuse=True):
        opened = Page(memoryview(content.buffer)[: content.size], base=frames.base)
        layout = opened.of_layout(layout).layout() if frames.number else opened.layout()
        yield content, frames, opened


def wanted_records(
    content: PageBytes, frames: PageFrames, rule: PageRule | None, choice: MessageFilter, layout: Layout | None
) -> Mask:
    """Those that ``choice`` takes, and those that are not understood: they are damage to report.

    Raises ``IrregularPage`` where the choice is by queue ids and a record has none in their place.
    """
    mask = np.ones(len(frames.offset), bool)
    if choice.by_route or choice.ids is not None:
        mask = _by_route(content, frames, rule, choice)
    rows = np.flatnonzero(mask)
    if choice.selector is not None and len(rows):
        chosen = replace(frames, offset=frames.offset[rows], length=frames.length[rows])
        mask[rows] = _by_selector(content, chosen, choice.selector, layout)
    return mask


def _by_selector(content: PageBytes, frames: PageFrames, selector: Selector, layout: Layout | None) -> Mask:
    mask = np.ones(len(frames.offset), bool)
    if not decides(selector):
        select(content, frames, selector, None, mask, mask, layout)
        return mask
    decoded = decode_page(content, 0, level_for(selector), frames)
    doubtful = of_reference(decoded, len(mask))
    doubtful[body_unread(content, frames, decoded.table)] = True
    select(content, frames, selector, decoded.table, doubtful, mask, layout)
    return mask


def _by_route(content: PageBytes, frames: PageFrames, rule: PageRule | None, choice: MessageFilter) -> Mask:
    routes = route_columns(content, frames)
    mask = np.ones(len(routes), bool)
    if choice.by_route:
        mask = _outstanding(rule, routes, choice) if choice.outstanding and rule else _in_queues(routes, choice)
    if choice.ids is not None:
        mask &= np.isin(routes.messages(), list(choice.ids))
    return mask


def _outstanding(rule: PageRule, routes: RouteColumns, choice: MessageFilter) -> Mask:
    found = np.zeros(len(routes), bool)
    for queue, rows, codes in ack_state_columns(rule, routes):
        if choice.queues is None or queue in choice.queues:
            found[rows] |= codes == CODE[AckState.OUTSTANDING]
    return found


def _in_queues(routes: RouteColumns, choice: MessageFilter) -> Mask:
    found = np.zeros(len(routes), bool)
    for queue, rows in routes.queues():
        if choice.queues is None or queue in choice.queues:
            found[rows] = True
    return found


def rows_by_queue(batch: pa.RecordBatch, choice: MessageFilter) -> pa.RecordBatch:
    """The rows routed to, or outstanding for, one of the chosen queues. The selector was applied before."""
    if not choice.by_route:
        return batch
    lists = batch.column(batch.schema.get_field_index("outstanding" if choice.outstanding else "queues"))
    offsets = np.asarray(lists.offsets)
    queues = np.asarray(lists.values)[offsets[0] : offsets[-1]]
    if choice.queues is None:
        wanted = np.ones(len(queues), bool)
    else:
        wanted = np.isin(queues, np.fromiter(choice.queues, np.int64, len(choice.queues)))
    rows = np.repeat(np.arange(batch.num_rows), np.diff(offsets))[wanted]
    return batch.filter(pa.array(np.bincount(rows, minlength=batch.num_rows) > 0))
