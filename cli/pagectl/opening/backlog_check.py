"""The backlogs of a broker judged by thresholds, and what each address does with what is sent to it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pagectl.options.backlog_thresholds import AddressState, BacklogNumbers, BacklogThresholds, JudgedBacklogs
from pagectl.running.backlogs import journal_of, with_journal_of
from pagectl.running.exits import CallError
from pagectl.running.permissions import warn_closed
from pagectl.running.reading import each_store, state_of_place
from pagectl.terminal.nagios import Status
from pagefmt.findings import did_you_mean
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagectl.opening.broker import OpenedBroker
    from pageengine.paging.next_send import NextSend
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.backlog import Backlog, StoreBacklog
    from pagefmt.outstanding.journal_backlog import JournalBacklogs
    from pagefmt.outstanding.state import PagingState


class BacklogOf(StrEnum):
    """Whether a backlog is that of a queue or that of an address."""

    queue = "queue"
    address = "address"


class BacklogScope(NamedTuple):
    """Which backlogs are judged: those of the named queues or addresses; without names, all."""

    by: BacklogOf
    addresses: frozenset[str]
    queues: frozenset[str]

    @property
    def by_name(self) -> bool:
        """Return whether queues or addresses are named."""
        return bool(self.addresses or self.queues)

    def wants(self, row: Backlog) -> bool:
        """Return whether a backlog is to be judged."""
        if self.queues:
            return row.queue in self.queues
        return not self.addresses or row.address in self.addresses

    def all_addresses(self, state: PagingState, place: DataLocation) -> frozenset[str]:
        """Return the named addresses and those of the named queues. Raise ``CallError`` for a queue without binding."""
        unknown = state.known.unknown_bindings
        if self.queues and unknown is not None:
            raise CallError(unknown.reason)
        queues = state.bindings.queues.values() if state.bindings is not None else ()
        names = {queue.name for queue in queues}
        if missing := self.queues - names:
            meant = did_you_mean(min(missing), names, f"{place.call('messages ls')} has their names")
            raise CallError(f"no queue {min(missing)!r} in the bindings; {meant}")
        return self.addresses.union(queue.address for queue in queues if queue.name in self.queues)


@dataclass(slots=True)
class _PagedBacklogs:
    """Backlogs in pages, of addresses (``wholes``) and of their queues.

    ``seen``: addresses that have a store. ``unseen``: whether a store hides its address. ``remarks`` with the status
    that each is worth.
    """

    wholes: list[Backlog] = field(default_factory=list)
    queues: list[Backlog] = field(default_factory=list)
    stores: list[StoreBacklog] = field(default_factory=list)
    seen: set[str | None] = field(default_factory=set)
    unseen: bool = False
    remarks: list[tuple[Status, str]] = field(default_factory=list)


def judge_backlogs(
    broker: OpenedBroker, scope: BacklogScope, thresholds: BacklogThresholds, within: StoredIn
) -> JudgedBacklogs:
    """Read pages and journal and judge the backlogs. Raise ``CallError`` for names that do not exist."""
    from pagefmt.outstanding.journal_backlog import large_sizes

    place = broker.place
    if place.page is not None or (place.store is not None and scope.by_name):
        what = "a page" if place.page is not None else "a store folder, with --queue or --address"
        raise CallError(f"{place.given} is {what}: that is not the whole backlog; name the data directory")
    state = state_of_place(place, journal=True, within=within, closed=False)
    addresses = scope.all_addresses(state, place)
    bodies = large_sizes(place.large_messages)
    chosen = addresses if scope.by_name else None
    paged = _PagedBacklogs() if within is StoredIn.JOURNAL else _backlogs_in_pages(place, state, bodies, chosen)
    seen = {*state.addresses, *paged.seen}
    if missing := scope.addresses - seen:
        meant = did_you_mean(min(missing), filter(None, seen), "is the name right?")
        raise CallError(f"{place.given}: no queue and no pages of the address {min(missing)!r}; {meant}")
    remarks = paged.remarks
    if state.known.incomplete and not any(status is Status.UNKNOWN for status, _ in remarks):
        lost = [*state.known.lost(), *(unknown.reason for unknown in state.known.unknown())]
        remarks += [(Status.UNKNOWN, reason) for reason in lost]  # a queue without pages is in no store's remarks
    by_queue, by_address, journal = paged.queues, paged.wholes, None
    if with_journal_of(place, within):
        journal = journal_of(state, bodies)
        by_queue, by_address = _with_journal(journal, state, paged)
    rows = by_queue if scope.by is BacklogOf.queue else by_address
    states: list[AddressState] = []
    if within is StoredIn.LIVE:
        shown = addresses if scope.by_name else {*state.addresses, *(whole.address for whole in paged.wholes)} - {None}
        states = _address_states(broker, state, journal, paged.stores, by_queue, frozenset(filter(None, shown)))
    if thresholds.ask_page_limit and (not states or broker.configuration is None):
        why = "no configuration says it; --config names one" if within is StoredIn.LIVE else "it needs --in live"
        remarks.append((Status.UNKNOWN, f"page-limit: not known: {why}"))
    judged = _judged(filter(scope.wants, rows), thresholds)
    return JudgedBacklogs(judged, thresholds, scope.by.value, scope.by_name, remarks, states)


def _backlogs_in_pages(
    place: DataLocation, state: PagingState, bodies: Mapping[int, int], addresses: frozenset[str] | None
) -> _PagedBacklogs:
    """Read the pages. ``addresses``: whose stores are read; None for all."""
    from pagefmt.outstanding.backlog import backlog_of
    from pagefmt.outstanding.overview import Condition

    paged = _PagedBacklogs()
    for store_state in each_store(place, state):
        store = store_state.store
        paged.seen.add(store.address)
        if addresses is not None and store.address is not None and store.address not in addresses:
            continue
        paged.unseen |= store.hides_address
        backlog = backlog_of(store_state, bodies)
        if not backlog.verdict.fine:
            unknown = not backlog.verdict.counted or Condition.UNKNOWN in backlog.verdict.conditions
            status = Status.UNKNOWN if unknown and not store.from_replica else Status.WARNING
            name = store.address or store.name
            paged.remarks += [(status, f"{name}: {remark}") for remark in backlog.verdict.remarks]
        if not store.from_replica:
            paged.stores.append(backlog)
            paged.wholes.append(backlog.whole)
            paged.queues += backlog.queues
    warn_closed(place, say=lambda text: paged.remarks.append((Status.UNKNOWN, text)))
    return paged


def _with_journal(
    journal: JournalBacklogs | None, state: PagingState, paged: _PagedBacklogs
) -> tuple[list[Backlog], list[Backlog]]:
    """Return the backlogs of each queue and of each address, in pages and in the journal."""
    from pagefmt.outstanding.backlog import of_addresses, with_journal

    bound = state.bindings.queues if state.bindings is not None else {}
    of_queue = None if journal is None else journal.of_queues()
    of_address = None if journal is None else journal.of_addresses(bound)
    return (
        [*with_journal(paged.queues, of_queue, bound, unseen=paged.unseen)],
        [*of_addresses(paged.wholes, of_address, sorted(state.addresses), unseen=paged.unseen)],
    )


def _judged(rows: Iterable[Backlog], thresholds: BacklogThresholds) -> list[tuple[Backlog, BacklogNumbers, Status]]:
    """Return the backlogs with their numbers and statuses, the gravest and largest first."""
    now = time.time()
    numbered = [(row, BacklogNumbers.of(row, now)) for row in rows]
    judged = [(row, numbers, thresholds.status(numbers)) for row, numbers in numbered]
    return sorted(
        judged, key=lambda row: (-row[2].rank, -(row[0].messages or 0), row[0].address or "", row[0].queue or "")
    )


def _address_states(
    broker: OpenedBroker,
    state: PagingState,
    journal: JournalBacklogs | None,
    stores: list[StoreBacklog],
    queues: list[Backlog],
    shown: frozenset[str],
) -> list[AddressState]:
    """Return what becomes of what is sent to each address of ``shown``; ``sends`` is None where it is not known."""
    from pagectl.opening.send_limits import send_limits
    from pageengine.data_directory.after_start import pages_of_store
    from pageengine.paging.next_send import PagesAtStart

    pages: dict[str, PagesAtStart] = dict.fromkeys(state.addresses, PagesAtStart())
    for store in stores:
        if store.whole.address is not None:
            most = max((queue.messages or 0 for queue in store.queues), default=0)
            pages[store.whole.address] = pages_of_store(len(store.waiting), store.waiting, store.size, most)
    unknown = {store.whole.address for store in stores if not store.verdict.counted}
    limits = send_limits(broker) if journal is not None else None
    sends: dict[str, NextSend] = {}
    if limits is not None and journal is not None:
        sends = limits.next_sends(pages, partial(limits.memory, state, journal.parts))
    of_address: dict[str | None, dict[str, int | None]] = {}
    for row in queues:
        counts = of_address.setdefault(row.address, {})
        name = row.queue or ""
        before = counts.get(name, 0)
        counts[name] = None if row.messages is None or before is None else before + row.messages
    return [
        AddressState(address, None if address in unknown else sends.get(address), of_address.get(address, {}))
        for address in sorted(shown)
    ]
