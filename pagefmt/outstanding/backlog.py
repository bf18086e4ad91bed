"""The backlog of each queue of a store: what waits, since when, and which bytes come back without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.record import PageRecord
from pagefmt.directory.bindings import QueueBinding
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_backlog import LOOKED_AT_FOR_A_TIME, JournalBacklog
from pagefmt.outstanding.overview import StoreVerdict, judged
from pagefmt.outstanding.page_load import QueueLoad
from pagefmt.outstanding.state import StoreState, StoreSummary

# Seconds that the sender's clock may be ahead of ours.
CLOCKS_DIFFER: Final = 60.0


class Backlog(NamedTuple):
    """What waits for a queue, or with ``queue`` None for any queue of an address; None: not known.

    ``messages`` of ``bytes`` are outstanding, ``journal`` of them in the message journal and the others in pages; what
    is ``in_doubt`` counts apart (for an address: among them). ``pages`` of ``held`` bytes stay for them, ``alone`` of
    these bytes for nobody else. ``beside``: bytes that they take in the journal and in large-message files. ``oldest``:
    timestamp (ms) of the first message that has one.
    """

    address: str | None
    folder: str
    queue: str | None
    id: int | None
    messages: int | None = None
    bytes: int | None = None
    in_doubt: int | None = None
    pages: int | None = None
    held: int | None = None
    alone: int | None = None
    oldest: int | None = None
    journal: int = 0
    beside: int = 0

    @property
    def in_journal(self) -> int | None:
        """Return how many messages wait in the journal, None if that is not known."""
        return None if self.messages is None else self.journal

    @property
    def disk(self) -> int | None:
        """Return the bytes on disk for the queue: pages, journal, large-message files. None if they are not known."""
        return None if self.held is None else self.held + self.beside

    def with_journal(self, journal: JournalBacklog) -> Backlog:
        """Return the backlog with that of the journal added. The counts of pages must be known."""
        assert self.messages is not None and self.bytes is not None and self.in_doubt is not None
        return self._replace(
            messages=self.messages + journal.messages,
            bytes=self.bytes + journal.bytes,
            in_doubt=self.in_doubt + journal.in_doubt,
            oldest=min((time for time in (self.oldest, journal.oldest) if time is not None), default=None),
            journal=self.journal + journal.messages,
            beside=self.beside + journal.bytes + journal.large,
        )

    def age(self, now: float) -> float | None:
        """Return the age of the oldest message in seconds, 0 if nothing waits. ``now`` is in seconds since 1970.

        None if no message has a time, or it lies further in the future than clocks differ.
        """
        if self.oldest is None:
            return 0.0 if self.messages == 0 else None
        age = now - self.oldest / 1000
        return None if age < -CLOCKS_DIFFER else max(age, 0.0)


class SharedPages(NamedTuple):
    """Pages of one address, each of which all of these ``queues`` and no others hold."""

    address: str | None
    queues: tuple[str, ...]
    pages: int
    bytes: int


class StoreBacklog(NamedTuple):
    """The backlog of a store with pages of ``size`` bytes: as a ``whole``, and by queue in rising order of ids.

    ``groups`` of queues hold the ``shared`` bytes, no queue holds the ``free`` ones, and for the ``unknown`` ones that
    is not known. ``waiting``: for each page file, the newest last, whether a queue holds it, or may do so.
    """

    whole: Backlog
    queues: tuple[Backlog, ...]
    size: int
    shared: int
    free: int
    unknown: int
    verdict: StoreVerdict
    moving: dict[int, str]
    groups: tuple[SharedPages, ...] = ()
    waiting: tuple[bool, ...] = ()


def backlog_of(state: StoreState, bodies: Mapping[int, int]) -> StoreBacklog:
    """Read the store's pages one at a time. ``bodies``: message id → bytes of its large-message file.

    Raises ``CannotKnow`` where the journal is not known.
    """
    summary, verdict = judged(state)
    address, folder = summary.address, summary.folder
    if not verdict.counted:
        rows = tuple(Backlog(address, folder, queue.name, queue.id) for queue in summary.queues)
        whole = Backlog(address, folder, None, None)
        size = _size(summary)
        return StoreBacklog(whole, rows, size, 0, 0, size, verdict, summary.moving)
    since = _oldest(state, summary.queues)
    rows = tuple(
        Backlog(
            address,
            folder,
            queue.name,
            queue.id,
            queue.messages,
            queue.bytes,
            queue.in_doubt,
            queue.pages,
            queue.held_bytes,
            queue.held_alone,
            since.get(queue.id),
            beside=sum(bodies.get(message, 0) for message in queue.large),
        )
        for queue in summary.queues
    )
    whole = _whole(summary, since, bodies)
    return StoreBacklog(
        whole,
        rows,
        _size(summary),
        *_others(summary),
        verdict,
        summary.moving,
        tuple(_groups(summary)),
        tuple(page.holders != () for page in summary.pages),
    )


def with_journal(
    rows: Iterable[Backlog],
    journal: Mapping[int, JournalBacklog] | None,
    queues: Mapping[int, QueueBinding],
    *,
    unseen: bool = False,
) -> Iterator[Backlog]:
    """Yield rows of queues with what these wait for in the journal, and a row for each of ``queues`` that has none.

    Of several rows of a queue (folders of one address) the first gets it. ``journal`` None: it is not known what any
    waits for. ``unseen``: there are pages that this user may not read, so that it is not known what waits for a queue
    without a row.
    """
    remaining = dict(journal or {})
    seen = set()
    for row in rows:
        seen.add(row.id)
        if journal is None:
            yield Backlog(*row[:4])
            continue
        backlog = remaining.pop(row.id, None) if row.id is not None and row.messages is not None else None
        yield row if backlog is None else row.with_journal(backlog)
    for number, queue in sorted(queues.items()):
        if number not in seen and (unseen or journal is None):
            remaining.pop(number, None)
            yield Backlog(queue.address, "", queue.name, number)
        elif number not in seen:
            empty = Backlog(queue.address, "", queue.name, number, 0, 0, 0, 0, 0, 0)
            yield empty.with_journal(remaining.pop(number, JournalBacklog()))
    for number, backlog in sorted(remaining.items()):
        if number not in seen:
            yield Backlog(None, "", str(number), number, 0, 0, 0, 0, 0, 0).with_journal(backlog)


def of_addresses(
    wholes: Iterable[Backlog],
    journal: Mapping[str | None, JournalBacklog] | None,
    addresses: Iterable[str],
    *,
    unseen: bool = False,
) -> Iterator[Backlog]:
    """Yield rows of addresses with what waits in the journal there, and a row for each of ``addresses`` without.

    ``journal`` and ``unseen``: as for ``with_journal``.
    """
    remaining, seen = dict(journal or {}), set()
    for row in wholes:
        seen.add(row.address)
        if journal is None:
            yield Backlog(*row[:4])
            continue
        backlog = remaining.pop(row.address, None) if row.messages is not None else None
        yield row if backlog is None else row.with_journal(backlog)
    for address in sorted({*addresses, *filter(None, remaining)} - seen):
        if unseen or journal is None:
            yield Backlog(address, "", None, None)
            continue
        empty = Backlog(address, "", None, None, 0, 0, 0, 0, 0, 0)
        yield empty.with_journal(remaining.get(address, JournalBacklog()))


def _groups(summary: StoreSummary) -> Iterator[SharedPages]:
    names = {queue.id: queue.name for queue in summary.queues}
    together: dict[tuple[int, ...], list[int]] = {}
    for page in summary.pages:
        if len(page.held_by) > 1:
            together.setdefault(page.held_by, []).append(page.size)
    for queues, sizes in together.items():
        shown = tuple(names.get(queue, str(queue)) for queue in queues)
        yield SharedPages(summary.address, shown, len(sizes), sum(sizes))


def _size(summary: StoreSummary) -> int:
    return sum(page.size for page in summary.pages)


def _others(summary: StoreSummary) -> tuple[int, int, int]:
    shared = sum(page.size for page in summary.pages if len(page.held_by) > 1)
    free, unknown = (sum(page.size for page in summary.pages if page.holders == by) for by in ((), None))
    return shared, free, unknown


def _whole(summary: StoreSummary, since: dict[int, int], bodies: Mapping[int, int]) -> Backlog:
    large = {message for queue in summary.queues for message in queue.large}
    held = [page for page in summary.pages if page.held_by]
    size = sum(page.size for page in held)
    return Backlog(
        summary.address,
        summary.folder,
        None,
        None,
        sum(page.live_records for page in held),
        sum(page.live_bytes for page in held),
        0,
        len(held),
        size,
        size,
        min(since.values(), default=None),
        beside=sum(bodies.get(message, 0) for message in large),
    )


def _oldest(state: StoreState, queues: Iterable[QueueLoad]) -> dict[int, int]:
    """Return by queue id the timestamp (ms) of the first outstanding message that has one.

    A queue is absent if none of the first few has one.
    """
    begin: dict[int, list[QueueLoad]] = {}
    for queue in queues:
        if queue.first is not None:
            begin.setdefault(queue.first[0], []).append(queue)
    oldest: dict[int, int] = {}
    for page in state.store.pages:
        if page.number in begin:
            with open_page(page) as opened:
                rule = state.sure_rule(page.number)
                for queue in begin[page.number]:
                    assert queue.first is not None
                    when = first_timestamp(opened, rule, queue.id, queue.begins, queue.first[1])
                    if when is not None:
                        oldest[queue.id] = when
    return oldest


def first_timestamp(opened: Page, rule: PageRule, queue: int, begins: int, number: int) -> int | None:
    """Return the first timestamp (ms) that is set among the records that wait for a queue, from that record on."""
    layout, behind = opened.strict_layout(), opened.handed_out(begins, number)
    for route in islice(behind, LOOKED_AT_FOR_A_TIME):
        if isinstance(route, Damage) or not rule.outstanding(route[0], route[3], {queue}.intersection(route[6])):
            continue
        record = opened.record(*route[:3], layout)
        if isinstance(record, PageRecord) and record.message.timestamp > 0:
            return record.message.timestamp
    return None
