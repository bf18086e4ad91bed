"""What each queue of a broker waits for, counted over journal and pages."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from pagectl.decoding.sources import AllSources
from pagectl.running.reading import bytes_to_read
from pagectl.terminal.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pagectl.decoding.sources import PageToRead
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.state import PagingState
    from pagefmt.table.queue_counts import QueueCounts
    from pagefmt.table.table import PageSource
    from pagefmt.table.table_content import StoredIn


def counted(
    place: DataLocation, state: PagingState, within: StoredIn, *, beside_output: bool
) -> tuple[QueueCounts, bool]:
    """Return what waits in each queue, and whether anything was damaged.

    A damaged page counts with the messages that a broker reads from it. The count of a page that cannot be read at all
    is unknown.
    """
    from pagefmt.codec.pages.frames import NO_BYTES, DamageKind
    from pagefmt.outstanding.loaded_journals import NO_PAGING
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.table.joined_pages import joined_batches
    from pagefmt.table.queue_counts import QUERY, QueueCounts
    from pagefmt.table.table import TableDamage

    counts = QueueCounts(state.bindings, all_queues=state.known.unknown_bindings is None)
    if state.unknown is not None:
        counts.not_known(None, state.unknown.reason)
    elif state.known.no_paging:
        counts.not_known(None, NO_PAGING)
    sources = AllSources(place, state, MessageFilter(), within=within)
    damaged = state.known.incomplete
    for store_state in state.stores():
        if store_state.store.hides_address:
            counts.not_known(store_state.store.address, counts.closed)
        elif store_state.unseen is not None:
            counts.not_known(store_state.store.address, store_state.unseen)
    with progress("reading messages", bytes_to_read(place), beside_output=beside_output) as bar:
        pages: deque[PageToRead] = deque()  # from the one that was counted last to the one that was read last
        first = 0

        def page_sources() -> Iterator[PageSource]:
            for at in sources:
                pages.append(at)
                yield at.source()
                bar.advance(at.page.size)

        for n, batch in joined_batches(page_sources(), QUERY):
            while first < n:
                pages.popleft()
                first += 1
            at, holder, store = pages[0], pages[0].known, pages[0].known.store
            if not isinstance(batch, TableDamage):
                counts.take(batch, None if holder.unknown is None else holder.unknown.reason)
            elif at.tell(batch.damage):
                damaged = True
                if batch.damage.kind in NO_BYTES and store.address is not None:
                    closed = batch.damage.kind is DamageKind.NOT_PERMITTED
                    why = counts.closed if closed else f"{store.name}: {at.page.name} cannot be read"
                    counts.not_known(store.address, why)
    return counts, damaged or sources.damaged
