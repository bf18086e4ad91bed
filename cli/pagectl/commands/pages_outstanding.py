"""``pages outstanding``: what is not yet acknowledged, and who keeps the disk full."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.assumed_edition import edition_for
from pagectl.opening.broker import located, open_broker
from pagectl.options.formats import TableFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    CredentialsOption,
    DirArgument,
    EditionChoice,
    EditionOption,
    JobsOption,
    TableFormatOption,
    edition_of,
    processes,
)
from pagectl.running.exits import CallError, Exit
from pagectl.running.permissions import refuse_without_pages
from pagectl.running.reading import bytes_to_read, each_store, told_state
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import CsvTable, JsonItems, json_text, note, print_table, say, warning
from pagefmt.columns.table_content import StoredIn
from pagefmt.editions import Edition
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagectl.opening.live import LiveBeside
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.overview import StoreVerdict
    from pagefmt.outstanding.page_load import QueueLoad
    from pagefmt.outstanding.state import PagingState, StoreSummary

    Judged = Iterator[tuple[StoreSummary, StoreVerdict]]

CSV_COLUMNS = (
    "address", "folder", "queue", "id", "messages", "bytes", "in_doubt", "first_page", "last_page", "pages_held",
    "bytes_held", "bytes_held_alone", "unacknowledged",
)  # fmt: skip
RUNS_SHOWN = 12
"""Runs of pages with the same holders that the text shows of one address."""
QUEUES_SHOWN = 8
"""Names in one list of queues in the text."""


EXAMPLES = (
    ("Which queues hold which pages", "pages outstanding /var/lib/broker"),
    ("As JSON", "pages outstanding /var/lib/broker --format json"),
    (
        "Does the running broker agree?",
        "pages outstanding /var/lib/broker --jolokia http://localhost:8161 --credentials user.txt",
    ),
)


def command(
    given: DirArgument = None,
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
    live, place = _opened(given, broker, jolokia, credentials)
    state = _state(place, edition)
    found = _AnyWrong()
    summaries = found.watched(_summaries(place, state, positions, processes(jobs)))
    if live is not None:
        summaries = live.watched(summaries)
    match form:
        case TableFormat.json | TableFormat.jsonl:
            listed = JsonItems("stores", *(("live", "differences") if live else ()), lines=form is TableFormat.jsonl)
            for each in summaries:
                listed.add_parts("stores", _object(*each, positions))
            found.any |= live is not None and _live_json(live, state, listed)
            listed.end()
        case TableFormat.csv:
            _csv(summaries)
        case TableFormat.text:
            _text(summaries, state)
            found.any |= live is not None and _live_text(live, state)
    return Exit.FOUND if found.any or state.known.damaged or state.journal.prepared else Exit.OK


def _opened(
    given: Path | None, broker: BrokerOptions, jolokia: str | None, credentials: Path | None
) -> tuple[LiveBeside | None, DataLocation]:
    """The running broker, asked for the first time, and the directory."""
    if jolokia is None:
        return None, located(given, broker, far=True)
    from pagectl.opening.live import LiveBeside

    opened = open_broker(given, broker.broker_xml, broker.reading())
    return LiveBeside(jolokia, credentials, opened), opened.place


def _live_json(live: LiveBeside, state: PagingState, listed: JsonItems) -> bool:
    """Whether there is a difference."""
    from pagectl.outputs.live_report import live_rows

    look, files, found = live.end(state)
    for row in live_rows(look, files):
        listed.add("live", {"broker": live.broker.name, **row})
    for each in found:
        listed.add("differences", each._asdict())
    return bool(found)


def _live_text(live: LiveBeside, state: PagingState) -> bool:
    """Whether there is a difference."""
    from pagectl.outputs.live_report import print_live

    look, files, found = live.end(state)
    print_live(live.broker, look, files, found)
    return bool(found)


def _state(place: DataLocation, choice: EditionChoice | None) -> PagingState:
    """Everything that the answer needs, or an error that says what is not there."""
    refuse_without_pages(place)
    state = told_state(place, journal=True, within=StoredIn.PAGES)
    edition = edition_for(choice, state)
    if edition <= Edition.ARTEMIS_2_17:
        why = "" if edition_of(choice) else " (its journals show what such a release writes)"
        note(
            f"{edition.value}{why} tests a queue's filter again when it reads pages, and confirms what does not match; "
            "where a filter was changed after sending it delivers less than is counted here"
        )
    return state


class _AnyWrong:
    """Remembers on the way whether anything was wrong with a store."""

    def __init__(self) -> None:
        self.any = False

    def watched(self, found: Judged) -> Judged:
        for summary, verdict in found:
            self.any |= not verdict.fine
            for number, motion in summary.moving.items():
                note(f"{summary.folder}: page {number}: {motion}")
            yield summary, verdict


def _summaries(place: DataLocation, state: PagingState, positions: bool, jobs: int) -> Judged:
    from pagefmt.outstanding.overview import judged
    from pagefmt.outstanding.state import StoreState, looking_ahead

    stores = list(each_store(place, state))
    one = partial(StoreState.page, keep=positions)
    with progress("reading pages", bytes_to_read(place)) as bar, looking_ahead(one, stores, jobs) as look:
        for known in stores:
            summary, verdict = judged(known, look)
            bar.advance(sum(page.size for page in summary.pages))
            bar.clear()
            yield summary, verdict


def _object(summary: StoreSummary, verdict: StoreVerdict, positions: bool) -> Iterator[str]:
    """The parts of one store's JSON text."""
    names = {queue.id: queue.name for queue in summary.queues}
    known = summary.unknown is None
    yield f'{{"address":{json_text(summary.address)},"folder":{json_text(summary.folder)},"queues":['
    for number, queue in enumerate(summary.queues):
        text = json_text(_queue(queue, verdict.counted))
        yield f"{',' if number else ''}{text[:-1]}"
        if positions:
            yield from _positions(queue)
        yield "}"
    yield '],"pages":['
    for number, page in enumerate(summary.pages):
        held_by = [names[queue] for queue in page.holders] if known and page.holders is not None else None
        text = json_text({"page": page.page, "held_by": held_by, "bytes": page.size})
        yield f"{',' if number else ''}{text}"
    yield f'],"remarks":{json_text(verdict.all_remarks)}}}'


