"""What ``journal verify`` reports, as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from pagectl.outputs.finding_text import FindingText, mark
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import wrapped
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.check.journal_files import JournalFileReport
    from pagefmt.findings import Finding

FAULTS_SHOWN = 5


def print_verified_journals(reports: list[JournalFileReport], findings: list[Finding]) -> None:
    """Print the journals, then the findings."""
    for name, files in groupby(reports, lambda report: report.journal):
        _journal(name, list(files))
    view = FindingText()
    for finding in findings:
        if not view.counts_text:
            print()
        view.show(finding)
    damaged = sum(not report.sound and report.permitted for report in reports)
    print(f"\n{count_text(len(reports), 'file')} read, {damaged} damaged; {view.counts_text or 'nothing else found'}")


def _journal(name: str, reports: list[JournalFileReport]) -> None:
    """Print a line, and each file with faults."""
    closed = sum(not report.permitted for report in reports)
    bad = sum(not report.sound for report in reports) - closed
    verdict = f"{bad} of {count_text(len(reports), 'file')} damaged" if bad else "" if closed else "sound"
    if closed:
        verdict += f"{', ' if verdict else ''}{count_text(closed, 'file')} not permitted to be read"
    records = count_text(sum(report.records or 0 for report in reports), "record")
    size = size_text(sum(report.size for report in reports))
    files = count_text(len(reports), "file")
    print(f"{mark(bad=bool(bad), unread=bool(closed))} {name}  {files}, {records}, {size}: {verdict}")
    for report in reports:
        if report.faults:
            print("\n".join(_file(report)))


def _file(report: JournalFileReport) -> Iterator[str]:
    yield f"    {one_line(report.file)}, {report.size} bytes"
    faults = report.faults
    for fault in faults[:FAULTS_SHOWN]:
        yield wrapped(f"{fault.kind} at offset {fault.offset}: {fault.detail}", 8)
    if len(faults) > FAULTS_SHOWN:
        yield f"        … and {len(faults) - FAULTS_SHOWN} more (--format jsonl has them)"
    if report.permitted:
        yield wrapped(f"broker: {report.broker_text}", 8)
