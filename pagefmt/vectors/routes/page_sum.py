"""What the queues still wait for in one page, summed over vectors; ``pagefmt.outstanding.state`` is the reference."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.outstanding.named_queues import CODE, Codes
from pagefmt.outstanding.page_load import PageLoad, QueueLoad, spanned
from pagefmt.vectors.routes.ack_state_columns import LIVE_CODES, ack_state_columns
from pagefmt.vectors.routes.route_columns import RouteColumns, Rows


class PageSum:
    """The sum over the chunks of a page. ``queues``: those that something in it is live for."""

    def __init__(self, page: int, keep: bool) -> None:
        self.queues: dict[int, QueueLoad] = {}
        self._page, self._keep = page, keep
        self._counts: Counter[AckState] = Counter()
        self._transactions: list[int] = []
        self._records = self._read = self._live_records = self._live_bytes = 0

    def take(self, rule: PageRule, routes: RouteColumns) -> None:
        """Add the records of one more chunk."""
        live = np.zeros(len(routes), bool)
        for of_queue in ack_state_columns(rule, routes):
            (queue, rows, codes), counts = of_queue, of_queue.counts()
            self._counts.update(counts)
            if not LIVE.isdisjoint(counts):
                live[rows] |= LIVE_CODES[codes]
                load = self.queues.setdefault(queue, QueueLoad(queue, None))
                load.in_doubt_sends += counts.get(AckState.IN_DOUBT_SEND, 0)
                load.in_doubt_acks += counts.get(AckState.IN_DOUBT_ACK, 0)
                self._outstanding(load, routes, rows, codes)
        if routes.tx is not None:
            sent = routes.tx[routes.tx >= 0]
            self._transactions += [int(sent.min()), int(sent.max())]
        self._records += len(routes)
        self._read += int(routes.size.sum())
        self._live_records += int(live.sum())
        self._live_bytes += int(routes.size[live].sum())

    def _outstanding(self, load: QueueLoad, routes: RouteColumns, rows: Rows, codes: Codes) -> None:
        waiting = np.arange(len(routes))[rows][codes == CODE[AckState.OUTSTANDING]]
        if not len(waiting):
            return
        load.messages += len(waiting)
        load.bytes += int(routes.size[waiting].sum())
        if (large := waiting[routes.large[waiting]]).size:
            load.large.frombytes(routes.messages(large).astype(np.int64).tobytes())
        if load.first is None:
            load.first = (self._page, routes.first + int(waiting[0]))
            load.begins = routes.base + int(routes.offset[waiting[0]])
        load.last = (self._page, routes.first + int(waiting[-1]))
        if self._keep:
            load.numbers.frombytes((waiting + routes.first).astype(np.int32).tobytes())

    def load(self, size: int) -> PageLoad:
        """``size``: of the page file."""
        return PageLoad(
            self._page,
            size,
            self._records,
            self._read,
            self._live_records,
            self._live_bytes,
            tuple(sorted(self.queues)),
            dict(self._counts),
            None,
            spanned(self._transactions),
        )
