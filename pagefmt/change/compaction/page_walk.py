"""One page examined with vectors (``pagefmt.vectors.routes.route_columns``); ``planning`` has the reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from pagefmt.arrays import Mask
from pagefmt.change.compaction.plan import ExaminedPage
from pagefmt.codec.pages.record import Layout
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.named_queues import ACK_STATES, CODE
from pagefmt.vectors import RouteColumns, ack_state_columns


def examine(
    examined: ExaminedPage, chunks: Iterable[RouteColumns], rule: PageRule, live_states: Collection[AckState], stub: int
) -> None:
    """Add the counts of a page's records to ``examined``, which is invalid if ``chunks`` raises.

    ``stub`` is the size of a stub record in bytes.
    """
    live_codes = np.array([ack_state in live_states for ack_state in ACK_STATES])
    for routes in chunks:
        live, ignored = _ack_states(examined, routes, rule, live_codes)
        examined.records += len(routes)
        if routes.old is not None and examined.layout is not Layout.OLD:
            examined.layout = Layout.OLD if routes.old else Layout.NEW
        dead = ~live
        examined.dead += int(dead.sum())
        examined.unknown += int((dead & ignored).sum())
        examined.dead_bytes += int(routes.size[dead].sum())
        _note_replaced(examined, routes, dead, stub)
        large = np.flatnonzero(routes.large)
        examined.bodies.extend(zip(routes.messages(large).tolist(), live[large].tolist(), strict=True))


def _note_replaced(examined: ExaminedPage, routes: RouteColumns, dead: Mask, stub: int) -> None:
    replaced = np.flatnonzero(dead & (routes.size > stub))
    examined.saved += int((routes.size[replaced] - stub).sum())
    examined.offsets.frombytes((routes.offset[replaced] + routes.base).tobytes())
    examined.ids.frombytes(routes.messages(replaced).tobytes())


def _ack_states(examined: ExaminedPage, routes: RouteColumns, rule: PageRule, live_codes: Mask) -> tuple[Mask, Mask]:
    """Return two masks over the records: some queue needs it; no queue does, and one ignores its transaction."""
    live, ignored = np.zeros(len(routes), bool), np.zeros(len(routes), bool)
    # One pass for each queue over the rows that name it: a record is live as soon as any of its queues needs it.
    for queue, rows, codes in ack_state_columns(rule, routes):
        needed = live_codes[codes]
        if needed.any():
            live[rows] |= needed
            examined.held[queue] += int(needed.sum())
            examined.held_bytes[queue] += int(routes.size[rows][needed].sum())
        ignored[rows] |= (codes == CODE[AckState.IGNORED]) & ~needed
    return live, ignored
