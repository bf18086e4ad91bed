"""The report of ``pages verify`` on a place: pages one by one, then findings, gravest first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pagefmt.check.broker_verdict import PageContext as InStore
from pagefmt.check.cross.run import cross_check
from pagefmt.check.page_reports import PageVerdict, first_layout, newest_of, verify_page
from pagefmt.check.seal import SealChange, SealDifference
from pagefmt.codec.pages.frames import Damage, DamageKind, no_bytes
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.directory.paging import Store
from pagefmt.directory.store_findings import StoreFault, paging_findings, store_findings
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data, gravest_first
from pagefmt.outstanding.state import PageLook, PagingState, StoreState, looking_ahead
from pagefmt.storage.files import NotReadable

# Said by the checks across the directories as well, with more to say.
_SAID_TWICE: Final = frozenset((StoreFault.DUPLICATE, StoreFault.EMPTY_PAGE))


@dataclass(frozen=True, slots=True)
class PageReport:
    """One page of a store. ``verdict`` is None if the system does not let us read it: ``problem`` says why.

    ``motion``: what a running broker is doing with it. ``permitted``: False if this user may not read it.
    """

    store: Store
    page: PageFile
    verdict: PageVerdict | None
    problem: str | None = None
    motion: str | None = None
    permitted: bool = True

    @property
    def file(self) -> str:
        """Return the name of the page file."""
        return self.page.name

    @property
    def size(self) -> int:
        """Return the bytes of the file."""
        return self.page.size if self.verdict is None else self.verdict.size

    @property
    def records(self) -> int:
        """Return how many records a broker hands out."""
        return 0 if self.verdict is None else self.verdict.records

    @property
    def sound(self) -> bool:
        """Return whether the page is readable, free of faults and read to its end by the broker, or being written."""
        return self.motion is not None or (
            self.verdict is not None and self.verdict.sound and self.verdict.broker.reading.whole
        )


class PageReader:
    """Reads pages to their last byte, as a broker of the edition would.

    Without an edition this is ``writer`` if it writes pages of this layout, else the newest edition that does.
    """

    def __init__(self, edition: Edition | None, writer: Edition | None = None) -> None:
        self._edition, self._writer = edition, writer
        self._layout: tuple[Store, Layout | None] | None = None
        self._bytes = 0  # of the pages verified so far

    def __call__(self, state: StoreState, page: PageFile) -> PageVerdict | Damage:
        """Return the verdict, or the damage that prevents reading the page at all."""
        store = state.store
        if self._layout is None or self._layout[0] is not store:
            self._layout = store, first_layout(store.pages)
        where = InStore(store.name, page.number, page.number == store.current_page, len(store.pages) == 1)
        try:
            edition, bytes_before = self._edition or self._fitting(self._layout[1]), self._bytes
            self._bytes += page.size
            return verify_page(page, where, edition, self._layout[1], bytes_before)
        except NotReadable as err:
            return no_bytes(err)

    def _fitting(self, layout: Layout | None) -> Edition | None:
        writer = self._writer
        fits = writer is not None and layout in (None, Layout.OLD if writer.old_layout else Layout.NEW)
        return writer if fits else None


def page_reports(state: StoreState, page_look: PageLook[PageVerdict | Damage]) -> Iterator[PageReport]:
    """Yield a report for every page of a store. ``look`` is a ``PageReader``, possibly one that reads ahead."""
    store = state.store
    for page in store.pages:
        verdict = page_look(state, page)
        if isinstance(verdict, Damage):
            problem = f"{page.path}: {verdict.detail}"
            permitted = verdict.kind is not DamageKind.NOT_PERMITTED
            yield PageReport(store, page, None, problem, state.motion(page, verdict), permitted)
        else:
            yield PageReport(store, page, verdict, motion=_motion(state, page, verdict.faults))


def _motion(state: StoreState, page: PageFile, faults: tuple[Damage, ...]) -> str | None:
    motions = [state.motion(page, fault) for fault in faults]
    return None if None in motions else next(iter(motions), None)


class PagesVerification:
    """Reads all pages of a place, store by store; once they are read it has the findings.

    ``edition``: the broker to judge by; None for the ``writer`` of the journals, else the newest that fits.
    """

    def __init__(
        self, place: DataLocation, state: PagingState, edition: Edition | None, writer: Edition | None, jobs: int
    ) -> None:
        self._place, self._state, self._edition, self._writer, self._jobs = place, state, edition, writer, jobs
        self._layout: Layout | None = None
        self._zeroed: list[Finding] = []
        self._of_folders: list[Finding] = []

    @property
    def times_read(self) -> int:
        """Return how often a page is read: once more for the checks across directories."""
        return 1 + checked_across(self._place, self._state)

    def stores(self) -> Iterator[tuple[Store, Iterator[PageReport]]]:
        """Yield each store with the reports of its pages, which have to be read before the next store."""
        addresses = self._state.addresses
        waiting = deque(self._state.of(stores(self._place)))
        with looking_ahead(PageReader(self._edition, self._writer), waiting, self._jobs) as page_look:
            while waiting:  # a store that was read is not kept
                store_state = waiting.popleft()
                self._of_folders += store_findings(store_state.store, addresses)
                self._layout = self._layout or first_layout(store_state.store.pages)
                yield store_state.store, self._pages(store_state, page_look)

    def _pages(self, store_state: StoreState, page_look: PageLook[PageVerdict | Damage]) -> Iterator[PageReport]:
        for report in page_reports(store_state, page_look):
            if report.verdict is not None and report.verdict.zeroed is not None:
                self._zeroed.append(report.verdict.zeroed)
            yield report

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong with sectors, with folders, and across pages, journal, bindings and large messages."""
        yield from self._zeroed
        yield from folder_findings(self._place, self._of_folders, self._state)
        yield from across(self._place, self._layout, self._state, self._edition or self._writer, self._jobs)


def folder_findings(place: DataLocation, of_stores: list[Finding], state: PagingState) -> list[Finding]:
    """Return the findings about names and kinds of files. ``found`` are those of each store, by ``store_findings``."""
    if not place.kind.is_part:
        of_stores = [*of_stores, *paging_findings(state.paging, state.same_address)]
    reported_twice = _SAID_TWICE if checked_across(place, state) else ()
    return sorted((finding for finding in of_stores if finding.rule not in reported_twice), key=gravest_first)


def checked_across(place: DataLocation, state: PagingState) -> bool:
    """Return whether the directory is a whole paging directory with a journal or bindings beside it."""
    alone = state.unknown is not None and state.unknown.alone
    return not alone and not place.kind.is_part


def across(
    place: DataLocation, layout: Layout | None, state: PagingState, edition: Edition | None, jobs: int = 1
) -> list[Finding]:
    """Return the findings across pages, journal, bindings and large messages.

    ``layout``: of the first page that shows one; it decides the edition if none is given.
    """
    if not checked_across(place, state):
        return []
    return cross_check(state, place.large_messages, edition or newest_of(layout), jobs)


def of_seal(difference: SealDifference) -> Finding:
    """Return the finding for a file that differs from its seal."""
    severity = Severity.WARNING if difference.change is SealChange.NEW else Severity.ERROR
    return about_data(severity, f"seal-{difference.change}", difference.file, difference.detail)
