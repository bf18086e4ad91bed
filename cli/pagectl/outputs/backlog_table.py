"""Ranked queues as rows of a table, and the account of all pages below it."""

from __future__ import annotations

from typing import Final

from pagectl.running.backlogs import QueuesLook, RankedQueue
from pagefmt.quantities import rate_text, size_text, time_text

COLUMNS: Final = ("ALONE", "HOLDS", "PAGES", "WAITING", "OLDEST", "GROWTH", "QUEUE", "ADDRESS")
RIGHT: Final = COLUMNS[:-2]


def cells(queue: RankedQueue) -> tuple[str, ...]:
    """One queue below ``COLUMNS``, and its broker."""
    of = queue.backlog
    return (
        "?" if of.alone is None else size_text(of.alone),
        "?" if of.held is None else size_text(of.held),
        "?" if of.pages is None else str(of.pages),
        "?" if of.messages is None else str(of.messages),
        time_text(of.oldest, "minutes") or ("?" if of.messages != 0 else ""),
        "?" if queue.growth is None else rate_text(queue.growth),
        of.queue or "",
        "?" if of.address is None else of.address,
        queue.broker,
    )


def account(found: QueuesLook) -> str:
    """All bytes of the pages by who holds them."""
    parts = {
        "held by one queue alone": found.alone, "by several together": found.shared, "by nobody": found.free,
        "by ?": found.unknown,
    }  # fmt: skip
    told = ", ".join(f"{size_text(size)} {who}" for who, size in parts.items() if size)
    return f"{size_text(found.size)} of pages: {told}" if told else "no address has page files"
