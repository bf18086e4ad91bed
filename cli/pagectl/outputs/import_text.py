"""``messages import-plan`` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.terminal.streams import print_table, say
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.exchange.xml_reading import ImportPlan


def show_import(plan: ImportPlan) -> None:
    """Print the queues that get messages, and what is lost or stops the import."""
    if plan.queues:
        print_table(
            ("MESSAGES", "BYTES", "LARGE", "QUEUE", "ADDRESS"),
            [
                (queue.messages, size_text(queue.bytes), queue.large or "", queue.name, queue.address)
                for queue in plan.queues.values()
            ],
            right=("MESSAGES", "BYTES", "LARGE"),
        )
    addresses = count_text(plan.addresses, "address", "addresses")
    print(f"{count_text(plan.messages, 'message')}, {count_text(len(plan.queues), 'queue')}, {addresses}")
    for line, what in plan.faults:
        say(f"line {line}: {what}")
    if plan.more_faults:
        print(f"… and {plan.more_faults} more such lines")
    for remark in plan.remarks():
        say(f"remark: {remark}")
