"""The backlogs of queues of several brokers, ranked; and how fast they grew between two looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from pagectl.running.exits import describe
from pagectl.running.permissions import warn_closed
from pagectl.running.reading import bytes_to_read, each_store, state_of_place
from pagectl.terminal.progress import progress
from pagefmt.directory.permissions import Reads, closed_files
from pagefmt.errors import PageFmtError
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.backlog import Backlog, SharedPages
    from pagefmt.outstanding.journal_backlog import JournalBacklog, JournalBacklogs
    from pagefmt.outstanding.state import PagingState
    from pagefmt.outstanding.watch import PagesWatch

T = TypeVar("T")


class TopOrder(StrEnum):
    """What the largest queue has most of."""

    alone = "alone"
    held = "held"
    waiting = "waiting"
    oldest = "oldest"
    growth = "growth"


class RankedQueue(NamedTuple):
    """A queue of a broker with its backlog.

    ``store`` is the folder of its pages, None if it has none. ``growth`` is in bytes per second, None if not known.
    """

    broker: str
    store: Path | None
    backlog: Backlog
    growth: float | None = None

    @property
    def key(self) -> tuple[str, Path | None, int | None]:
        """Return what identifies the queue in every reading."""
        return self.broker, self.store, self.backlog.id


class QueueGroup(NamedTuple):
    """Queues of a broker that hold pages together."""

    broker: str
    pages: SharedPages


class QueueReading(NamedTuple):
    """One look at the brokers: queues that hold something, and the bytes of pages by who holds them.

    ``unknown`` bytes: nobody knows who holds them. ``wrong``: something is damaged or not known. ``failed``: why
    some of several places cannot be read. ``moment`` is of the monotonic clock.
    """

    queues: list[RankedQueue]
    groups: list[QueueGroup]
    size: int
    alone: int
    shared: int
    free: int
    unknown: int
    remarks: list[str]
    wrong: bool
    failed: list[str]
    moment: float

    def since(self, before: QueueReading) -> QueueReading:
        """Return this reading with the growth since an earlier one. A queue missing in the earlier one grew from 0."""
        was = {queue.key: queue.backlog.disk for queue in before.queues}
        seconds = self.moment - before.moment
        rows = []
        for queue in self.queues:
            now, then = queue.backlog.disk, was.get(queue.key, 0)
            is_known = now is not None and then is not None and seconds > 0
            rows.append(queue._replace(growth=(now - then) / seconds if is_known else None))  # type: ignore[operator]
        return self._replace(queues=rows)

    def ranked(self, order: TopOrder) -> list[RankedQueue]:
        """Return the queues, the largest first, unknown ones last; equal ones by what they hold, and by name."""
        return sorted(self.queues, key=lambda queue: _rank(_VALUES[order](queue), queue))

    def ranked_groups(self) -> list[QueueGroup]:
        """Return the groups of queues that hold pages together, most bytes first."""
        return sorted(self.groups, key=lambda group: (-group.pages.bytes, group.broker, group.pages.queues))

    def merged(self, more: QueueReading) -> QueueReading:
        """Return this reading together with that of another directory."""
        return QueueReading(
            [*self.queues, *more.queues],
            [*self.groups, *more.groups],
            self.size + more.size,
            self.alone + more.alone,
            self.shared + more.shared,
            self.free + more.free,
            self.unknown + more.unknown,
            [*self.remarks, *more.remarks],
            self.wrong or more.wrong,
            [*self.failed, *more.failed],
            self.moment,
        )


_VALUES: Final[dict[TopOrder, Callable[[RankedQueue], float | None]]] = {
    TopOrder.alone: lambda queue: queue.backlog.alone,
    TopOrder.held: lambda queue: queue.backlog.disk,
    TopOrder.waiting: lambda queue: queue.backlog.messages,
    TopOrder.oldest: lambda queue: None if queue.backlog.oldest is None else -queue.backlog.oldest,
    TopOrder.growth: lambda queue: queue.growth,
}


def _rank(value: float | None, queue: RankedQueue) -> tuple[object, ...]:
    of = queue.backlog
    return (value is None, -(value or 0), -(of.disk or 0), queue.broker, of.address or "", of.queue or "", of.id)


def look(
    places: Sequence[DataLocation], within: StoredIn, advance: Callable[[int], None] = lambda _bytes: None
) -> QueueReading:
    """Read all pages of the places, one at a time, and their journals.

    Raises ``PageFmtError`` and ``OSError`` for a place that cannot be read, or where there are several tells of it.
    """
    return _each(places, lambda place: _looked_at(place, within, advance))


def look_with_growth(places: Sequence[DataLocation], within: StoredIn, every: float | None) -> QueueReading:
    """Look at the places, with a progress bar. ``every``: seconds; look twice, so far apart, to tell the growth."""
    seen = _look_with_progress(places, within)
    if every is None:
        return seen
    time.sleep(every)
    return _look_with_progress(places, within).since(seen)


def _look_with_progress(places: Sequence[DataLocation], within: StoredIn) -> QueueReading:
    sizes = [bytes_to_read(place) for place in places]
    with progress("reading pages", sum(size or 0 for size in sizes)) as bar:
        return look(places, within, bar.advance)


class WatchedQueues:
    """The same places look after look: read again is only what changed since the look before."""

    def __init__(self, places: Sequence[DataLocation]) -> None:
        from pagefmt.vectors import watch_pages

        self._watches = [watch_pages(place) for place in places]

    def look(self) -> QueueReading:
        """Return a new reading of all directories. Raise as ``look``."""
        return _each(self._watches, _watched)


def _each(places: Sequence[T], read: Callable[[T], QueueReading]) -> QueueReading:
    total = _nothing()
    for place in places:
        try:
            total = total.merged(read(place))
        except (PageFmtError, OSError) as err:
            if len(places) == 1:
                raise
            total = total._replace(failed=[*total.failed, describe(err)])
    return total


def _nothing() -> QueueReading:
    return QueueReading([], [], 0, 0, 0, 0, 0, [], False, [], time.monotonic())


def _watched(watch: PagesWatch) -> QueueReading:
    broker, seen = str(watch.place.given), watch.look()
    remarks = [f"{broker}: {remark}" for remark in seen.remarks]
    reading = _nothing()._replace(remarks=remarks, wrong=seen.damaged is not False)
    rows: list[RankedQueue] = []
    for store in seen.stores:
        reading.remarks.extend(f"{broker}: {store.address or store.folder.name}: {remark}" for remark in store.remarks)
        rows += [
            RankedQueue(broker, store.folder, row)
            for row in (store.uncounted if store.queues is None else store.queues)
        ]
        reading.groups.extend(QueueGroup(broker, group) for group in store.groups)
        reading = reading._replace(
            size=reading.size + store.bytes,
            shared=reading.shared + store.shared,
            free=reading.free + store.free,
            unknown=reading.unknown + store.unknown,
            wrong=reading.wrong or bool(store.remarks),
        )
    if watch.place.store is not None:
        return _ranked(reading, rows)
    return _completed(reading, rows, broker, seen.journal, seen.bindings)


def _completed(
    reading: QueueReading,
    rows: Sequence[RankedQueue],
    broker: str,
    journal: Mapping[int, JournalBacklog] | None,
    queues: Mapping[int, QueueBinding],
    *,
    unseen: bool = False,
) -> QueueReading:
    """Return a broker's reading with the queues that hold something, in pages or in the journal.

    ``journal`` and ``unseen`` are those of ``with_journal``.
    """
    from pagefmt.outstanding.backlog import with_journal

    both = with_journal((ranked.backlog for ranked in rows), journal, queues, unseen=unseen)
    return _ranked(
        reading, [RankedQueue(broker, rows[n].store if n < len(rows) else None, row) for n, row in enumerate(both)]
    )


def _ranked(reading: QueueReading, rows: Sequence[RankedQueue]) -> QueueReading:
    """Return the reading with those of the queues that hold something."""
    alone = reading.size - reading.shared - reading.free - reading.unknown
    return reading._replace(queues=[row for row in rows if row.backlog.disk != 0], alone=alone)


def _looked_at(place: DataLocation, within: StoredIn, advance: Callable[[int], None]) -> QueueReading:
    from pagefmt.outstanding.backlog import backlog_of
    from pagefmt.outstanding.journal_backlog import large_sizes

    broker, reading = str(place.given), _nothing()
    say = lambda text: reading.remarks.append(f"{broker}: {text}")  # noqa: E731
    state = state_of_place(place, journal=True, within=within, closed=False, say=say)
    wrong = warn_closed(place, Reads.LARGE if within is StoredIn.JOURNAL else Reads.PAGES | Reads.LARGE, say)
    sized = closed_files(place, Reads.LARGE) is None
    bodies = large_sizes(place.large_messages) if sized else {}
    rows: list[RankedQueue] = []
    unseen = False
    for store_state in each_store(place, state) if within is not StoredIn.JOURNAL else ():
        unseen |= store_state.store.hides_address
        store = backlog_of(store_state, bodies)
        name = store.whole.address or store.whole.folder
        reading.remarks.extend(f"{broker}: {name}: {remark}" for remark in store.verdict.remarks)
        rows += [RankedQueue(broker, store_state.store.folder, queue) for queue in store.queues]
        reading.groups.extend(QueueGroup(broker, group) for group in store.groups)
        reading = reading._replace(
            size=reading.size + store.size,
            shared=reading.shared + store.shared,
            free=reading.free + store.free,
            unknown=reading.unknown + store.unknown,
            wrong=reading.wrong or not store.verdict.fine,
        )
        advance(store.size)
    reading = reading._replace(wrong=reading.wrong or wrong or state.known.incomplete or bool(state.journal.prepared))
    bindings = state.bindings.queues if state.bindings else {}
    whole = _ranked(reading, rows)
    if with_journal_of(place, within):
        journal = journal_of(state, bodies)
        waits = None if journal is None else journal.of_queues()
        whole = _completed(reading, rows, broker, waits, bindings, unseen=unseen)
    if sized:
        return whole
    return whole._replace(
        queues=[counted._replace(backlog=counted.backlog._replace(held=None)) for counted in whole.queues]
    )


def with_journal_of(place: DataLocation, within: StoredIn) -> bool:
    """Return whether the journal is read, too; not if a single store or page was named."""
    return place.store is None and place.page is None and within is not StoredIn.PAGES


def journal_of(state: PagingState, bodies: Mapping[int, int]) -> JournalBacklogs | None:
    """Return what waits in the journal, None if it is not known what waits for which queue."""
    from pagefmt.outstanding.journal_backlog import journal_backlogs

    return None if state.unknown is not None or state.known.no_paging else journal_backlogs(state, bodies)