def _positions(queue: QueueLoad) -> Iterator[str]:
    """A member with all positions, a page at a time: a store may have very many."""
    yield ',"positions":['
    for each, (page, numbers) in enumerate(queue.positions.pages()):
        between = f"],[{page},"
        yield f"{',' if each else ''}[{page},{between.join(map(str, numbers))}]"
    yield "]"


def _queue(queue: QueueLoad, known: bool) -> dict[str, Any]:
    """What is not known of a store's queues is null, but for what the acknowledgement records say."""
    row = {
        "queue": queue.name,
        "id": queue.id,
        "messages": queue.messages,
        "bytes": queue.bytes,
        "in_doubt": queue.in_doubt,
        "first_page": queue.first[0] if queue.first else None,
        "last_page": queue.last[0] if queue.last else None,
        "pages_held": queue.pages,
        "bytes_held": queue.held_bytes,
        "bytes_held_alone": queue.held_alone,
    }
    always = {"queue": queue.name, "id": queue.id, "in_doubt": row["in_doubt"], "unacknowledged": queue.messages}
    return (row if known else dict.fromkeys(row)) | always


def _csv(summaries: Judged) -> None:
    table = CsvTable(CSV_COLUMNS)
    for summary, verdict in summaries:
        for remark in () if verdict.fine else verdict.remarks:
            warning(f"{summary.folder}: {remark}")
        for queue in summary.queues:
            table.row({"address": summary.address, "folder": summary.folder} | _queue(queue, verdict.counted))


def _text(summaries: Judged, state: PagingState) -> None:
    shown = 0
    for summary, verdict in summaries:
        if summary.pages or not verdict.fine:
            print("\n" * bool(shown), end="")
            _store(summary, verdict)
            shown += 1
    if not shown:
        print("no address has page files")
    for branch in state.journal.prepared:
        held = count_text(len(branch.acks) + sum(send.references for send in branch.sends), "message")
        print(f"\nprepared transaction {branch.tx} is still open: {held} in doubt, their pages stay")


def _store(summary: StoreSummary, verdict: StoreVerdict) -> None:
    nameless = "(address not known)" if verdict.closed else "(no address)"
    address = nameless if summary.address is None else one_line(summary.address)
    size = size_text(sum(page.size for page in summary.pages))
    print(f"{address}  {count_text(len(summary.pages), 'page')}, {size}  {one_line(summary.folder)}")
    for remark in verdict.remarks:
        say(f"  {remark}")
    if summary.unknown is not None:
        for queue in summary.queues:
            print(f"  ? of {count_text(queue.messages, 'unacknowledged message')} wait for {one_line(queue.name)}")
        return
    if not verdict.counted:
        for queue in summary.queues:
            print(f"  ? messages wait for {one_line(queue.name)}, {queue.messages} of them readable")
    elif summary.queues:
        print_table(
            ("  WAITING", "BYTES", "IN DOUBT", "FIRST", "LAST", "HOLDS", "ALONE", "QUEUE"),
            [_row(queue) for queue in summary.queues],
            right=("  WAITING", "BYTES", "IN DOUBT", "FIRST", "LAST", "HOLDS", "ALONE"),
        )
    runs = list(_runs(summary))
    for line in runs[:RUNS_SHOWN]:
        say(f"  {line}")
    if len(runs) > RUNS_SHOWN:
        print(f"  … {len(runs) - RUNS_SHOWN} more runs of pages (--format json has every page)")


def _row(queue: QueueLoad) -> tuple[object, ...]:
    first, last = (f"{at[0]}:{at[1]}" if at else "" for at in (queue.first, queue.last))
    doubt = queue.in_doubt
    return (
        queue.messages, size_text(queue.bytes), doubt or "", first, last, size_text(queue.held_bytes),
        size_text(queue.held_alone), queue.name,
    )  # fmt: skip


def _runs(summary: StoreSummary) -> Iterator[str]:
    """Neighbouring pages with the same holders, on one line."""
    for holders, group in groupby(summary.pages, key=lambda page: page.holders):
        pages = list(group)
        first, last = pages[0].page, pages[-1].page
        which = f"page {first}" if first == last else f"pages {first}-{last}"
        if last - first >= len(pages):
            which = f"{count_text(len(pages), 'page')} of {first}-{last}"
        by = "?" if holders is None else _holders(summary, set(holders))
        yield f"{which} ({size_text(sum(page.size for page in pages))}) held by {by}"


def _holders(summary: StoreSummary, held_by: set[int]) -> str:
    """The shorter of two lists: the queues that hold a page, or those that do not."""
    holders = [queue.name for queue in summary.queues if queue.id in held_by]
    others = [queue.name for queue in summary.queues if queue.id not in held_by]
    if not holders:
        return "nobody"
    if len(holders) < QUEUES_SHOWN or len(holders) <= len(others):
        return _listed(holders)
    return f"all {len(holders)} queues" if not others else f"all but {_listed(others)}"


def _listed(names: list[str]) -> str:
    left = len(names) - QUEUES_SHOWN
    return ", ".join(names[:QUEUES_SHOWN]) + (f" and {left} more (--format json has all)" if left > 0 else "")
