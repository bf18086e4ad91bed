"""What ``pages verify`` reports while it reads, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pagectl.outputs.finding_text import FindingText, mark
from pagectl.reports.data_findings import DataFinding
from pagectl.reports.pages_verify import VerifiedPage
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import JsonItems, wrapped
from pagefmt.findings import Severity
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.check.report import PageReport
    from pagefmt.directory.paging import Store
    from pagefmt.findings import Finding

FAULTS_SHOWN = 5


class PagesJson:
    """A JSON object for each page, then one for each finding. ``wrong``: whether one is more than a remark."""

    def __init__(self, *, lines: bool) -> None:
        self.wrong = False
        self._items = JsonItems("pages", "findings", lines=lines)

    def store(self, store: Store, pages: Iterable[PageReport]) -> None:
        """Write the pages of a store."""
        for page in pages:
            self.wrong = self.wrong or not page.sound
            self._items.add("pages", VerifiedPage.of(page))

    def finding(self, finding: Finding) -> None:
        """Write a finding, and note whether it is more than a remark."""
        self.wrong = self.wrong or finding.severity is not Severity.INFO
        self._items.add("findings", DataFinding.of(finding))

    def end(self) -> None:
        """Write the end of the document."""
        self._items.end()


class PagesText:
    """A line for each store with its damaged pages, then the findings. ``wrong``: as for ``PagesJson``."""

    def __init__(self) -> None:
        self.wrong = False
        self._findings = FindingText()
        self._read = self._damaged = 0

    def store(self, store: Store, pages: Iterable[PageReport]) -> None:
        """Print a store once its pages are read."""
        count = closed = size = records = 0
        bad: list[PageReport] = []
        for page in pages:
            self.wrong = self.wrong or not page.sound
            count, size, records = count + 1, size + (page.size or 0), records + page.records
            if not page.permitted:
                closed += 1
            elif not page.sound:
                bad.append(page)
        self._read += count - closed
        self._damaged += len(bad)
        nameless = "(address not known)" if store.hides_address else "(no address)"
        address = nameless if store.address is None else one_line(store.address)
        unread = bool(closed) or not store.permitted
        verdict = f"{len(bad)} of {count_text(count, 'page')} damaged" if bad else ""
        if unread:
            what = f"{count_text(closed, 'page')} " if store.permitted else ""
            verdict += f"{', ' if verdict else ''}{what}not permitted to be read"
        content = f"{count_text(count, 'page')}, {count_text(records, 'record')}, {size_text(size)}"
        print(f"{mark(bad=bool(bad), unread=unread)} {address}  {content}: {verdict or 'sound'}")
        for page in bad:
            _print_page(page)

    def finding(self, finding: Finding) -> None:
        """Print a finding, and note whether it is more than a remark."""
        self.wrong = self.wrong or finding.severity is not Severity.INFO
        if not self._findings.counts_text:
            print()
        self._findings.show(finding)

    def end(self) -> None:
        """Print how many pages were read and were damaged."""
        findings = self._findings.counts_text or "nothing else found"
        print(f"\n{count_text(self._read, 'page')} read, {self._damaged} damaged; {findings}")


def _print_page(report: PageReport) -> None:
    print(f"    {one_line(report.file)}, {report.size} bytes")
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
