"""``queue drop`` and ``queue purge`` as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.outputs.in_place import print_steps
from pagectl.terminal.sanitise import one_line
from pagefmt.quantities import count_text, size_text, time_text

if TYPE_CHECKING:
    from pagefmt.change.removal.plan import DropPlan
    from pagefmt.change.removal.purge import PurgePlan


def show_drop(plan: DropPlan, written: Path | None, declared: str | None) -> None:
    """Print what goes with a queue. ``written``: the copy. ``declared``: where the configuration has the queue."""
    queue, held, paged = plan.queue, plan.held, plan.held.paged
    print(f"queue {one_line(queue.name)} (id {queue.id}) of address {one_line(queue.address)}")
    print(
        f"messages: {held.messages} in the journal, {size_text(held.bytes)}; "
        f"{paged.messages} in {count_text(paged.pages, 'page')}, {size_text(paged.bytes)}"
    )
    if held.unknown:
        print(f"there may be more: {one_line(held.unknown)}")
    if paged.in_doubt:
        print(f"in prepared transactions: {paged.in_doubt}; these stay, without what concerns the queue")
    if plan.left:
        print(f"the address keeps its other queues: {one_line(', '.join(other.name for other in plan.left))}")
    else:
        print("its only queue: the address " + ("is dropped as well" if plan.address else "stays, without its pages"))
    _show_freed(plan, written)
    if written:
        print(f"copy without the queue: {one_line(str(written))}")
    if declared:
        print(f"declared in {one_line(declared)}: the next start creates it again, empty")
    if written:
        print_steps(plan.pages.roots, written)


def show_purge(plan: PurgePlan, written: Path | None, until: int | None) -> None:
    """Print which messages go. ``written``: the copy. ``until``: only messages sent before this time (ms)."""
    queue = plan.queue
    purged = plan.journal_messages + plan.paged_messages
    print(f"queue {one_line(queue.name)} (id {queue.id}) of address {one_line(queue.address)}")
    if until is not None:
        print(f"only messages that were sent before {time_text(until, 'seconds')}")
    print(
        f"{'purged' if written else 'would purge'} {count_text(purged, 'message')}: {plan.journal_messages} in the "
        f"journal, {size_text(plan.journal_bytes)}; {plan.paged_messages} in "
        f"{count_text(len(plan.in_pages), 'page')}, {size_text(plan.paged_bytes)}"
    )
    print(f"left in the queue: {'?' if plan.left is None else plan.left}")
    if plan.acknowledged:
        print(f"acknowledged for the queue, and kept for others or in their page: {plan.acknowledged}")
    if plan.held.paged.in_doubt:
        print(f"in prepared transactions: {plan.held.paged.in_doubt}; these stay")
    _show_freed(plan, written)
    if written:
        print(f"copy without these messages: {one_line(str(written))}")
        print_steps(plan.pages.roots, written)


def _show_freed(plan: DropPlan | PurgePlan, written: Path | None) -> None:
    for remark in plan.remarks:
        print(f"stays: {one_line(remark)}")
    freed = f"{size_text(plan.freed)} of pages and large messages, {count_text(plan.records, 'journal record')}"
    print(f"left out: {freed}" if written else f"would leave out {freed}")
