"""The checks of ``messages verify``: messages, references, queues, transactions and bodies held against one another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagectl.opening.assumed_edition import writer_of
from pagectl.running.permissions import closed_finding
from pagectl.running.reading import while_it_moves
from pagefmt.directory.permissions import Reads
from pagefmt.findings import Finding, Severity, about_data, gravest_first
from pagefmt.quantities import count_text
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.state import PagingState, StoreState


def verify_messages(
    place: DataLocation, within: StoredIn, edition: Edition | None, jobs: int
) -> tuple[PagingState, list[Finding]]:
    """Return what is known of the directories, and the findings, gravest first.

    ``edition``: None for the one that the journals show, else the newest.
    """
    from pagefmt.vectors import load_place

    def verify() -> tuple[PagingState, list[Finding]]:
        state = load_place(place)
        return state, sorted(_findings(place, state, within, edition, jobs), key=gravest_first)

    return while_it_moves(place, verify)


def _findings(
    place: DataLocation, state: PagingState, within: StoredIn, edition: Edition | None, jobs: int
) -> Iterator[Finding]:
    from pagefmt.check.cross.of_journal import check_journals, check_paging
    from pagefmt.check.cross.of_messages import check_messages
    from pagefmt.check.journal_findings import unreadable_messages
    from pagefmt.check.judged_edition import judged_edition
    from pagefmt.check.page_reports import first_layout
    from pagefmt.check.report import across, folder_findings
    from pagefmt.directory.locate import stores
    from pagefmt.directory.store_findings import store_findings
    from pagefmt.outstanding.journal_parts import JournalParts

    within = StoredIn.JOURNAL if place.kind.is_journal else within
    judged_as = edition or judged_edition(state)
    layout = None
    if within is not StoredIn.JOURNAL:
        yield from closed_finding(place, Reads.PAGES | Reads.LARGE)
        listed = list(state.of(stores(place)))
        layouts = (first_layout(stored.store.pages) for stored in listed)
        layout = next((layout for layout in layouts if layout is not None), None)
        yield from _damaged_pages(place, state, listed, edition, jobs)
        addresses = state.addresses
        named = [finding for stored in listed for finding in store_findings(stored.store, addresses)]
        yield from folder_findings(place, named, state)
    if within is StoredIn.LIVE:
        yield from across(place, layout, state, judged_as, jobs)
    elif within is StoredIn.JOURNAL:
        yield from check_journals(state)
    else:
        yield from check_paging(state.known)
    if within is not StoredIn.PAGES and state.known.unknown_journal is None:
        yield from check_messages(state)
        yield from unreadable_messages(JournalParts(state, None), judged_as)


def _damaged_pages(
    place: DataLocation, state: PagingState, listed: list[StoreState], edition: Edition | None, jobs: int
) -> Iterator[Finding]:
    """Yield a finding for each store with damaged pages."""
    from pagefmt.check.report import PageReader, page_reports
    from pagefmt.outstanding.state import looking_ahead

    with looking_ahead(PageReader(edition, writer_of(state)), listed, jobs) as reader:
        for stored in listed:
            bad = [report for report in page_reports(stored, reader) if report.permitted and not report.sound]
            if bad:
                yield about_data(
                    Severity.ERROR,
                    "damaged-page",
                    f"store {stored.store.name}",
                    f"{count_text(len(bad), 'page')} damaged, the first is {bad[0].file}",
                    f"see: {place.call('pages verify')}",
                )
