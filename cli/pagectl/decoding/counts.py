"""What each queue of a broker waits for, counted over journal and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.decoding.sources import AllSources
from pagectl.running.reading import bytes_to_read
from pagectl.terminal.progress import progress

if TYPE_CHECKING:
    from pagefmt.columns.queue_counts import QueueCounts
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.state import PagingState


def counted(place: DataLocation, state: PagingState, *, beside_output: bool) -> tuple[QueueCounts, bool]:
    """What each queue waits for; and whether anything was damaged."""
    from pagefmt.columns.queue_counts import QUERY, QueueCounts
    from pagefmt.columns.table import PageSource, TableDamage, page_batches
    from pagefmt.outstanding.message_filter import MessageFilter

    counts = QueueCounts(state.bindings)
    if state.unknown is not None:
        counts.not_known(None, state.unknown.reason)
    sources = AllSources(place, state, MessageFilter())
    damaged = state.known.damaged
    for each in state.stores():
        if each.unseen is not None:
            counts.not_known(each.store.address, each.unseen)
    with progress("reading messages", bytes_to_read(place), beside_output=beside_output) as bar:
        for at in sources:
            known, store = at.known, at.known.store
            source = PageSource(
                at.page, at.page.number, store.name, store.address, known.rule(at.page.number), origin=at.origin
            )
            unknown = None if known.unknown is None else known.unknown.reason
            for found in page_batches(source, QUERY):
                if not isinstance(found, TableDamage):
                    counts.take(found, unknown)
                elif at.tell(found.damage):
                    damaged = True
                    for queue in known.queues or {}:
                        if store.address is not None:
                            counts.of(queue).unknown = f"{store.name}: {at.page.name} is damaged"
            bar.advance(at.page.size)
    return counts, damaged or sources.damaged
