"""``large verify``: large-message files and the messages that name them, held against one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.opening.large import open_large
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, ListFormatOption, processes
from pagectl.outputs.finding_text import FindingText
from pagectl.reports.data_findings import DataFinding
from pagectl.reports.large import BODIES, LargeBody
from pagectl.reports.listing import print_json_lists
from pagectl.running.exits import Exit
from pagectl.running.permissions import closed_finding
from pagectl.terminal.streams import say
from pagefmt.directory.permissions import Reads
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.check.cross.large_files import LargeRow

EXAMPLES = (("Is there a body for every large message, and a message for every body?", "large verify /var/lib/broker"),)


def command(
    directory: DirArgument = None,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
    form: ListFormatOption = ListFormat.text,
) -> int:
    """Check large-message files against journal and pages: files that nobody refers to, messages without a file,
    bodies that do not have the size that their message says, and what a broker does with each.

    Ends with status 1 if anything is damaged or contradictory, and with 0 if there are only remarks.
    """  # noqa: D205
    from pagectl.opening.assumed_edition import edition_for, note_edition
    from pagefmt.check.large import verify_large
    from pagefmt.findings import Severity, gravest_first

    place, state, large = open_large(directory, broker)
    closed = closed_finding(place, Reads.PAGES | Reads.BODIES)
    rows, findings = verify_large(state, large, edition_for(edition, state), processes(jobs))
    findings = sorted([*findings, *closed], key=gravest_first)
    if form is ListFormat.text:
        note_edition(edition, state)
        wrong = [LargeBody.of(row) for row in rows if not row.sound]
        if wrong:
            BODIES.view(ListOptions()).show(wrong)
        view = FindingText()
        for finding in findings:
            view.show(finding)
        say(f"{_counts(rows)}; {view.counts_text or 'nothing found'}")
    else:
        print_json_lists(
            {"files": map(LargeBody.of, rows), "findings": map(DataFinding.of, findings)},
            lines=form is ListFormat.jsonl,
        )
    return Exit.FOUND if any(finding.severity is not Severity.INFO for finding in findings) else Exit.OK


def _counts(rows: list[LargeRow]) -> str:
    """Return a line on large messages and files that no message refers to, with the number and bytes of files."""
    messages = [row for row in rows if row.reference is not None]
    sizes = [row.file.size for row in messages if row.file is not None]
    orphans = [row.file.size for row in rows if row.reference is None and row.file is not None]
    files = f"with {count_text(len(sizes), 'file')}, {size_text(sum(sizes))}"
    aside = f"{count_text(len(orphans), 'file')} that no message refers to, {size_text(sum(orphans))}"
    return f"{count_text(len(messages), 'large message')} {files}; {aside}"
