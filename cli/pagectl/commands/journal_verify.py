"""``journal verify``: every byte of the journals accounted for, and their records held against one another."""

from __future__ import annotations

from pagectl.opening.broker import Alone, located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, ListFormatOption, edition_of, processes
from pagectl.outputs.journal_verification import print_verified_journals
from pagectl.reports.data_findings import DataFinding
from pagectl.reports.journal import VerifiedJournalFile
from pagectl.reports.listing import print_json_lists
from pagectl.running.exits import CallError, Exit
from pagectl.running.permissions import closed_finding
from pagefmt.directory.permissions import Reads

EXAMPLES = (
    ("Is every record of the journals where it belongs?", "journal verify /var/lib/broker"),
    ("For a script", "journal verify /var/lib/broker --format jsonl"),
)


def command(
    directory: DirArgument = None,
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
    from pagefmt.check.journal_findings import unreadable_messages
    from pagefmt.check.journals import verify_journals
    from pagefmt.findings import Severity, gravest_first
    from pagefmt.outstanding.journal_parts import JournalParts

    place = located(directory, broker, alone=Alone.ALL)
    state, reports, findings = verify_journals(place, edition_of(edition), processes(jobs))
    if state.known.unknown_journal is None:
        findings += unreadable_messages(JournalParts(state, None), edition_for(edition, state))
    if not reports and place.journal is None and place.bindings is None:
        raise CallError(f"{place.given}: no journal and no bindings; name the data directory or the instance")
    findings = sorted([*findings, *closed_finding(place, Reads.PAGES)], key=gravest_first)
    if form is ListFormat.text:
        note_edition(edition, state)
        print_verified_journals(reports, findings)
    else:
        print_json_lists(
            {"files": map(VerifiedJournalFile.of, reports), "findings": map(DataFinding.of, findings)},
            lines=form is ListFormat.jsonl,
        )
    grave = any(finding.severity is not Severity.INFO for finding in findings)
    return Exit.FOUND if grave or not all(report.sound for report in reports) else Exit.OK
