"""Stores read one after another: how much is in each, what is outstanding, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.opening.assumed_edition import edition_for
from pagectl.opening.broker import located, open_broker
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import EditionChoice, edition_of
from pagectl.running.permissions import refuse_without_pages
from pagectl.running.reading import bytes_to_read, each_store, state_of_place
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note
from pagefmt.editions import Edition
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagectl.opening.broker import OpenedBroker
    from pagectl.opening.live import LiveBeside
    from pagectl.opening.send_limits import Memory, SendLimits
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.overview import StoreOverview, StoreVerdict
    from pagefmt.outstanding.state import PagingState, StoreState, StoreSummary


@dataclass(slots=True)
class StoreOverviews:
    """The overview of each store, with notes about what a running broker is doing with its pages.

    ``jobs``: processes that read. ``beside_output``: whether the answer is printed while they read. ``wrong``: whether
    one of the stores that were read is in a bad condition.
    """

    broker: OpenedBroker
    state: PagingState
    jobs: int
    beside_output: bool
    wrong: bool = False

    def __iter__(self) -> Iterator[StoreOverview]:
        from pagectl.opening.send_limits import send_limits
        from pagefmt.outstanding.overview import count_page, overview
        from pagefmt.outstanding.state import looking_ahead

        limits = send_limits(self.broker)
        stores = list(each_store(self.broker.place, self.state))
        memory = cache(lambda: limits.memory(self.state) if limits is not None else {})
        with (
            progress("reading pages", bytes_to_read(self.broker.place), beside_output=self.beside_output) as bar,
            looking_ahead(count_page, stores, self.jobs) as page_reader,
        ):
            for store in stores:
                row = overview(store, page_reader)
                for remark in row.notes:
                    note(f"{row.folder}: {remark}")
                bar.advance(row.bytes)
                self.wrong |= not row.verdict.fine
                yield row if limits is None else _limited(row, store, limits, memory)


def _limited(row: StoreOverview, store: StoreState, limits: SendLimits, memory: Memory) -> StoreOverview:
    """Return the overview with how much of the page limit of its address is used."""
    from pageengine.data_directory.after_start import pages_of_store

    if row.address is None or not row.verdict.counted or store.read_instead is not None:
        return row
    most = 0
    if limits.counts_messages(row.address):
        most = max((queue.messages for queue in store.summary().queues), default=0)
    send = limits.page_limit(row.address, pages_of_store(row.pages, row.waiting, row.bytes, most), memory)
    return row._replace(
        page_full=send.page_full, page_limit_used=None if send.limit is None else round(send.limit.used, 4)
    )


def located_beside(
    directory: Path | None, broker: BrokerOptions, url: str | None, credentials: Path | None
) -> tuple[LiveBeside | None, DataLocation]:
    """Return the running broker behind the console ``url``, None without one, and the directory."""
    if url is None:
        return None, located(directory, broker, far=True)
    from pagectl.opening.live import LiveBeside

    opened = open_broker(directory, broker.broker_xml, broker.reading())
    return LiveBeside(url, credentials, opened), opened.place


def outstanding_state(place: DataLocation, choice: EditionChoice | None) -> PagingState:
    """Return what tells which messages of the pages are outstanding. Raise ``CannotKnow`` if a directory is missing.

    ``choice``: the broker release to assume, for a note about filters.
    """
    refuse_without_pages(place)
    state = state_of_place(place, journal=True, within=StoredIn.PAGES)
    edition = edition_for(choice, state)
    if edition <= Edition.ARTEMIS_2_17:
        why = "" if edition_of(choice) else " (its journals show what such a release writes)"
        note(
            f"{edition.value}{why} tests a queue's filter again when it reads pages, and confirms what does not match; "
            "where a filter was changed after sending it delivers less than is counted here"
        )
    return state


@dataclass(slots=True)
class StoreSummaries:
    """What the queues of each store wait for, with notes about what a running broker is doing with its pages.

    ``positions``: whether the position of each outstanding message is kept. ``jobs`` and ``wrong``: as for
    ``StoreOverviews``.
    """

    place: DataLocation
    state: PagingState
    jobs: int
    positions: bool
    wrong: bool = False

    def __iter__(self) -> Iterator[tuple[StoreSummary, StoreVerdict]]:
        from pagefmt.outstanding.overview import judged
        from pagefmt.outstanding.state import StoreState, looking_ahead

        stores = list(each_store(self.place, self.state))
        read_page = partial(StoreState.page, keep=self.positions)
        with (
            progress("reading pages", bytes_to_read(self.place)) as bar,
            looking_ahead(read_page, stores, self.jobs) as page_reader,
        ):
            for store in stores:
                summary, verdict = judged(store, page_reader)
                bar.advance(sum(page.size for page in summary.pages))
                bar.clear()
                self.wrong |= not verdict.fine
                for number, motion in summary.moving.items():
                    note(f"{summary.folder}: page {number}: {motion}")
                yield summary, verdict
