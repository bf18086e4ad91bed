"""``messages verify``: messages, references, queues, transactions and large bodies held against one another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagectl.opening.broker import located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    DirArgument,
    EditionOption,
    InOption,
    JobsOption,
    ListFormatOption,
    edition_of,
    processes,
)
from pagectl.outputs.finding_text import FindingText
from pagectl.running.exits import Exit
from pagectl.running.permissions import closed_finding
from pagectl.running.reading import while_it_moves
from pagectl.terminal.streams import print_json_list
from pagefmt.columns.table_content import StoredIn
from pagefmt.directory.permissions import Reads
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.findings import Finding
    from pagefmt.outstanding.state import PagingState

EXAMPLES = (
    ("Does every message exist that a queue refers to?", "messages verify /var/lib/broker"),
    ("For a script", "messages verify /var/lib/broker --format jsonl"),
)


def command(
    given: DirArgument = None,
    form: ListFormatOption = ListFormat.text,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    within: InOption = StoredIn.LIVE,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Check the messages of a broker: references without a message, messages without a reference, unknown queues,
    unreadable messages, torn records, prepared transactions, counters, damaged pages, missing large-message files.

    Pages are checked as by 'pages verify', which says more about each. Ends with status 1 if anything is damaged or
    contradictory, and with 0 if there are only remarks.
    """
    from pagectl.opening.assumed_edition import note_edition
    from pagefmt.findings import Severity
    from pagefmt.verify.report import finding_json

    place = located(given, broker, far=True)
    state, found = while_it_moves(place, lambda: _checked(place, within, edition_of(edition), processes(jobs)))
    if form is ListFormat.text:
        note_edition(edition, state)
        view = FindingText()
        for finding in found:
            view.show(finding)
        print(view.said or "nothing found")
    else:
        print_json_list("findings", map(finding_json, found), lines=form is ListFormat.jsonl)
    return Exit.FOUND if any(finding.severity is not Severity.INFO for finding in found) else Exit.OK


def _checked(
    place: DataLocation, within: StoredIn, edition: Edition | None, jobs: int
) -> tuple[PagingState, list[Finding]]:
    """Return what was known of the directory, and the findings, gravest first."""
    from pagefmt.findings import gravest_first
    from pagefmt.outstanding.state import load_place

    state = load_place(place)
    return state, sorted(_findings(place, state, within, edition, jobs), key=gravest_first)


def _findings(
    place: DataLocation, state: PagingState, within: StoredIn, edition: Edition | None, jobs: int
) -> Iterator[Finding]:
    from pagectl.opening.assumed_edition import writer_of
    from pagefmt.columns.journal_findings import unreadable_messages
    from pagefmt.cross_checks.of_journal import check_journals, check_paging
    from pagefmt.cross_checks.of_messages import check_messages
    from pagefmt.directory.locate import stores
    from pagefmt.directory.store_findings import store_findings
    from pagefmt.findings import Severity, about_data
    from pagefmt.outstanding.journal_parts import JournalParts
    from pagefmt.outstanding.state import looking_ahead
    from pagefmt.verify.judged_edition import judged_edition
    from pagefmt.verify.pages import first_layout
    from pagefmt.verify.report import PageReader, across, folder_findings, page_reports

    known_edition = edition or judged_edition(state)
    layout = None
    if within is not StoredIn.JOURNAL:
        yield from closed_finding(place, Reads.PAGES | Reads.LARGE)
        listed = list(state.of(stores(place)))
        layout = next((each for known in listed if (each := first_layout(known.store.pages)) is not None), None)
        with looking_ahead(PageReader(edition, writer_of(state)), listed, jobs) as look:
            for known in listed:
                bad = [report for report in page_reports(known, look) if report.permitted and not report.sound]
                if bad:
                    yield about_data(
                        Severity.ERROR,
                        "damaged-page",
                        f"store {known.store.name}",
                        f"{count_text(len(bad), 'page')} damaged, the first is {bad[0].file}",
                        f"see: {place.call('pages verify')}",
                    )
        addresses = state.addresses
        named = [each for known in listed for each in store_findings(known.store, addresses)]
        yield from folder_findings(place, named, state)
    if within is StoredIn.LIVE:
        yield from across(place, layout, state, known_edition, jobs)
    elif within is StoredIn.JOURNAL:
        yield from check_journals(state)
    else:
        yield from check_paging(state.known)
    if within is not StoredIn.PAGES and state.known.unknown_journal is None:
        yield from check_messages(state)
        yield from unreadable_messages(JournalParts(state, None), known_edition)
