"""``large verify``: large-message files and the messages that name them, held against one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.opening.large import open_large
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, EditionOption, JobsOption, ListFormatOption, processes
from pagectl.outputs.finding_text import FindingText
from pagectl.outputs.large_rows import print_rows
from pagectl.running.exits import Exit
from pagectl.running.permissions import closed_finding
from pagectl.terminal.streams import JsonItems, say
from pagefmt.directory.permissions import Reads
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pagefmt.cross_checks.large_files import LargeRow
    from pagefmt.cross_checks.survey import DirectorySurvey
    from pagefmt.editions import Edition
    from pagefmt.findings import Finding
    from pagefmt.messages.large import LargeMessages

EXAMPLES = (("Is there a body for every large message, and a message for every body?", "large verify /var/lib/broker"),)


def command(
    given: DirArgument = None,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
    form: ListFormatOption = ListFormat.text,
) -> int:
    """Check large-message files against journal and pages: files that nobody refers to, messages without a file,
    bodies that do not have the size that their message says, and what a broker does with each.

    Ends with status 1 if anything is damaged or contradictory, and with 0 if there are only remarks.
    """
    from pagectl.opening.assumed_edition import edition_for, note_edition
    from pagefmt.cross_checks.large_files import surveyed_rows
    from pagefmt.cross_checks.survey import survey
    from pagefmt.findings import Severity, gravest_first
    from pagefmt.verify.report import finding_json

    place, state, large = open_large(given, broker)
    closed = closed_finding(place, Reads.PAGES | Reads.BODIES)
    seen = survey(state, processes(jobs), bodies=True)
    unread = [*_not_read(seen)]
    rows = surveyed_rows(seen, large)
    found = [*_findings(seen, large, rows, edition_for(edition, state)), *unread, *closed]
    findings = sorted(found, key=gravest_first)
    if form is ListFormat.text:
        note_edition(edition, state)
        print_rows([row for row in rows if not row.sound])
        view = FindingText()
        for finding in findings:
            view.show(finding)
        say(f"{_counts(rows)}; {view.said or 'nothing found'}")
    else:
        items = JsonItems("files", "findings", lines=form is ListFormat.jsonl)
        for row in rows:
            items.add("files", row.json)
        for finding in findings:
            items.add("findings", finding_json(finding))
        items.end()
    return Exit.FOUND if any(finding.severity is not Severity.INFO for finding in findings) else Exit.OK


def _counts(rows: list[LargeRow]) -> str:
    """Large messages with their files, and files that no message refers to, each with the bytes of the files."""
    messages = [row for row in rows if row.reference is not None]
    sizes = [row.file.size for row in messages if row.file is not None]
    orphans = [row.file.size for row in rows if row.reference is None and row.file is not None]
    held = f"with {count_text(len(sizes), 'file')}, {size_text(sum(sizes))}"
    aside = f"{count_text(len(orphans), 'file')} that no message refers to, {size_text(sum(orphans))}"
    return f"{count_text(len(messages), 'large message')} {held}; {aside}"


def _not_read(seen: DirectorySurvey) -> Iterator[Finding]:
    from pagefmt.cross_checks.of_journal import check_paging
    from pagefmt.findings import Severity, about_data

    yield from check_paging(known := seen.state.known)
    for store in seen.stores:
        for page, damage in sorted(store.damaged.items()):
            yield about_data(
                Severity.ERROR,
                "page-not-read",
                f"{store.place} page {page}",
                f"offset {damage.offset}: {damage.detail}: its messages may need any of the files",
            )
    for reason in known._replace(no_paging=False).lost():
        yield about_data(Severity.ERROR, "journal-not-read", "journal", reason)
    bindings = known.unknown_bindings
    if bindings is not None and not bindings.missing:
        yield about_data(Severity.ERROR, "bindings-unreadable", "bindings", bindings.reason)


def _findings(seen: DirectorySurvey, large: LargeMessages, rows: list[LargeRow], edition: Edition) -> list[Finding]:
    from pagefmt.cross_checks.large_files import check_sizes
    from pagefmt.cross_checks.of_journal import unknown_part
    from pagefmt.cross_checks.of_large import check_large

    state = seen.state
    if state.known.unknown_journal is not None:
        return [unknown_part(state.known.unknown_journal)]
    return [*check_large(seen, large, edition), *check_sizes(rows)]
