"""``messages check``: what waits in journal and pages, as a monitoring plugin."""

from __future__ import annotations

import time
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pagectl.opening.broker import open_broker
from pagectl.options.backlog_thresholds import BacklogNumbers, BacklogThresholds, parse_ranges
from pagectl.options.disk import PLUGIN_FORMAT_HELP, QuietOption, TimeoutOption, VerboseOption
from pagectl.options.formats import PluginFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, InOption
from pagectl.outputs.plugin import Plugin
from pagectl.running.backlogs import journal_of, with_journal_of
from pagectl.running.deadline import Answer
from pagectl.running.exits import CallError
from pagectl.running.permissions import warn_closed
from pagectl.running.reading import each_store, told_state
from pagectl.terminal.nagios import Status
from pagefmt.columns.table_content import StoredIn
from pagefmt.findings import did_you_mean

if TYPE_CHECKING:
    from pagectl.opening.broker import OpenedBroker
    from pagectl.outputs.backlog_report import AddressState, BacklogReport
    from pageengine.paging.next_send import NextSend
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.backlog import Backlog, StoreBacklog
    from pagefmt.outstanding.journal_backlog import JournalBacklogs
    from pagefmt.outstanding.state import PagingState

EXAMPLES = (
    (
        "Warn if a queue has more than 10,000 messages waiting or holds more than 1 GiB",
        "messages check /var/lib/broker -w messages=10000 -w held=1G",
    ),
    (
        "Warn before a page limit is reached; refused messages are critical without a threshold",
        "messages check /var/lib/broker -w page-limit=80",
    ),
    (
        "Warn if the first message of a queue has waited for six hours",
        "messages check /var/lib/broker --queue red.news -w oldest=6h",
    ),
)


class BacklogOf(StrEnum):
    """What one backlog is of."""

    queue = "queue"
    address = "address"


class BacklogScope(NamedTuple):
    """Whose backlog is judged; without names of all."""

    by: BacklogOf
    addresses: frozenset[str]
    queues: frozenset[str]

    @property
    def by_name(self) -> bool:
        """The operator named some."""
        return bool(self.addresses or self.queues)

    def wants(self, row: Backlog) -> bool:
        """Whether a backlog is judged."""
        if self.queues:
            return row.queue in self.queues
        return not self.addresses or row.address in self.addresses


