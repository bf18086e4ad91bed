"""One page examined with vectors (``pagefmt.outstanding.route_columns``); ``planning`` has the reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from pagefmt.compaction.plan import ExaminedPage
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.ack_state_columns import ACK_STATES, CODE, ack_state_columns
from pagefmt.outstanding.route_columns import RouteColumns
from pagefmt.pages.gather import Mask
from pagefmt.pages.record import Layout


def examine(
    found: ExaminedPage, chunks: Iterable[RouteColumns], rule: PageRule, live_states: Collection[AckState], stub: int
) -> None:
    """Fill ``found``, which is worth nothing when ``chunks`` raises. ``stub``: bytes of one."""
    live_codes = np.array([ack_state in live_states for ack_state in ACK_STATES])
    for routes in chunks:
        live, ignored = _ack_states(found, routes, rule, live_codes)
        found.records += len(routes)
        if routes.old is not None and found.layout is not Layout.OLD:
            found.layout = Layout.OLD if routes.old else Layout.NEW
        dead = ~live
        found.dead += int(dead.sum())
        found.unknown += int((dead & ignored).sum())
        found.dead_bytes += int(routes.size[dead].sum())
        _note_replaced(found, routes, dead, stub)
        large = np.flatnonzero(routes.large)
        found.bodies.extend(zip(routes.messages(large).tolist(), live[large].tolist(), strict=True))


def _note_replaced(found: ExaminedPage, routes: RouteColumns, dead: Mask, stub: int) -> None:
    replaced = np.flatnonzero(dead & (routes.size > stub))
    found.saved += int((routes.size[replaced] - stub).sum())
    found.offsets.frombytes((routes.offset[replaced] + routes.base).tobytes())
    found.ids.frombytes(routes.messages(replaced).tobytes())


def _ack_states(found: ExaminedPage, routes: RouteColumns, rule: PageRule, live_codes: Mask) -> tuple[Mask, Mask]:
    """For each record: does some queue still need it, is it ignored for some queue because of its transaction."""
    live, ignored = np.zeros(len(routes), bool), np.zeros(len(routes), bool)
    for queue, rows, codes in ack_state_columns(rule, routes):
        needed = live_codes[codes]
        if needed.any():
            live[rows] |= needed
            found.held[queue] += int(needed.sum())
            found.held_bytes[queue] += int(routes.size[rows][needed].sum())
        ignored[rows] |= (codes == CODE[AckState.IGNORED]) & ~needed
    return live, ignored
