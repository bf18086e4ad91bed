"""The backlogs of queues of several brokers, ranked; and how fast they grew between two looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pagectl.running.exits import describe
from pagectl.running.reading import each_store, told_state
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.backlog import Backlog
    from pagefmt.outstanding.watch import PagesWatch


class TopOrder(StrEnum):
    """What the largest queue has most of."""

    alone = "alone"
    held = "held"
    waiting = "waiting"
    oldest = "oldest"
    growth = "growth"


class RankedQueue(NamedTuple):
    """A queue of a broker. ``store``: the folder of its pages. ``growth``: bytes a second, None: not known."""

    broker: str
    store: Path
    backlog: Backlog
    growth: float | None = None

    @property
    def key(self) -> tuple[str, Path, int | None]:
        """The same in every look."""
        return self.broker, self.store, self.backlog.id


class QueuesLook(NamedTuple):
    """One look at the brokers: queues that hold pages, and the bytes of pages by who holds them.

    ``unknown`` bytes: nobody knows who holds them. ``wrong``: something is damaged or not known. ``failed``: why
    some of several places cannot be read. ``moment`` is of the monotonic clock.
    """

    queues: list[RankedQueue]
    size: int
    alone: int
    shared: int
    free: int
    unknown: int
    remarks: list[str]
    wrong: bool
    failed: list[str]
    moment: float

    def since(self, before: QueuesLook) -> QueuesLook:
        """With the growth since an earlier look; a queue that held nothing then is new."""
        was = {queue.key: queue.backlog.held for queue in before.queues}
        seconds = self.moment - before.moment
        rows = []
        for queue in self.queues:
            now, then = queue.backlog.held, was.get(queue.key, 0)
            known = now is not None and then is not None and seconds > 0
            rows.append(queue._replace(growth=(now - then) / seconds if known else None))  # type: ignore[operator]
        return self._replace(queues=rows)

    def ranked(self, order: TopOrder) -> list[RankedQueue]:
        """The largest first, what is not known last; equal ones by what they hold, and by name."""
        return sorted(self.queues, key=lambda queue: _rank(_VALUES[order](queue), queue))


_VALUES: Final[dict[TopOrder, Callable[[RankedQueue], float | None]]] = {
    TopOrder.alone: lambda queue: queue.backlog.alone,
    TopOrder.held: lambda queue: queue.backlog.held,
    TopOrder.waiting: lambda queue: queue.backlog.messages,
    TopOrder.oldest: lambda queue: None if queue.backlog.oldest is None else -queue.backlog.oldest,
    TopOrder.growth: lambda queue: queue.growth,
}


def _rank(value: float | None, queue: RankedQueue) -> tuple[object, ...]:
    of = queue.backlog
    return (value is None, -(value or 0), -(of.held or 0), queue.broker, of.address or "", of.queue or "", of.id)


def look(places: Sequence[DataLocation], advance: Callable[[int], None] = lambda _bytes: None) -> QueuesLook:
    """Reads all pages of the places, one at a time.

    Raises ``PageFmtError`` and ``OSError`` for a place that cannot be read, or where there are several tells of it.
    """
    found = QueuesLook([], 0, 0, 0, 0, 0, [], False, [], time.monotonic())
    for place in places:
        try:
            found = _with(found, place, advance)
        except (PageFmtError, OSError) as err:
            if len(places) == 1:
                raise
            found = found._replace(failed=[*found.failed, describe(err)])
    return found


class WatchedQueues:
    """The same places look after look: read again is only what changed since the look before."""

    def __init__(self, places: Sequence[DataLocation]) -> None:
        from pagefmt.outstanding.watch import PagesWatch

        self._watches = [PagesWatch(place) for place in places]

    def look(self) -> QueuesLook:
        """Raises what ``look`` raises."""
        found = QueuesLook([], 0, 0, 0, 0, 0, [], False, [], time.monotonic())
        for watch in self._watches:
            try:
                found = _with_watched(found, watch)
            except (PageFmtError, OSError) as err:
                if len(self._watches) == 1:
                    raise
                found = found._replace(failed=[*found.failed, describe(err)])
        return found


def _with_watched(found: QueuesLook, watch: PagesWatch) -> QueuesLook:
    broker, seen = str(watch.place.given), watch.look()
    queues, remarks = list(found.queues), [*found.remarks, *(f"{broker}: {remark}" for remark in seen.remarks)]
    (size, _, shared, free, unknown), wrong = found[1:6], found.wrong or seen.damaged
    for store in seen.stores:
        remarks += [f"{broker}: {store.address or store.folder.name}: {remark}" for remark in store.remarks]
        rows = store.uncounted if store.queues is None else store.queues
        queues += [RankedQueue(broker, store.folder, row) for row in rows if row.held != 0]
        size, shared, free = size + store.bytes, shared + store.shared, free + store.free
        unknown += store.unknown
        wrong |= bool(store.remarks)
    return QueuesLook(
        queues, size, size - shared - free - unknown, shared, free, unknown, remarks, wrong, found.failed, found.moment
    )


def _with(found: QueuesLook, place: DataLocation, advance: Callable[[int], None]) -> QueuesLook:
    from pagefmt.outstanding.backlog import backlog_of

    broker, queues, remarks = str(place.given), list(found.queues), list(found.remarks)
    (size, _, shared, free, unknown), wrong = found[1:6], found.wrong
    state = told_state(place, journal=True, say=lambda text: remarks.append(f"{broker}: {text}"))
    for known in each_store(place, state):
        store = backlog_of(known)
        name = store.whole.address or store.whole.folder
        remarks += [f"{broker}: {name}: {remark}" for remark in store.verdict.remarks]
        rows = [RankedQueue(broker, known.store.folder, queue) for queue in store.queues]
        queues += [row for row in rows if row.backlog.held != 0]
        size, shared, free = size + store.size, shared + store.shared, free + store.free
        unknown += store.unknown
        wrong |= not store.verdict.fine
        advance(store.size)
    wrong |= state.known.damaged or bool(state.journal.prepared)
    alone = size - shared - free - unknown
    return QueuesLook(queues, size, alone, shared, free, unknown, remarks, wrong, found.failed, found.moment)
