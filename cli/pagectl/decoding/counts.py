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
    from pagefmt.columns.queue_counts import QueueCounts
    from pagefmt.columns.table import PageSource
    from pagefmt.columns.table_content import StoredIn
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.state import PagingState


def counted(
    place: DataLocation, state: PagingState, within: StoredIn, *, beside_output: bool
) -> tuple[QueueCounts, bool]:
    """What each queue waits for; and whether anything was damaged.

    A damaged page counts with what a broker reads of it. What waits in one that cannot be read at all is not known.
    """
    from pagefmt.columns.queue_counts import QUERY, QueueCounts
    from pagefmt.columns.table import TableDamage
    from pagefmt.columns.together import together_batches
    from pagefmt.outstanding.knowledge import NO_PAGING
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.pages.frames import NO_BYTES, DamageKind

    counts = QueueCounts(state.bindings, all_queues=state.known.unknown_bindings is None)
    if state.unknown is not None:
        counts.not_known(None, state.unknown.reason)
    elif state.known.no_paging:
        counts.not_known(None, NO_PAGING)
    sources = AllSources(place, state, MessageFilter(), within=within)
    damaged = state.known.incomplete
    for each in state.stores():
        if each.store.hides_address:
            counts.not_known(each.store.address, counts.closed)
        elif each.unseen is not None:
            counts.not_known(each.store.address, each.unseen)
    with progress("reading messages", bytes_to_read(place), beside_output=beside_output) as bar:
        pages: deque[PageToRead] = deque()  # from the one that was counted last to the one that was read last
        first = 0

        def page_sources() -> Iterator[PageSource]:
            for at in sources:
                pages.append(at)
                yield at.source()
                bar.advance(at.page.size)

        for n, found in together_batches(page_sources(), QUERY):
            while first < n:
                pages.popleft()
                first += 1
            at, known, store = pages[0], pages[0].known, pages[0].known.store
            if not isinstance(found, TableDamage):
                counts.take(found, None if known.unknown is None else known.unknown.reason)
            elif at.tell(found.damage):
                damaged = True
                if found.damage.kind in NO_BYTES and store.address is not None:
                    closed = found.damage.kind is DamageKind.NOT_PERMITTED
                    why = counts.closed if closed else f"{store.name}: {at.page.name} cannot be read"
                    counts.not_known(store.address, why)
    return counts, damaged or sources.damaged
