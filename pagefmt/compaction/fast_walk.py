"""The walk over one page in lock-step: the routes and the rule for all its records at once.

Regular are records whose parts end where their queue ids begin, and whose queue ids end with the payload, as
``pagefmt.routes`` demands. Where one record of a page is not, the whole page goes to the careful walk; both give the
same answer (tested).
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from pagefmt.columns import core
from pagefmt.columns.gather import Ints, Mask, PageBytes
from pagefmt.columns.scan import Frames, scan
from pagefmt.compaction.plan import Examined
from pagefmt.fates import Fate, PageRule
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.record import FRAME, Layout

_LARGEST = 1 << 31


@dataclass(frozen=True, slots=True)
class Routes:
    """Vectors over the records of one page; ``queue`` and ``row``: an element for each queue id that a record names."""

    offset: Ints
    size: Ints
    tx: Ints
    large: Mask
    message: Ints
    queue: Ints
    row: Ints


def fast_routes(page: PageBytes, frames: Frames) -> Routes | None:
    """``None`` where a record is not regular."""
    payload = frames.offset + 5
    end = payload + frames.length
    large_type, persister = page.i8(payload + 8), page.byte(payload + 9)
    large_core = (large_type == 1) | (large_type == -1)
    old = (large_type == 0) & core.fits_old_layout(page, payload, frames.length)
    new = (large_type == 0) & ~old & (persister == 1)
    amqp = ~old & ((large_type == 0) | (large_type == 2)) & np.isin(persister, (2, 3, 5))
    if not (large_core | old | new | amqp).all():
        return None
    at = _behind_nullable(page, payload + np.where(amqp, 26, 18))
    at = _behind_sized(page, np.where(large_core | old, payload + 9, at))
    extra = amqp & (persister != 2)
    at = np.where(extra, _behind_sized(page, at), at) + np.where(amqp & (persister == 5), 8, 0)
    count, fine = core.queue_counts(page, at, end, (at >= payload + 9) & (at + 4 <= end))
    if not fine.all():
        return None
    block = np.where(large_core, payload + 13, payload + 10)
    block = np.where(old, payload + page.i32(payload + 13) + 4, block)
    queue, _ = core.repeated_longs(page, at + 4, count)
    row = np.repeat(np.arange(len(count)), count)
    size = frames.length + FRAME
    return Routes(frames.offset, size, page.i64(payload), large_type != 0, page.i64(block), queue, row)


def _behind_sized(page: PageBytes, at: Ints) -> Ints:
    """Behind a length and as many bytes; a length that cannot be leads far outside and is found out."""
    size = page.i32(at)
    return np.where(size < 0, _LARGEST, at + 4 + size)


def _behind_nullable(page: PageBytes, at: Ints) -> Ints:
    return np.where(page.byte(at) != 0, _behind_sized(page, at + 1), at + 1)


def examine(
    found: Examined, content: bytes, journal: MessageJournal, rule: PageRule, live_fates: Collection[Fate], stub: int
) -> bool:
    """Fill ``found``; false where the page has to be walked with care. ``stub``: bytes of one."""
    if not content:
        return True
    page = PageBytes(content)
    frames = scan(page)
    routes = fast_routes(page, frames) if frames.whole else None
    if routes is None:
        return False
    found.records = len(routes.offset)
    found.layout = _layout(page, frames)
    live, ignored = _fates(found, routes, journal, rule, live_fates)
    dead = ~live
    found.dead, found.unknown = int(dead.sum()), int((dead & ignored).sum())
    found.dead_bytes = int(routes.size[dead].sum())
    replaced = dead & (routes.size > stub)
    found.saved = int((routes.size[replaced] - stub).sum())
    found.offsets = array("q", routes.offset[replaced].tobytes())
    found.ids = array("q", routes.message[replaced].astype(np.int64).tobytes())
    found.bodies = list(zip(routes.message[routes.large].tolist(), live[routes.large].tolist(), strict=True))
    return True


def _layout(page: PageBytes, frames: Frames) -> Layout | None:
    payload = frames.offset + 5
    ordinary = page.byte(payload + 8) == 0
    if not ordinary.any():
        return None
    old = core.fits_old_layout(page, payload[ordinary], frames.length[ordinary])
    return Layout.OLD if old.any() else Layout.NEW


def _fates(
    found: Examined, routes: Routes, journal: MessageJournal, rule: PageRule, live_fates: Collection[Fate]
) -> tuple[Mask, Mask]:
    """For each record: does some queue still need it, is it ignored for some queue because of its transaction."""
    records, number = len(routes.offset), found.page.number
    sent, unknown = np.ones(records, bool), np.zeros(records, bool)
    for tx in np.unique(routes.tx[routes.tx >= 0]).tolist():
        unsent = rule.unsent(tx)
        if unsent is not None:
            here = routes.tx == tx
            sent[here] = unsent in live_fates
            unknown[here] = unsent is Fate.IGNORED
    live, ignored = np.zeros(records, bool), np.zeros(records, bool)
    for queue in np.unique(routes.queue).tolist():
        if not rule.bound(queue) or journal.complete_index.numbers(queue, number):
            continue
        rows = routes.row[routes.queue == queue]
        waiting = rows[~_acknowledged(journal, queue, number, records)[rows]]
        ignored[waiting[unknown[waiting]]] = True
        holding = waiting[sent[waiting]]
        live[holding] = True
        if len(holding):
            found.held[queue] = len(holding)
            found.held_bytes[queue] = int(routes.size[holding].sum())
    return live, ignored


def _acknowledged(journal: MessageJournal, queue: int, page: int, records: int) -> Mask:
    mask = np.zeros(records, bool)
    numbers = journal.ack_index.numbers(queue, page)
    if numbers:
        each = np.frombuffer(numbers, np.int32)
        mask[each[(each >= 0) & (each < records)]] = True
    return mask
