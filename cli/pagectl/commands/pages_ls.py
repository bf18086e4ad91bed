"""``pages ls``: one row per address."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache, partial
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import open_broker
from pagectl.options.formats import TableFormat
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, JobsOption, TableFormatOption, processes
from pagectl.running.exits import Exit
from pagectl.running.permissions import refuse_without_pages
from pagectl.running.reading import bytes_to_read, each_store, told_state
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import CsvTable, note, print_json_list, print_table, say
from pagefmt.quantities import age_text, count_text, size_text, time_text

if TYPE_CHECKING:
    from pagectl.opening.broker import OpenedBroker
    from pagectl.opening.send_limits import Memory, SendLimits
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.overview import StoreOverview
    from pagefmt.outstanding.state import StoreState

COLUMNS = (
    "address", "folder", "pages", "messages", "bytes", "outstanding", "oldest", "condition", "conditions", "page_full",
    "page_limit_used",
)  # fmt: skip


EXAMPLES = (
    ("Which addresses are paging, and is anything wrong?", "pages ls /var/lib/broker"),
    ("The five that hold the most bytes", "pages ls /var/lib/broker --sort bytes --limit 5"),
    ("For a script", "pages ls /var/lib/broker --format jsonl"),
)


class LsOrder(StrEnum):
    """By which ``pages ls`` sorts."""

    address = "address"
    pages = "pages"
    messages = "messages"
    bytes = "bytes"
    outstanding = "outstanding"
    oldest = "oldest"


def command(
    given: DirArgument = None,
    sort: Annotated[
        LsOrder | None,
        typer.Option(
            "--sort", help="Largest or oldest first; address: by name [default: address in text, else by folder]."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="Number of addresses to show.", show_default=False)
    ] = None,
    long: Annotated[bool, typer.Option("--long", help="In text also the folder of each address.")] = False,
    form: TableFormatOption = TableFormat.text,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """List the addresses that have page files, one row each, with their condition.

    The path under FOLDER (--long) can be given to other commands as DIR. With a configuration, addresses that have
    reached their page limit are named. Ends with status 1 if a condition is neither ok nor empty.
    """
    opened = open_broker(given, broker.broker_xml, broker.reading(), far=True)
    place = opened.place
    found = _Worst()
    rows: Iterable[StoreOverview] = found.watched(
        _surveys(opened, found, processes(jobs), beside_output=form is not TableFormat.text)
    )
    if sort is not None or form is TableFormat.text:
        rows = sorted(rows, key=partial(_rank, sort or LsOrder.address))
    elif limit is not None:
        rows = list(rows)  # the status is that of all of them
    if form is not TableFormat.text:
        rows = islice(rows, limit)
    match form:
        case TableFormat.text:
            _text(list(rows), limit, place, long=long)
        case TableFormat.json | TableFormat.jsonl:
            print_json_list("stores", map(_object, rows), lines=form is TableFormat.jsonl)
        case TableFormat.csv:
            table = CsvTable(COLUMNS)
            for row in rows:
                table.row(_object(row) | {"conditions": " ".join(map(str, row.verdict.conditions))})
    return Exit.FOUND if found.any else Exit.OK


class _Worst:
    """Remembers on the way whether any store was in a bad condition."""

    def __init__(self) -> None:
        self.any = False

    def watched(self, rows: Iterator[StoreOverview]) -> Iterator[StoreOverview]:
        for row in rows:
            self.any = self.any or not row.verdict.fine
            yield row


def _surveys(broker: OpenedBroker, found: _Worst, jobs: int, *, beside_output: bool) -> Iterator[StoreOverview]:
    from pagectl.opening.send_limits import send_limits
    from pagefmt.outstanding.overview import count_page, overview
    from pagefmt.outstanding.state import looking_ahead

    place, limits = broker.place, send_limits(broker)
    refuse_without_pages(place)
    state = told_state(place)
    found.any = found.any or state.known.no_paging
    stores = list(each_store(place, state))
    memory = cache(lambda: limits.memory(state) if limits is not None else {})
    with (
        progress("reading pages", bytes_to_read(place), beside_output=beside_output) as bar,
        looking_ahead(count_page, stores, jobs) as look,
    ):
        for known in stores:
            row = overview(known, look)
            for remark in row.notes:
                note(f"{row.folder}: {remark}")
            bar.advance(row.bytes)
            yield row if limits is None else _limited(row, known, limits, memory)


def _limited(row: StoreOverview, known: StoreState, limits: SendLimits, memory: Memory) -> StoreOverview:
    """With the page limit of its address."""
    from pageengine.data_directory.after_start import pages_of_store

    if row.address is None or not row.verdict.counted or known.read_instead is not None:
        return row
    most = 0
    if limits.counts_messages(row.address):
        most = max((queue.messages for queue in known.summary().queues), default=0)
    found = limits.page_limit(row.address, pages_of_store(row.pages, row.waiting, row.bytes, most), memory)
    return row._replace(
        page_full=found.page_full, page_limit_used=None if found.limit is None else round(found.limit.used, 4)
    )


def _object(row: StoreOverview) -> dict[str, Any]:
    return {
        "address": row.address,
        "folder": row.folder,
        "pages": row.pages,
        "messages": row.messages,
        "bytes": row.bytes,
        "outstanding": row.outstanding,
        "oldest": row.oldest,
        "condition": str(row.verdict.conditions[0]),
        "conditions": [str(condition) for condition in row.verdict.conditions],
        "remarks": [*row.verdict.all_remarks, *row.notes],
        "page_full": row.page_full,
        "page_limit_used": row.page_limit_used,
    }


def _rank(order: LsOrder, row: StoreOverview) -> tuple[object, ...]:
    """What is not known comes last, and equal ones by address."""
    name = (row.address is None, row.address or "", row.folder)
    if order is LsOrder.address:
        return name
    value: int | None = getattr(row, order.value)
    return (value is None, (value or 0) * (1 if order is LsOrder.oldest else -1), *name)


def _text(rows: list[StoreOverview], limit: int | None, place: DataLocation, *, long: bool) -> None:
    if not rows:
        print("no address has page files")
        return
    paging = place.paging if place.store is None else place.store.parent
    heads = ("ADDRESS", "PAGES", "MESSAGES", "BYTES", "OUTSTANDING", "OLDEST", "AGE", "CONDITION")
    print_table(
        (*heads, *(["FOLDER"] if long else [])),
        [
            (
                "-" if row.address is None else row.address,
                row.pages,
                row.messages,
                size_text(row.bytes),
                "?" if row.outstanding is None else row.outstanding,
                time_text(row.oldest, "minutes"),
                age_text(row.oldest),
                row.verdict.conditions[0],
                *([_pasted(paging, row.folder)] if long else []),
            )
            for row in rows[:limit]
        ],
        right=("PAGES", "MESSAGES", "BYTES", "OUTSTANDING", "AGE"),
    )
    waiting = [row.outstanding for row in rows if row.outstanding is not None]
    held = f", {sum(waiting)} outstanding" if len(waiting) == len(rows) else ""
    say(
        f"{count_text(len(rows), 'address', 'addresses')}, {count_text(sum(row.pages for row in rows), 'page')}, "
        f"{count_text(sum(row.messages for row in rows), 'message')}{held}, {size_text(sum(row.bytes for row in rows))}"
    )
    for row in rows[:limit]:
        if row.page_full:
            check = place.call("messages check")
            say(f"{row.address}: its page limit is reached; {check} says what becomes of what is sent")
        if row.verdict.remarks and not row.verdict.fine:
            _remark(row)


def _pasted(paging: Path | None, folder: str) -> str:
    """The folder for a shell, from where it is called."""
    path = (paging or Path()) / folder
    return quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def _remark(row: StoreOverview) -> None:
    sys.stdout.write(f"\n{one_line(row.address or '(no address)')}  {one_line(row.folder)}\n")
    for remark in row.verdict.remarks:
        sys.stdout.write(f"  {one_line(remark)}\n")
