"""The backlog of each queue of a store: what waits in pages, since when, and which bytes come back without it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.overview import StoreVerdict, judged
from pagefmt.outstanding.page_load import QueueLoad
from pagefmt.outstanding.state import StoreState, StoreSummary
from pagefmt.pages.frames import Damage
from pagefmt.pages.page import Page, open_page
from pagefmt.pages.record import PageRecord

CLOCKS_DIFFER: Final = 60.0
"""Seconds that the sender's clock may be ahead of ours."""
_LOOKED_AT_FOR_A_TIME: Final = 64


class Backlog(NamedTuple):
    """What waits for a queue in pages, or with ``queue`` None for any queue of an address; None: not known.

    ``messages`` of ``bytes`` are outstanding, what is ``in_doubt`` counts apart (for an address: among them). ``pages``
    of ``held`` bytes stay for them, ``alone`` of these bytes for nobody else. ``oldest``: timestamp (ms) of the first
    message that has one.
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

    def age(self, now: float) -> float | None:
        """Of the oldest message in seconds, ``now`` in seconds since 1970; 0 where nothing waits. None: no message has
        a time, or one that is further ahead than clocks differ."""
        if self.oldest is None:
            return 0.0 if self.messages == 0 else None
        age = now - self.oldest / 1000
        return None if age < -CLOCKS_DIFFER else max(age, 0.0)


class StoreBacklog(NamedTuple):
    """Of a store with pages of ``size`` bytes: ``whole``, and by queue in rising order of ids.

    ``shared`` bytes are held by several queues together, ``free`` ones by nobody; of ``unknown`` ones nobody knows.
    """

    whole: Backlog
    queues: tuple[Backlog, ...]
    size: int
    shared: int
    free: int
    unknown: int
    verdict: StoreVerdict
    moving: dict[int, str]


def backlog_of(state: StoreState) -> StoreBacklog:
    """Reads the store's pages one at a time. Raises ``CannotKnow`` where the journal is not known."""
    summary, verdict = judged(state)
    address, folder = summary.address, summary.folder
    if not verdict.counted:
        rows = tuple(Backlog(address, folder, queue.name, queue.id) for queue in summary.queues)
        whole = Backlog(address, folder, None, None)
        size = _size(summary)
        return StoreBacklog(whole, rows, size, 0, 0, size, verdict, summary.moving)
    since = _oldest(state, summary.queues)
    rows = tuple(
        Backlog(address, folder, queue.name, queue.id, queue.messages, queue.bytes, queue.in_doubt, queue.pages,
                queue.held_bytes, queue.held_alone, since.get(queue.id))
        for queue in summary.queues
    )  # fmt: skip
    return StoreBacklog(_whole(summary, since), rows, _size(summary), *_others(summary), verdict, summary.moving)


def _size(summary: StoreSummary) -> int:
    return sum(page.size for page in summary.pages)


def _others(summary: StoreSummary) -> tuple[int, int, int]:
    shared = sum(page.size for page in summary.pages if len(page.held_by) > 1)
    free, unknown = (sum(page.size for page in summary.pages if page.holders == by) for by in ((), None))
    return shared, free, unknown


def _whole(summary: StoreSummary, since: dict[int, int]) -> Backlog:
    held = [page for page in summary.pages if page.held_by]
    size = sum(page.size for page in held)
    return Backlog(
        summary.address, summary.folder, None, None, sum(page.live_records for page in held),
        sum(page.live_bytes for page in held), 0, len(held), size, size, min(since.values(), default=None),
    )  # fmt: skip


def _oldest(state: StoreState, queues: Iterable[QueueLoad]) -> dict[int, int]:
    """By queue id, where one of the first outstanding messages has a timestamp."""
    begin: dict[int, list[QueueLoad]] = {}
    for queue in queues:
        if queue.first is not None:
            begin.setdefault(queue.first[0], []).append(queue)
    found: dict[int, int] = {}
    for page in state.store.pages:
        if page.number in begin:
            with open_page(page) as opened:
                rule = state.sure_rule(page.number)
                for queue in begin[page.number]:
                    assert queue.first is not None
                    when = first_timestamp(opened, rule, queue.id, queue.begins, queue.first[1])
                    if when is not None:
                        found[queue.id] = when
    return found


def first_timestamp(opened: Page, rule: PageRule, queue: int, begins: int, number: int) -> int | None:
    """The first that is set (ms), of the records that wait for a queue from that offset and number on."""
    layout, behind = opened.strict_layout(), opened.handed_out(begins, number)
    for route in islice(behind, _LOOKED_AT_FOR_A_TIME):
        if isinstance(route, Damage) or not rule.outstanding(route[0], route[3], {queue}.intersection(route[6])):
            continue
        record = opened.record(*route[:3], layout)
        if isinstance(record, PageRecord) and record.message.timestamp > 0:
            return record.message.timestamp
    return None
