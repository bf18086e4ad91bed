"""Messages of journal files laid out as the records of a page, so that whatever reads pages reads them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.persisters import AMQP_LARGE
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import CORE_LARGE, END_MARK, ORDINARY, OTHER_LARGE, START_MARK, PageRecord
from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.record_types import RecordType
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage, select_messages

_HEAD: Final = np.dtype([("mark", "u1"), ("length", ">i4"), ("tx", ">i8"), ("large", "i1")])
_SIZE: Final = np.dtype(">i4")
_COUNT: Final = np.dtype(">i4")
_QUEUE: Final = np.dtype(">i8")
_FIXED: Final = 13  # bytes of the length of a record besides the message and its queue ids (docs/spec/page-files.md 4)


def message_page(columns: JournalColumns, rows: Ints, tx: Ints, queues: Ints, counts: Ints) -> PageInMemory:
    """Return a page with the messages in these rows. ``tx``: their transactions, -1 for none.

    ``counts[k]`` of the ``queues`` belong to message k. Raises ``NotAJournal`` and ``NotReadable``.
    """
    # Between the bytes of two messages lies a gap: the end of one record and the head of the next one. All gaps are
    # made in one array, and then joined with the messages, which are cut out of the files' content.
    counts = counts.astype(np.int64)  # in narrow columns eight bytes for each queue do not fit
    types, sizes, messages = columns.types.at(rows), columns.sizes.at(rows), [b""] * len(rows)
    for index, content, offsets in columns.stretches(rows):
        cuts = map(slice, offsets.tolist(), (offsets + sizes[index]).tolist())
        for k, message in zip(index.tolist(), map(bytes(content).__getitem__, cuts), strict=True):
            messages[k] = message
    is_core_large, is_old = types == RecordType.ADD_LARGE_MESSAGE, types == RecordType.ADD_MESSAGE
    is_sized = is_core_large | is_old
    heads, tails = _HEAD.itemsize + _SIZE.itemsize * is_sized, _COUNT.itemsize + _QUEUE.itemsize * counts + 1
    ends = np.cumsum(heads + tails)
    head_at, tail_at = ends - heads - tails, ends - tails
    gaps = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
    first = np.frombuffer(b"".join([message[:1] or b"\0" for message in messages]), np.uint8)
    head: Any = np.zeros(len(rows), _HEAD)
    head["mark"], head["tx"], head["length"] = START_MARK, tx, heads + sizes + tails - 6
    head["large"] = np.where(first == AMQP_LARGE, OTHER_LARGE, ORDINARY)
    head["large"][is_old], head["large"][is_core_large] = ORDINARY, CORE_LARGE[0]
    _put(gaps, head_at, head)
    _put(gaps, head_at[is_sized] + _HEAD.itemsize, sizes[is_sized].astype(_SIZE))
    _put(gaps, tail_at, counts.astype(_COUNT))
    number = np.arange(len(queues)) - np.repeat(np.cumsum(counts) - counts, counts)
    _put(gaps, np.repeat(tail_at, counts) + _COUNT.itemsize + _QUEUE.itemsize * number, queues.astype(_QUEUE))
    gaps[ends - 1] = END_MARK
    edges = [0, *tail_at.tolist()]
    pieces = map(gaps.tobytes().__getitem__, map(slice, edges, [*edges[1:], len(gaps)]))
    return PageInMemory(b"".join(chain.from_iterable(zip(pieces, [*messages, b""], strict=True))))


def _put(content: Any, at: Ints, values: Any) -> None:
    """Write values of one size at offsets of an array of bytes."""
    size = values.itemsize
    if len(at):
        np.ndarray((len(content) - size + 1,), f"V{size}", content, strides=(1,))[at] = values.view(f"V{size}")


def decoded_records(page: PageInMemory) -> Iterator[tuple[int, Message]]:
    """Yield the messages of a page that are understood, each with its number in the page."""
    for selected in select_messages(page, None, MessageFilter()):
        if isinstance(selected, SelectedMessage) and isinstance(selected.record, PageRecord):
            yield selected.number, selected.record.message
