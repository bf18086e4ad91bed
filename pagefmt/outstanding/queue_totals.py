"""What is outstanding for some queues, in the message journal and in pages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pagefmt.directory.bindings import QueueBinding
from pagefmt.journal.record_types import MESSAGES
from pagefmt.outstanding.page_load import QueueLoad
from pagefmt.outstanding.state import PagingState


@dataclass(slots=True)
class QueueContent:
    """What waits for a queue in journal and pages.

    ``messages`` of ``bytes`` in the journal; ``paged`` counts those in pages. ``unknown``: why that is not all.
    """

    paged: QueueLoad
    messages: int = 0
    bytes: int = 0
    unknown: str | None = None

    @property
    def sums(self) -> tuple[int | None, int | None]:
        """Return messages and bytes of pages and journal together, None where they are not known."""
        if self.unknown is not None:
            return None, None
        return self.messages + self.paged.messages, self.bytes + self.paged.bytes


def held_by(state: PagingState, queues: Collection[QueueBinding]) -> dict[int, QueueContent]:
    """Return what each queue holds, by queue id. Raise ``CannotKnow`` if the message journal is not known."""
    loads = {queue.id: QueueLoad(queue.id, queue) for queue in queues}
    totals = {number: QueueContent(load) for number, load in loads.items()}
    addresses = {queue.address for queue in queues}
    for store in state.stores():
        if store.store.address is None and store.unseen is not None:  # it may be of any queue
            for total in totals.values():
                total.unknown = store.unseen
        if store.store.address not in addresses or store.read_instead:
            continue
        lost = [page.damage.detail for page in store.pages(loads) if page.damage is not None and not page.readable]
        if store.unknown is not None:
            lost = [store.unknown.reason]
        for queue_ in queues if lost else ():
            if queue_.address == store.store.address:
                totals[queue_.id].unknown = lost[0]
    import numpy as np

    loaded = state.journal.loaded
    rows = loaded.rows_of(*MESSAGES).every()
    ids, sizes = loaded.columns.ids.at(rows), loaded.columns.sizes.at(rows)
    order = np.argsort(ids, kind="stable")
    ids, sizes = ids[order], sizes[order]
    message, queue, done = state.journal.reference_columns()
    message, queue = message[~done], queue[~done]
    by_queue = np.argsort(queue, kind="stable")
    message, queue = message[by_queue], queue[by_queue]
    for number, held in totals.items():
        first, behind = np.searchsorted(queue, [number, number + 1]).tolist()
        mine = message[first:behind]
        held.messages += len(mine)
        if len(ids):
            last = np.searchsorted(ids, mine, "right").clip(min=1) - 1
            held.bytes += int(sizes[last][ids[last] == mine].sum())
    return totals
