"""``messages verify``: messages, references, queues, transactions and large bodies held against one another."""

from __future__ import annotations

from pagectl.opening.broker import Alone, located
from pagectl.options.formats import ListFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.history import refuse_history
from pagectl.options.shared import (
    DirArgument,
    EditionOption,
    InOption,
    JobsOption,
    ListFormatOption,
    edition_of,
    processes,
)
from pagectl.outputs.finding_text import print_findings
from pagectl.reports.data_findings import DataFinding
from pagectl.running.exits import Exit
from pagectl.terminal.streams import print_json_list
from pagefmt.table.table_content import StoredIn

EXAMPLES = (
    ("Does every message exist that a queue refers to?", "messages verify /var/lib/broker"),
    ("For a script", "messages verify /var/lib/broker --format jsonl"),
)


def command(
    directory: DirArgument = None,
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
    """  # noqa: D205
    from pagectl.opening.assumed_edition import note_edition
    from pagectl.opening.message_checks import verify_messages
    from pagefmt.findings import Severity

    refuse_history(within)
    place = located(directory, broker, far=True, alone=Alone.MESSAGES)
    state, findings = verify_messages(place, within, edition_of(edition), processes(jobs))
    if form is ListFormat.text:
        note_edition(edition, state)
        print_findings(findings)
    else:
        print_json_list("findings", map(DataFinding.of, findings), lines=form is ListFormat.jsonl)
    return Exit.FOUND if any(finding.severity is not Severity.INFO for finding in findings) else Exit.OK
