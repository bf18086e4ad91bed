"""``pages verify``: every page read to the last byte, and checks across pages, journal, bindings, large messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, ListFormatOption, edition_of, processes
from pagectl.outputs.finding_text import FindingText, mark
from pagectl.running.exits import Exit
from pagectl.running.permissions import closed_finding, refuse_without_pages
from pagectl.running.reading import bytes_to_read, each_store
from pagectl.terminal.progress import Progress, progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import JsonItems, note, wrapped
from pagefmt.directory.permissions import Reads
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.findings import Finding
    from pagefmt.outstanding.state import PagingState
    from pagefmt.pages.paging import Store
    from pagefmt.verify.report import PageReport

FAULTS_SHOWN = 5


EXAMPLES = (
    ("Every page, every record, and the files around them", "pages verify /var/lib/broker"),
    ("Is a backup still what was sealed?", "pages verify /var/lib/broker --manifest pages.seal"),
)


def command(
    given: DirArgument = None,
    form: ListFormatOption = ListFormat.text,
    manifest: Annotated[
        Path | None,
        typer.Option("--manifest", metavar="FILE", show_default=False, help="Compare with what 'pages seal' wrote."),
    ] = None,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Check every byte of every page, and say what a broker would do with it.

    Checks pages against journal, bindings and large messages if there are any. Ends with status 1 if anything
    is damaged or contradictory, and with 0 if there are only remarks.
    """
    from pagectl.opening.assumed_edition import note_edition
    from pagefmt.verify.seal import read_seal

    sealed = read_seal(manifest) if manifest is not None else None
    place = located(given, broker, far=True)
    refuse_without_pages(place)
    state = _state(place)
    lines = form is ListFormat.jsonl
    view = _VerifyText() if form is ListFormat.text else _VerifyJson(lines=lines)
    with progress("reading pages", _total(place, state), beside_output=lines) as bar:
        for finding in _findings(place, state, edition_of(edition), processes(jobs), view, bar):
            view.finding(finding)
    if form is ListFormat.text:
        note_edition(edition, state)
    if sealed is not None:
        from pagefmt.verify.report import of_seal
        from pagefmt.verify.seal import differences

        for difference in differences(place, sealed):
            view.finding(of_seal(difference))
    view.end()
    return Exit.FOUND if view.found else Exit.OK


def _state(place: DataLocation) -> PagingState:
    from pagefmt.outstanding.state import load_place

    state = load_place(place)
    if state.unknown is not None and state.unknown.alone:
        note("no journal beside the pages: pages are not checked against it")
    return state


def _total(place: DataLocation, state: PagingState) -> int | None:
    """Pages are read once, and once more for the checks across directories."""
    from pagefmt.verify.report import checked_across

    once = bytes_to_read(place)
    return None if once is None else once * (1 + checked_across(place, state))


def _findings(
    place: DataLocation, state: PagingState, edition: Edition | None, jobs: int, view: _VerifyView, bar: Progress
) -> Iterator[Finding]:  # fmt: skip
    """When each page was shown: what was found in them, of folders, and across. Of a store nothing else is kept."""
    from pagectl.opening.assumed_edition import writer_of
    from pagefmt.directory.store_findings import store_findings
    from pagefmt.outstanding.state import looking_ahead
    from pagefmt.verify.pages import first_layout
    from pagefmt.verify.report import PageReader, across, folder_findings, page_reports

    zeroed: list[Finding] = []
    found: list[Finding] = []
    addresses, writer = state.addresses, writer_of(state)
    layout = None
    stores = deque(each_store(place, state))
    with looking_ahead(PageReader(edition, writer), stores, jobs) as look:
        while stores:
            known = stores.popleft()
            store = known.store
            found += store_findings(store, addresses)
            layout = layout or first_layout(store.pages)
            view.store(store)
            for report in page_reports(known, look):
                view.page(report)
                if report.verdict is not None and report.verdict.zeroed is not None:
                    zeroed.append(report.verdict.zeroed)
                if report.motion:
                    note(f"{store.name}: {report.json['file']}: {report.motion}")
                bar.advance(int(report.json["size"] or 0))
            bar.clear()
            view.store_end(store)
    yield from closed_finding(place, Reads.PAGES | Reads.LARGE)
    yield from zeroed
    yield from folder_findings(place, found, state)
    yield from across(place, layout, state, edition or writer, jobs)


