"""What ``queue drop`` and ``queue purge`` report alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagectl.terminal.sanitise import one_line
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.removal.plan import DropPlan
    from pagefmt.removal.purge import PurgePlan


def head_fields(queue: QueueBinding, written: Path | None) -> dict[str, Any]:
    """The first keys of the JSON object: whether it was carried out, and for which queue."""
    return {
        "done": written is not None,
        "wrote": str(written) if written else None,
        "queue": queue.name,
        "id": queue.id,
        "address": queue.address,
    }


def freed_fields(plan: DropPlan | PurgePlan) -> dict[str, Any]:
    """The last keys: what the copy does not have, and what stays."""
    return {
        "freed": plan.freed,
        "large_messages": [{"file": body.path.name, "size": body.size} for body in plan.pages.bodies],
        "journal_records": plan.records,
        "remarks": plan.remarks,
    }


def print_freed(plan: DropPlan | PurgePlan, written: Path | None) -> None:
    """Print the same as text."""
    for remark in plan.remarks:
        print(f"stays: {one_line(remark)}")
    freed = f"{size_text(plan.freed)} of pages and large messages, {count_text(plan.records, 'journal record')}"
    print(f"left out: {freed}" if written else f"would leave out {freed}")
