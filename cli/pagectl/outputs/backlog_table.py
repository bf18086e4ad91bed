"""Ranked queues as rows of a table, and the account of all pages below it."""

from __future__ import annotations

from typing import Final

from pagectl.running.backlogs import QueueGroup, QueuesLook, RankedQueue
from pagefmt.quantities import age_text, count_text, rate_text, size_text, time_text

COLUMNS: Final = ("QUEUE", "ADDRESS", "HOLDS", "ALONE", "PAGES", "WAITING", "JOURNAL", "OLDEST", "AGE", "GROWTH")
RIGHT: Final = COLUMNS[2:]
MEMBERS_SHOWN: Final = 4
"""Queues of a group that are named."""


def cells(queue: RankedQueue) -> tuple[str, ...]:
    """One queue below ``COLUMNS``, and its broker."""
    of = queue.backlog
    return (
        of.queue or "",
        "?" if of.address is None else of.address,
        "?" if of.disk is None else size_text(of.disk),
        "?" if of.alone is None else size_text(of.alone),
        "?" if of.pages is None else str(of.pages),
        "?" if of.messages is None else str(of.messages),
        "?" if of.in_journal is None else str(of.in_journal),
        time_text(of.oldest, "minutes") or ("?" if of.messages != 0 else ""),
        age_text(of.oldest),
        "?" if queue.growth is None else rate_text(queue.growth),
        queue.broker,
    )


def group_text(group: QueueGroup) -> str:
    """Return the line of queues that hold pages together."""
    of = group.pages
    names = list(of.queues[:MEMBERS_SHOWN])
    last = f"{len(of.queues) - len(names)} more" if len(of.queues) > len(names) else names.pop()
    pages = count_text(of.pages, "page")
    return f"{of.address or '?'}: {size_text(of.bytes)} ({pages}) held by {', '.join(names)} and {last} together"


def account(found: QueuesLook) -> str:
    """All bytes of the pages by who holds them."""
    parts = {
        "held by one queue alone": found.alone, "by several together": found.shared, "by nobody": found.free,
        "by ?": found.unknown,
    }  # fmt: skip
    told = ", ".join(f"{size_text(size)} {who}" for who, size in parts.items() if size)
    return f"{size_text(found.size)} of pages: {told}" if told else "no address has page files"