class _VerifyView:
    """Takes what is found as it comes; ``found`` tells whether any of it is more than a remark."""

    def __init__(self) -> None:
        self.found = False

    def store(self, store: Store) -> None: ...

    def page(self, report: PageReport) -> None:
        self.found = self.found or not report.sound

    def store_end(self, store: Store) -> None: ...

    def finding(self, finding: Finding) -> None:
        from pagefmt.findings import Severity

        self.found = self.found or finding.severity is not Severity.INFO

    def end(self) -> None: ...


class _VerifyJson(_VerifyView):
    """An object for each page, then one for each finding."""

    def __init__(self, *, lines: bool) -> None:
        super().__init__()
        self._items = JsonItems("pages", "findings", lines=lines)

    def page(self, report: PageReport) -> None:
        super().page(report)
        self._items.add("pages", report.json)

    def finding(self, finding: Finding) -> None:
        from pagefmt.verify.report import finding_json

        super().finding(finding)
        self._items.add("findings", finding_json(finding))

    def end(self) -> None:
        self._items.end()


class _VerifyText(_VerifyView):
    """Sound stores in a line each; of the rest every damaged page; findings at the end."""

    def __init__(self) -> None:
        super().__init__()
        self._findings = FindingText()
        self._pages: list[int] = []
        self._bad: list[PageReport] = []
        self._records = self._damaged = self._closed = 0
        self._total = self._closed_here = 0

    def store(self, store: Store) -> None:
        self._pages, self._bad, self._records, self._closed_here = [], [], 0, 0

    def page(self, report: PageReport) -> None:
        super().page(report)
        self._pages.append(int(report.json["size"] or 0))
        self._records += int(report.json["records"])
        if not report.permitted:
            self._closed_here += 1
        elif not report.sound:
            self._bad.append(report)

    def store_end(self, store: Store) -> None:
        nameless = "(address not known)" if store.hides_address else "(no address)"
        address = nameless if store.address is None else one_line(store.address)
        self._total += len(self._pages)
        self._damaged += len(self._bad)
        self._closed += self._closed_here
        unread = bool(self._closed_here) or not store.permitted
        verdict = f"{len(self._bad)} of {count_text(len(self._pages), 'page')} damaged" if self._bad else ""
        if unread:
            what = f"{count_text(self._closed_here, 'page')} " if store.permitted else ""
            verdict += f"{', ' if verdict else ''}{what}not permitted to be read"
        pages, records = count_text(len(self._pages), "page"), count_text(self._records, "record")
        size = size_text(sum(self._pages))
        print(f"{mark(bad=bool(self._bad), unread=unread)} {address}  {pages}, {records}, {size}: {verdict or 'sound'}")
        for report in self._bad:
            _page_text(report)

    def finding(self, finding: Finding) -> None:
        super().finding(finding)
        if not self._findings.said:
            print()
        self._findings.show(finding)

    def end(self) -> None:
        said = self._findings.said or "nothing else found"
        print(f"\n{count_text(self._total - self._closed, 'page')} read, {self._damaged} damaged; {said}")


def _page_text(report: PageReport) -> None:
    print(f"    {one_line(report.json['file'])}, {report.json['size']} bytes")
    if report.verdict is None:
        print(wrapped(report.problem or "", 8))
        return
    verdict = report.verdict
    for fault in verdict.faults[:FAULTS_SHOWN]:
        print(wrapped(f"{fault.kind} at offset {fault.offset}: {fault.detail}", 8))
    if len(verdict.faults) > FAULTS_SHOWN:
        print(f"        … and {len(verdict.faults) - FAULTS_SHOWN} more (--format jsonl has them)")
    print(wrapped(f"{verdict.broker.edition.value}: {verdict.broker.text}", 8))
    for other in verdict.others:
        print(wrapped(f"{other.edition.value} and older: {other.text}", 8))
    if verdict.recovered:
        records = count_text(verdict.recovered, "whole record")
        behind = f"{records} from offset {verdict.recovered_from} on that a broker does not deliver"
        print(wrapped(f"{behind}: 'pagectl pages salvage' gets them back", 8))
