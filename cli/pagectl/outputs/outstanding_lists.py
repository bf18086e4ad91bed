"""What is outstanding in page files as JSON and CSV, one store at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import to_builtins

from pagectl.reports.outstanding import HeldPage, LiveDifference, OutstandingQueue, compared_queues
from pagectl.terminal.streams import CsvTable, JsonItems, json_text, warning

if TYPE_CHECKING:
    from pagectl.running.live_broker import LiveComparison
    from pagefmt.outstanding.overview import StoreVerdict
    from pagefmt.outstanding.page_load import QueueLoad
    from pagefmt.outstanding.state import StoreSummary

    Judged = Iterable[tuple[StoreSummary, StoreVerdict]]


def print_outstanding_json(
    stores: Judged, compare: Callable[[], LiveComparison] | None, *, positions: bool, lines: bool
) -> None:
    """Write an ``OutstandingStores`` object, or with ``lines`` what its lists have.

    ``compare`` compares a running broker once the stores are read; None if there is none. ``positions``: with the
    positions of messages.
    """
    items = JsonItems("stores", *(("live", "differences") if compare is not None else ()), lines=lines)
    for summary, verdict in stores:
        items.add_parts("stores", _store(summary, verdict, positions))
    if compare is not None:
        comparison = compare()
        for queue in compared_queues(comparison):
            items.add("live", queue)
        for difference in comparison.differences:
            items.add("differences", LiveDifference.of(difference))
    items.end()


def _store(summary: StoreSummary, verdict: StoreVerdict, positions: bool) -> Iterator[str]:
    """Yield the text in parts, because a store may have very many pages and positions."""
    names = {queue.id: queue.name for queue in summary.queues} if summary.unknown is None else None
    yield f'{{"address":{json_text(summary.address)},"folder":{json_text(summary.folder)},"queues":['
    for number, queue in enumerate(summary.queues):
        text = json_text(OutstandingQueue.of(queue, counted=verdict.counted))
        yield f"{',' if number else ''}{text[:-1]}"
        if positions:
            yield from _positions(queue)
        yield "}"
    yield '],"pages":['
    for number, page in enumerate(summary.pages):
        yield f"{',' if number else ''}{json_text(HeldPage.of(page, names))}"
    yield f'],"remarks":{json_text(verdict.all_remarks)}}}'


def _positions(queue: QueueLoad) -> Iterator[str]:
    """Yield the last member of a queue, a page of positions at a time."""
    yield ',"positions":['
    for count, (page, numbers) in enumerate(queue.positions.pages()):
        between = f"],[{page},"
        yield f"{',' if count else ''}[{page},{between.join(map(str, numbers))}]"
    yield "]"


def print_outstanding_csv(stores: Judged) -> None:
    """Write a row for each queue of a store; what is wrong with a store is a warning."""
    of_queue = [name for name in OutstandingQueue.__struct_fields__ if name != "positions"]
    table = CsvTable(["address", "folder", *of_queue])
    for summary, verdict in stores:
        for remark in () if verdict.fine else verdict.remarks:
            warning(f"{summary.folder}: {remark}")
        for queue in summary.queues:
            row = to_builtins(OutstandingQueue.of(queue, counted=verdict.counted))
            table.row({"address": summary.address, "folder": summary.folder, **row})
