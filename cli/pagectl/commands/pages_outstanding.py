"""``pages outstanding``: what is not yet acknowledged, and who keeps the disk full."""

from __future__ import annotations

from functools import partial
from typing import Annotated, assert_never

import typer

from pagectl.opening.stores import StoreSummaries, located_beside, outstanding_state
from pagectl.options.formats import TableFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    CredentialsOption,
    DirArgument,
    EditionOption,
    JobsOption,
    TableFormatOption,
    processes,
)
from pagectl.outputs.outstanding_lists import print_outstanding_csv, print_outstanding_json
from pagectl.outputs.outstanding_text import print_outstanding
from pagectl.running.exits import CallError, Exit

EXAMPLES = (
    ("Which queues hold which pages", "pages outstanding /var/lib/broker"),
    ("As JSON", "pages outstanding /var/lib/broker --format json"),
    (
        "Does the running broker agree?",
        "pages outstanding /var/lib/broker --jolokia http://localhost:8161 --credentials user.txt",
    ),
)


def command(
    directory: DirArgument = None,
    form: TableFormatOption = TableFormat.text,
    positions: Annotated[
        bool, typer.Option("--positions", help="List every outstanding position as [page, number] (JSON only).")
    ] = False,
    jolokia: Annotated[
        str | None,
        typer.Option(
            "--jolokia", metavar="URL", help="Also ask the running broker, through its console: http://HOST:8161."
        ),
    ] = None,
    credentials: CredentialsOption = None,
    jobs: JobsOption = 0,
    edition: EditionOption = None,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Show per queue the messages not yet acknowledged, and for each page which queues hold it.

    HOLDS: bytes of the page files with a message for the queue. ALONE: the bytes among them that no other queue needs;
    they are freed when the queue is drained or deleted. Unknown values are ? (null) with the reason. Ends with status 1
    if something is not known, if a page or the journal is damaged, or if a prepared transaction is still open.

    With --jolokia, also if the running broker disagrees: a different number of messages (except for those in motion), a
    queue on one side only, an address that is paging and should not be, a consumer that acknowledges nothing.
    """
    if positions and form is not TableFormat.json:
        raise CallError("--positions works with --format json only")
    if jolokia is not None and form not in (TableFormat.text, TableFormat.json):
        raise CallError("--jolokia works with --format text and json only")
    if credentials is not None and jolokia is None:
        raise CallError("--credentials needs --jolokia")
    live, place = located_beside(directory, broker, jolokia, credentials)
    state = outstanding_state(place, edition)
    summaries = StoreSummaries(place, state, processes(jobs), positions)
    stores = summaries if live is None else live.watched(summaries)
    compare = None if live is None else partial(live.compare, state)
    match form:
        case TableFormat.csv:
            print_outstanding_csv(stores)
        case TableFormat.text:
            print_outstanding(stores, state, compare)
        case TableFormat.json | TableFormat.jsonl:
            print_outstanding_json(stores, compare, positions=positions, lines=form is TableFormat.jsonl)
        case _:
            assert_never(form)
    wrong = summaries.wrong or state.known.damaged or state.journal.prepared
    return Exit.FOUND if wrong or (live is not None and live.differs) else Exit.OK
