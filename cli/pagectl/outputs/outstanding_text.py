"""What is outstanding in page files as text: for each address its queues, and which of them hold which pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from pagectl.outputs.live_report import print_live
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table, say
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagectl.running.live_broker import LiveComparison
    from pagefmt.outstanding.overview import StoreVerdict
    from pagefmt.outstanding.page_load import QueueLoad
    from pagefmt.outstanding.state import PagingState, StoreSummary

RUNS_SHOWN = 12  # runs of pages with the same holders that are listed for one address
QUEUES_SHOWN = 8  # names in one list of queues


def print_outstanding(
    stores: Iterable[tuple[StoreSummary, StoreVerdict]],
    state: PagingState,
    compare: Callable[[], LiveComparison] | None,
) -> None:
    """Print each store that has pages or is in a bad condition, then the transactions that are still prepared.

    ``compare`` compares a running broker once the stores are read; None if there is none.
    """
    shown = 0
    for summary, verdict in stores:
        if summary.pages or not verdict.fine:
            print("\n" * bool(shown), end="")
            _store(summary, verdict)
            shown += 1
    if not shown:
        print("no address has page files")
    for branch in state.journal.prepared:
        in_doubt = count_text(len(branch.acks) + sum(send.references for send in branch.sends), "message")
        print(f"\nprepared transaction {branch.tx} is still open: {in_doubt} in doubt, their pages stay")
    if compare is not None:
        print_live(compare())


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
        queue.messages,
        size_text(queue.bytes),
        doubt or "",
        first,
        last,
        size_text(queue.held_bytes),
        size_text(queue.held_alone),
        queue.name,
    )


def _runs(summary: StoreSummary) -> Iterator[str]:
    """Yield a line for neighbouring pages with the same holders."""
    for holders, group in groupby(summary.pages, key=lambda page: page.holders):
        pages = list(group)
        first, last = pages[0].page, pages[-1].page
        which = f"page {first}" if first == last else f"pages {first}-{last}"
        if last - first >= len(pages):
            which = f"{count_text(len(pages), 'page')} of {first}-{last}"
        by = "?" if holders is None else _holders(summary, set(holders))
        yield f"{which} ({size_text(sum(page.size for page in pages))}) held by {by}"


def _holders(summary: StoreSummary, held_by: set[int]) -> str:
    """Return the shorter of two lists: the queues that hold a page, or those that do not."""
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
