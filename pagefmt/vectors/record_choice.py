"""Which records of a chunk, or rows of a table, a command asked for.

The columnar form of ``pagefmt.outstanding.message_filter``; what columns cannot decide is decided record by record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Mask
from pagefmt.codec.pages.file_part import WHOLE_FILE, FilePart
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import Layout
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.named_queues import CODE
from pagefmt.selector import Selector
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.chunks import CHUNK, read_chunks
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import PageFrames
from pagefmt.vectors.routes.ack_state_columns import ack_state_columns
from pagefmt.vectors.routes.route_columns import RouteColumns, route_columns
from pagefmt.vectors.selector_columns import body_unread, decides, level_for, of_reference, select


def opened_chunks(
    page: Path | PageFile | PageInMemory, part: FilePart = WHOLE_FILE, chunk: int = CHUNK
) -> Iterator[tuple[PageBytes, PageFrames, Page]]:
    """Yield the chunks of a page: content, frames, and the content as a ``Page`` with the layout of the first chunk.

    A chunk is valid only until the next one is requested, because its buffer is used again.
    """
    layout = None
    for content, frames in read_chunks(page, chunk, part, reuse=True):
        opened = Page(memoryview(content.buffer)[: content.size], base=frames.base)
        layout = opened.of_layout(layout).layout() if frames.number else opened.layout()
        yield content, frames, opened


def wanted_records(
    content: PageBytes, frames: PageFrames, rule: PageRule | None, choice: MessageFilter, layout: Layout | None
) -> Mask:
    """Return the records that ``choice`` selects, and those that are not understood, which are damage to report.

    Raises ``IrregularPage`` if the choice is by queue ids and a record has none in the expected position.
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
    mask = np.zeros(len(routes), bool)
    for queue, rows, codes in ack_state_columns(rule, routes):
        if choice.queues is None or queue in choice.queues:
            mask[rows] |= codes == CODE[AckState.OUTSTANDING]
    return mask


def _in_queues(routes: RouteColumns, choice: MessageFilter) -> Mask:
    mask = np.zeros(len(routes), bool)
    for queue, rows in routes.queues():
        if choice.queues is None or queue in choice.queues:
            mask[rows] = True
    return mask


def rows_by_queue(batch: pa.RecordBatch, choice: MessageFilter) -> pa.RecordBatch:
    """Return the rows routed to, or outstanding for, one of the chosen queues. The selector was applied before."""
    if not choice.by_route:
        return batch
    lists = batch.column(batch.schema.get_field_index("outstanding" if choice.outstanding else "queues"))
    offsets = np.asarray(lists.offsets)
    queues = np.asarray(lists.values)[offsets[0] : offsets[-1]]
    if choice.queues is None:
        wanted = np.ones(len(queues), bool)
    else:
        wanted = np.isin(queues, np.fromiter(choice.queues, np.int64, len(choice.queues)))
    # The row of each list element that is wanted; a row with at least one stays.
    rows = np.repeat(np.arange(batch.num_rows), np.diff(offsets))[wanted]
    return batch.filter(pa.array(np.bincount(rows, minlength=batch.num_rows) > 0))
