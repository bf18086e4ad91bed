"""``messages top``: its rows in any format; in text also groups, and who holds the bytes of pages."""

from __future__ import annotations

from typing import Final

from pagectl.options.formats import TableFormat
from pagectl.reports.listing import View
from pagectl.reports.messages_top import HoldingQueue, HoldingQueues
from pagectl.running.backlogs import QueueGroup, QueueReading, TopOrder
from pagectl.terminal.streams import say
from pagefmt.quantities import count_text, size_text

SHOWN: Final = 20  # queues and groups without --limit
MEMBERS_SHOWN: Final = 4  # queues of a group that are named


def show_top(ranking: QueueReading, failed: list[str], view: View[HoldingQueue]) -> None:
    """Print the queues in the format of the view. ``failed``: why some places cannot be read."""
    rows = list(view.ordered(map(HoldingQueue.of, ranking.ranked(TopOrder.held))))
    if view.as_text:
        _show_text(ranking, rows, view)
    elif view.form is TableFormat.json:
        view.write_document(HoldingQueues.of(ranking, failed, rows, view.limit))
    else:
        view.show(rows)


def _show_text(ranking: QueueReading, rows: list[HoldingQueue], view: View[HoldingQueue]) -> None:
    """Print the queues and the groups, each at most as many as the limit, and who holds the bytes of all pages."""
    limit = SHOWN if view.limit is None else view.limit or len(rows) + len(ranking.groups)
    if rows:
        view.write(rows[:limit], among=rows)
    if len(rows) > limit:
        print(f"… and {count_text(len(rows) - limit, 'more queue')} (--limit 0 shows all)")
    groups = ranking.ranked_groups()
    for group in groups[:limit]:
        say(_group_text(group))
    if len(groups) > limit:
        print(f"… and {count_text(len(groups) - limit, 'more group')} of queues that hold pages together")
    say(account(ranking))


def _group_text(group: QueueGroup) -> str:
    pages = group.pages
    names = list(pages.queues[:MEMBERS_SHOWN])
    last = f"{len(pages.queues) - len(names)} more" if len(pages.queues) > len(names) else names.pop()
    size = f"{size_text(pages.bytes)} ({count_text(pages.pages, 'page')})"
    return f"{pages.address or '?'}: {size} held by {', '.join(names)} and {last} together"


def account(ranking: QueueReading) -> str:
    """Return all bytes of the pages by who holds them."""
    parts = {
        "held by one queue alone": ranking.alone,
        "by several together": ranking.shared,
        "by nobody": ranking.free,
        "by ?": ranking.unknown,
    }
    holders = ", ".join(f"{size_text(size)} {who}" for who, size in parts.items() if size)
    return f"{size_text(ranking.size)} of pages: {holders}" if holders else "no address has page files"
