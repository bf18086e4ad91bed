"""``convert`` as text."""

from __future__ import annotations

from typing import Final

from pagectl.reports.conversion import Conversion, ConvertedQueue
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table
from pagefmt.quantities import count_text

_NUMBERS: Final = ("JOURNAL", "PAGES", "IN DOUBT")


def show_conversion(conversion: Conversion) -> None:
    """Print the queues of the new directory, and what has no counterpart there."""
    print_table((*_NUMBERS, "ROUTING", "ADDRESS", "QUEUE", "WAS"), map(_cells, conversion.queues), right=_NUMBERS)
    print(
        f"{count_text(conversion.page_records, 'record')} in {count_text(conversion.pages, 'page')}, "
        f"{count_text(sum(conversion.journal_records.values()), 'record')} of the message journal"
    )
    remarks = {"no counterpart": conversion.no_counterpart, "lost": conversion.lost, "different": conversion.remarks}
    for title, lines in remarks.items():
        for line in lines:
            print(f"{title}: {one_line(line)}")
    if conversion.wrote:
        print(f"directory of {conversion.edition}: {one_line(conversion.wrote)}")


def _cells(queue: ConvertedQueue) -> tuple[object, ...]:
    old, new = queue.old, queue.new
    counts = ["?" if count is None else count for count in (queue.journal, queue.pages, queue.in_doubt)]
    if new is None:
        return (*counts, "-", "-", "-", old.queue)
    same = (old.address, old.queue) == (new.address, new.queue)
    was = "" if same else f"{old.address}::{old.queue}"
    return (*counts, new.routing_type, new.address, new.queue, was)
