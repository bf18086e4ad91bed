"""What a running broker says beside what its files have, as text."""

from __future__ import annotations

from pagectl.reports.outstanding import compared_queues
from pagectl.running.live_broker import LiveComparison
from pagectl.terminal.streams import print_table, say

_RIGHT = ("BROKER", "FILES", "JOURNAL", "PAGES", "CONSUMERS", "DELIVERING")


def print_live(comparison: LiveComparison) -> None:
    """Print a table of the queues with messages or consumers, and the differences."""
    print()
    say(f"broker {comparison.broker.name}, {comparison.broker.version}, compared with its files:")
    print_table(
        (*_RIGHT, "PAGING", "QUEUE"),
        [
            (
                *map(_shown, (queue.messages, queue.in_files, queue.in_journal, queue.in_pages, queue.consumers)),
                _shown(queue.delivering),
                "?" if queue.paging is None else "yes" if queue.paging else "no",
                queue.queue,
            )
            for queue in compared_queues(comparison)
            if queue.messages or queue.in_files or queue.consumers
        ],
        right=_RIGHT,
    )
    for difference in comparison.differences:
        say(f"{difference.queue or difference.address}: {difference.message} [{difference.rule}]")
    if not comparison.differences:
        say("no difference")


def _shown(count: int | None) -> object:
    return "?" if count is None else count
