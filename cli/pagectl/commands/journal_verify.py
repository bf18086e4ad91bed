"""``journal verify``: every byte of the journals accounted for, and their records held against one another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, ListFormatOption, edition_of, processes
from pagectl.outputs.finding_text import FindingText, mark
from pagectl.running.exits import CallError, Exit
from pagectl.running.permissions import closed_finding
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import JsonItems, wrapped
from pagefmt.directory.permissions import Reads
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.findings import Finding
    from pagefmt.verify.journal_files import JournalFileReport

FAULTS_SHOWN = 5
EXAMPLES = (
    ("Is every record of the journals where it belongs?", "journal verify /var/lib/broker"),
    ("For a script", "journal verify /var/lib/broker --format jsonl"),
)


def command(
    given: DirArgument = None,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    form: ListFormatOption = ListFormat.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Check every byte of message journal, bindings and JMS journal, and say what a broker would do with each file.

    Checks records against one another, and against bindings and pages if there are any. Ends with status 1 if
    anything is damaged or contradictory, and with 0 if there are only remarks.
    """
    from pagectl.opening.assumed_edition import edition_for, note_edition
    from pagefmt.columns.journal_findings import unreadable_messages
    from pagefmt.findings import Severity, gravest_first
    from pagefmt.outstanding.journal_parts import JournalParts
    from pagefmt.verify.journals import verify_journals

    place = located(given, broker)
    state, reports, findings = verify_journals(place, edition_of(edition), processes(jobs))
    if state.known.unknown_journal is None:
        findings += unreadable_messages(JournalParts(state, None), edition_for(edition, state))
    if not reports and place.journal is None and place.bindings is None:
        raise CallError(f"{place.given}: no journal and no bindings; name the data directory or the instance")
    findings = sorted([*findings, *closed_finding(place, Reads.PAGES)], key=gravest_first)
    if form is ListFormat.text:
        note_edition(edition, state)
        _text(reports, findings)
    else:
        _json(reports, findings, lines=form is ListFormat.jsonl)
    grave = any(finding.severity is not Severity.INFO for finding in findings)
    return Exit.FOUND if grave or not all(report.sound for report in reports) else Exit.OK


def _json(reports: list[JournalFileReport], findings: list[Finding], *, lines: bool) -> None:
    from pagefmt.verify.report import finding_json

    items = JsonItems("files", "findings", lines=lines)
    for report in reports:
        items.add("files", report.json)
    for finding in findings:
        items.add("findings", finding_json(finding))
    items.end()


def _text(reports: list[JournalFileReport], findings: list[Finding]) -> None:
    for name, each in groupby(reports, lambda report: report.journal):
        _journal(name, list(each))
    view = FindingText()
    for finding in findings:
        if not view.said:
            print()
        view.show(finding)
    damaged = sum(not report.sound and not _is_closed(report) for report in reports)
    print(f"\n{count_text(len(reports), 'file')} read, {damaged} damaged; {view.said or 'nothing else found'}")


def _journal(name: str, reports: list[JournalFileReport]) -> None:
    """A sound journal in a line; of the rest every file about which there is something to say."""
    closed = sum(map(_is_closed, reports))
    bad = sum(not report.sound for report in reports) - closed
    verdict = f"{bad} of {count_text(len(reports), 'file')} damaged" if bad else "" if closed else "sound"
    if closed:
        verdict += f"{', ' if verdict else ''}{count_text(closed, 'file')} not permitted to be read"
    records = count_text(sum(report.json["records"] or 0 for report in reports), "record")
    size = size_text(sum(report.json["size"] for report in reports))
    files = count_text(len(reports), "file")
    print(f"{mark(bad=bool(bad), unread=bool(closed))} {name}  {files}, {records}, {size}: {verdict}")
    for report in reports:
        if report.json["faults"]:
            print("\n".join(_file(report)))


def _is_closed(report: JournalFileReport) -> bool:
    """Return whether this user may not read the file."""
    return any(fault["kind"] == "not permitted" for fault in report.json["faults"])


def _file(report: JournalFileReport) -> Iterator[str]:
    yield f"    {one_line(report.json['file'])}, {report.json['size']} bytes"
    faults = report.json["faults"]
    for fault in faults[:FAULTS_SHOWN]:
        yield wrapped(f"{fault['kind']} at offset {fault['offset']}: {fault['detail']}", 8)
    if len(faults) > FAULTS_SHOWN:
        yield f"        … and {len(faults) - FAULTS_SHOWN} more (--format jsonl has them)"
    if not _is_closed(report):
        yield wrapped(f"broker: {report.json['broker_text']}", 8)