def command(
    given: DirArgument = None,
    queue: Annotated[
        list[str] | None,
        typer.Option("--queue", metavar="NAME", help="Only this queue; repeatable.", show_default=False),
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option("--address", metavar="ADDR", help="Only this address; repeatable.", show_default=False),
    ] = None,
    by: Annotated[BacklogOf, typer.Option("--by", help="Check each queue, or each address.")] = BacklogOf.queue,
    warning: Annotated[
        list[str] | None,
        typer.Option(
            "-w",
            "--warning",
            metavar="NAME=RANGE",
            help="Warning threshold: messages=1000, bytes=1G, pages=10, held=1G, oldest=6h or page-limit=80 (percent); "
            "repeatable.",
        ),
    ] = None,
    critical: Annotated[
        list[str] | None,
        typer.Option(
            "-c", "--critical", metavar="NAME=RANGE", help="Critical threshold, written the same way; repeatable."
        ),
    ] = None,
    within: InOption = StoredIn.LIVE,
    edition: EditionOption = None,
    timeout: TimeoutOption = 60.0,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    format: Annotated[PluginFormat, typer.Option("--format", help=PLUGIN_FORMAT_HELP)] = PluginFormat.nagios,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Check what waits for each queue, in the journal and in pages: messages and their bytes, pages held, bytes held
    (pages, journal, large-message files), oldest message. With a configuration also whether an address refuses, drops
    or blocks what is sent once the broker has started (limits of pages and memory, disk): that is CRITICAL.

    Messages in doubt count as waiting. Exit statuses are those of monitoring plugins: 0 OK, 1 WARNING (also for
    damage), 2 CRITICAL, 3 UNKNOWN (also if a backlog is not known).
    """
    thresholds = BacklogThresholds(parse_ranges(warning, "-w"), parse_ranges(critical, "-c"))
    scope = BacklogScope(by, frozenset(address or ()), frozenset(queue or ()))
    if scope.queues and (scope.addresses or by is BacklogOf.address):
        raise typer.BadParameter("--queue cannot be combined with --address or --by address")
    plugin = Plugin("MESSAGES", format, given or "the instance")

    def check() -> Answer:
        from pagectl.outputs.backlog_report import as_json, nagios

        opened = open_broker(given, broker.broker_xml, broker.reading(edition))
        report = _report(opened, scope, thresholds, within)
        if quiet and report.status is Status.OK:
            return Answer(Status.OK)
        details = verbose or format is PluginFormat.text
        return plugin.answer(report.status, lambda: nagios(report, details=details), lambda: as_json(report))

    return plugin.run(check, timeout)


def _report(
    broker: OpenedBroker, scope: BacklogScope, thresholds: BacklogThresholds, within: StoredIn
) -> BacklogReport:
    from pagectl.outputs.backlog_report import BacklogReport
    from pagefmt.outstanding.backlog import backlog_of
    from pagefmt.outstanding.journal_backlog import large_sizes
    from pagefmt.outstanding.overview import Condition

    place = broker.place
    if place.page is not None or (place.store is not None and scope.by_name):
        what = "a page" if place.page is not None else "a store folder, with --queue or --address"
        raise CallError(f"{place.given} is {what}: that is not the whole backlog; name the data directory")
    state = told_state(place, journal=True, within=within, closed=False)
    addresses = _wanted_addresses(state, scope, place)
    bodies = large_sizes(place.large_messages)
    wholes: list[Backlog] = []
    queues: list[Backlog] = []
    stores: list[StoreBacklog] = []
    remarks: list[tuple[Status, str]] = []
    seen: set[str | None] = {*state.addresses}
    unseen = False
    for known in each_store(place, state) if within is not StoredIn.JOURNAL else ():
        store = known.store
        seen.add(store.address)
        if scope.by_name and store.address is not None and store.address not in addresses:
            continue
        unseen |= store.hides_address
        found = backlog_of(known, bodies)
        if not found.verdict.fine:
            unknown = not found.verdict.counted or Condition.UNKNOWN in found.verdict.conditions
            status = Status.UNKNOWN if unknown and not store.from_replica else Status.WARNING
            remarks += [(status, f"{store.address or store.name}: {remark}") for remark in found.verdict.remarks]
        if not store.from_replica:
            stores.append(found)
            wholes.append(found.whole)
            queues += found.queues
    if within is not StoredIn.JOURNAL:
        warn_closed(place, say=lambda text: remarks.append((Status.UNKNOWN, text)))
    if missing := scope.addresses - seen:
        meant = did_you_mean(min(missing), filter(None, seen), "is the name right?")
        raise CallError(f"{place.given}: no queue and no pages of the address {min(missing)!r}; {meant}")
    if state.known.incomplete and not any(status is Status.UNKNOWN for status, _ in remarks):
        lost = [*state.known.lost(), *(each.reason for each in state.known.unknown())]
        remarks += [(Status.UNKNOWN, reason) for reason in lost]  # a queue without pages is in no store's remarks
    by_queue, by_address, journal = queues, wholes, None
    if with_journal_of(place, within):
        journal = journal_of(state, bodies)
        by_queue, by_address = _with_journal(journal, state, wholes, queues, unseen=unseen)
    rows = by_queue if scope.by is BacklogOf.queue else by_address
    now = time.time()
    judged = [
        (row, numbers := BacklogNumbers.of(row, now), thresholds.status(numbers)) for row in rows if scope.wants(row)
    ]
    judged.sort(key=lambda each: (-each[2].rank, -(each[0].messages or 0), each[0].address or "", each[0].queue or ""))
    shown = addresses if scope.by_name else {*state.addresses, *(whole.address for whole in wholes)} - {None}
    states: list[AddressState] = []
    if within is StoredIn.LIVE:
        states = _address_states(broker, state, journal, stores, by_queue, frozenset(filter(None, shown)))
    if thresholds.ask_page_limit and (not states or broker.configuration is None):
        why = "no configuration says it; --config names one" if within is StoredIn.LIVE else "it needs --in live"
        remarks.append((Status.UNKNOWN, f"page-limit: not known: {why}"))
    return BacklogReport(judged, thresholds, scope.by.value, scope.by_name, remarks, states)


def _address_states(
    broker: OpenedBroker, state: PagingState, journal: JournalBacklogs | None, stores: list[StoreBacklog],
    queues: list[Backlog], shown: frozenset[str],
) -> list[AddressState]:  # fmt: skip
    """Return what becomes of what is sent to each address of ``shown``; nothing of it where it is not known."""
    from pagectl.opening.send_limits import send_limits
    from pagectl.outputs.backlog_report import AddressState
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
        mine = of_address.setdefault(row.address, {})
        name = row.queue or ""
        before = mine.get(name, 0)
        mine[name] = None if row.messages is None or before is None else before + row.messages
    return [
        AddressState(address, None if address in unknown else sends.get(address), of_address.get(address, {}))
        for address in sorted(shown)
    ]


def _with_journal(
    journal: JournalBacklogs | None,
    state: PagingState,
    wholes: list[Backlog],
    queues: list[Backlog],
    *,
    unseen: bool,
) -> tuple[list[Backlog], list[Backlog]]:
    """Of each queue, and of each address."""
    from pagefmt.outstanding.backlog import of_addresses, with_journal

    bound = state.bindings.queues if state.bindings is not None else {}
    of_queue = None if journal is None else journal.of_queues()
    of_address = None if journal is None else journal.of_addresses(bound)
    return (
        [*with_journal(queues, of_queue, bound, unseen=unseen)],
        [*of_addresses(wholes, of_address, sorted(state.addresses), unseen=unseen)],
    )


def _wanted_addresses(state: PagingState, scope: BacklogScope, place: DataLocation) -> frozenset[str]:
    """Of what was named. Raises ``CallError`` for a queue that is not there."""
    unknown = state.known.unknown_bindings
    if scope.queues and unknown is not None:
        raise CallError(unknown.reason)
    queues = state.bindings.queues.values() if state.bindings is not None else ()
    names = {queue.name for queue in queues}
    if missing := scope.queues - names:
        meant = did_you_mean(min(missing), names, f"{place.call('messages ls')} has their names")
        raise CallError(f"no queue {min(missing)!r} in the bindings; {meant}")
    return scope.addresses.union(queue.address for queue in queues if queue.name in scope.queues)
