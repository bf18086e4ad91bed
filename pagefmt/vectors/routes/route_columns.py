"""Routes of all records of a page at once: transaction, message id and queue ids.

The offsets are those of ``pagefmt.codec.pages.routes``, the reference: the heads are gathered in one step, then the
lengths of the parts to skip, then the queue ids. A record that does not fit raises ``IrregularPage``, and the page is
left to the reference. AMQP large messages state no length: the reference reads them.

From the start of the record on (7B and i32 length, then the payload of docs/spec/page-files.md 4):

    5 tx i64 | 13 large type | 14 persister | 15 message id i64 | core: 23 address nsstr | L i32, L bytes
                                                                | AMQP: 23 format i64 | 31 address nsstr | L i32 …
    core large: 14 H i32, H bytes                  old layout: 14 M i32 | 18 M bytes
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from pagefmt.arrays import Bytes, Ints, Mask
from pagefmt.codec.messages.persisters import AMQP, AMQP_LARGE, CORE, WITH_EXPIRATION, WITH_EXTRA
from pagefmt.codec.pages.page import LARGEST_FILE
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import CORE_LARGE, FRAME, ORDINARY, OTHER_LARGE, SMALLEST_PAYLOAD
from pagefmt.codec.pages.routes import OLD_LIKE_CORE, route_at
from pagefmt.codec.wire import Undecodable
from pagefmt.errors import PageFmtError
from pagefmt.vectors.pages.chunks import read_chunks
from pagefmt.vectors.pages.gather import PageBytes, fits_old_layout
from pagefmt.vectors.pages.scan import PageFrames

CHUNK: Final = 4 << 20
# Bytes. Pages up to this size hold a few dozen records: the reference decoder is faster.
SMALL = 12 << 10
Rows: TypeAlias = Ints | slice
ALL: Final = slice(None)
_HEAD_SIZE: Final = 36
_HEAD: Final = np.dtype(
    {
        "names": [
            "tx",
            "kind",
            "large_type",
            "persister",
            "size",
            "address",
            "address_size",
            "amqp_address",
            "amqp_address_size",
        ],
        "formats": [">i8", ">u2", "i1", "u1", ">i4", "u1", ">i4", "u1", ">i4"],
        "offsets": [5, 13, 13, 14, 14, 23, 24, 31, 32],
        "itemsize": _HEAD_SIZE,
    }
)


@dataclass(frozen=True, slots=True)
class QueueIds:
    """Records that name the same number of queues: which ones, and a row of ids for each."""

    rows: Rows
    ids: Ints


@dataclass(frozen=True, slots=True)
class RouteColumns:
    """Vectors over the records of a page, or of a chunk of one.

    The chunk starts at ``base`` in the file, with the record of the number ``first``. ``offset``: in the chunk;
    ``size``: of the whole record; ``tx`` None: no record has a transaction. ``large``: its body is elsewhere. ``old``:
    some record is of the old layout, None: no record tells.
    """

    page: PageBytes
    base: int
    first: int
    offset: Ints
    size: Ints
    tx: Ints | None
    large: Mask
    old: bool | None
    message_at: Ints
    named: tuple[QueueIds, ...]

    def __len__(self) -> int:
        return len(self.offset)

    def messages(self, rows: Rows = ALL) -> Ints:
        """Return the message ids of the records."""
        return self.page.i64(self.message_at[rows])

    def queues(self) -> Iterator[tuple[int, Rows]]:
        """Yield each queue id with the records that name it, both ascending; each record once, however often."""
        by_queue: dict[int, list[Rows]] = {}
        for named in self.named:
            for ids in named.ids.T:
                for queue, rows in _by_value(ids):
                    by_queue.setdefault(queue, []).append(_of(named.rows, rows))
        for queue, parts in sorted(by_queue.items()):
            yield queue, parts[0] if len(parts) == 1 else np.unique(np.concatenate([self._listed(p) for p in parts]))

    def _listed(self, rows: Rows) -> Ints:
        return np.arange(len(self))[rows]


def _by_value(values: Ints) -> Iterator[tuple[int, Rows]]:
    if not len(values):
        return
    if (values == values[0]).all():
        yield int(values[0]), ALL
        return
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    for rows in np.split(order, starts):
        yield int(values[rows[0]]), rows


def _of(outer: Rows, inner: Rows) -> Rows:
    """Return the rows that ``inner`` selects among ``outer``."""
    if isinstance(inner, slice):
        return outer
    return inner if isinstance(outer, slice) else outer[inner]


class IrregularPage(PageFmtError):
    """The page has to be read by the reference."""


def routed(page: PageFile) -> Iterator[RouteColumns]:
    """Yield the routes of a page chunk by chunk; each is valid until the next one is requested.

    Raises ``NotReadable`` and ``IrregularPage``; after ``IrregularPage`` the earlier chunks must not be counted either.
    """
    if not SMALL < page.size <= LARGEST_FILE:
        raise IrregularPage(page.name)
    for content, frames in read_chunks(page, CHUNK, reuse=True):
        yield route_columns(content, frames)
    if not frames.whole:
        raise IrregularPage(page.name)


def route_columns(page: PageBytes, frames: PageFrames) -> RouteColumns:
    """Read the routes of a chunk. Raise ``IrregularPage`` if a record is not regular."""
    return _RouteReader(page, frames).columns()


class _RouteReader:
    def __init__(self, page: PageBytes, frames: PageFrames) -> None:
        self.page, self.frames = page, frames
        self.head = page.window(frames.offset, _HEAD_SIZE).view(_HEAD).reshape(-1)
        self.end = frames.offset + (frames.length + (FRAME - 1))
        self.old: bool | None = None
        self.message_at = frames.offset + 15

    def columns(self) -> RouteColumns:
        frames, head = self.frames, self.head
        tail = np.empty_like(frames.offset)
        for kind, rows in _by_value(head["kind"]):
            for part, at in self.behind_message(kind, rows):
                tail[part] = at
        named = tuple(self.queue_ids(tail))
        tx = head["tx"].astype(np.int64)
        return RouteColumns(
            self.page,
            frames.base,
            frames.number,
            frames.offset,
            frames.length + FRAME,
            tx if (tx >= 0).any() else None,
            head["large_type"] != 0,
            self.old,
            self.message_at,
            named,
        )

    def behind_message(self, kind: int, rows: Rows) -> Iterator[tuple[Rows, Ints]]:
        """Yield rows and positions of the queue count, for records of one large type and persister."""
        large_type, persister = (kind >> 8 ^ 0x80) - 0x80, kind & 0xFF
        if large_type == ORDINARY:
            rows, old = self.old_ones(rows, persister)
            self.old = bool(self.old) or old is not None
            if old is not None:
                yield old, self.behind_old(old)
        if isinstance(rows, np.ndarray) and not len(rows):
            return
        if large_type in CORE_LARGE:
            self.message_at[rows] += 3
            yield rows, self.behind_sized(self.frames.offset[rows] + 14, self.head["size"][rows])
        elif large_type not in (ORDINARY, OTHER_LARGE):
            raise IrregularPage("a record is not regular")
        elif persister == CORE:
            yield rows, self.behind_core(rows)
        elif persister in AMQP:
            yield rows, self.behind_amqp(rows, persister)
        elif persister == AMQP_LARGE:
            yield rows, self.behind_amqp_large(rows)
        else:
            raise IrregularPage("a record is not regular")

    def old_ones(self, rows: Rows, persister: int) -> tuple[Rows, Ints | None]:
        """Return the rows in the new layout, and those in the old one or None."""
        length, stated = self.frames.length[rows], self.head["size"][rows]
        plausible = (stated >= 0) & (stated <= length - 17) & (length >= SMALLEST_PAYLOAD)
        if persister == CORE:
            plausible &= length >= OLD_LIKE_CORE
        if not plausible.any():
            return rows, None
        plausible &= fits_old_layout(self.page, self.frames.offset[rows] + 5, length)
        if not plausible.any():
            return rows, None
        listed = np.arange(len(self.frames.offset))[rows]
        return listed[~plausible], listed[plausible]

    def behind_old(self, rows: Ints) -> Ints:
        offset = self.frames.offset[rows]
        self.message_at[rows] = offset + 9 + self.page.i32(offset + 18)
        return self.behind_sized(offset + 14, self.head["size"][rows])

    def behind_core(self, rows: Rows) -> Ints:
        at = self.frames.offset[rows] + 24
        return self.step(self.behind_nullable(at, self.head["address"][rows], self.head["address_size"][rows]), rows)

    def behind_amqp(self, rows: Rows, persister: int) -> Ints:
        at, head = self.frames.offset[rows] + 32, self.head
        at = self.step(self.behind_nullable(at, head["amqp_address"][rows], head["amqp_address_size"][rows]), rows)
        if persister in WITH_EXTRA:
            at = self.step(at, rows)
        return at + 8 if persister in WITH_EXPIRATION else at

    def behind_amqp_large(self, rows: Rows) -> Ints:
        buffer = memoryview(self.page.buffer)[: self.page.size]
        ends = []
        for offset, length in zip(self.frames.offset[rows].tolist(), self.frames.length[rows].tolist(), strict=True):
            try:
                queues = route_at(buffer, offset, length)[6]
            except Undecodable as err:
                raise IrregularPage("a record is not regular") from err
            ends.append(offset + 5 + length - 8 * len(queues) - 4)
        return np.array(ends, np.int64)

    def behind_nullable(self, at: Ints, mark: Bytes, size: Ints) -> Ints:
        """``at``: behind the mark."""
        if mark.all():
            return self.behind_sized(at, size)
        present = mark != 0
        return np.where(present, self.behind_sized(at, np.where(present, size, 0)), at)

    def step(self, at: Ints, rows: Rows) -> Ints:
        """Over a length and as many bytes; the length itself has to lie in the record."""
        if (at + 4 > self.end[rows]).any():
            raise IrregularPage("a record is not regular")
        return self.behind_sized(at, self.page.i32_inside(at))

    def behind_sized(self, at: Ints, size: Ints) -> Ints:
        if (size < 0).any():
            raise IrregularPage("a record is not regular")
        return at + (size.astype(np.int64) + 4)

    def queue_ids(self, tail: Ints) -> Iterator[QueueIds]:
        """Yield the queue ids, which must end with the payload; else raise ``IrregularPage``."""
        room = self.end - tail - 4
        if (room < 0).any() or (room & 7).any():
            raise IrregularPage("a record is not regular")
        for width, rows in _by_value(room):
            table = self.page.window(tail[rows], 4 + width)
            if (table[:, :4].copy().view(">i4") != width >> 3).any():
                raise IrregularPage("a record is not regular")
            yield QueueIds(rows, table[:, 4:].copy().view(">i8").astype(np.int64))
