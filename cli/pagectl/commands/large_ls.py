"""``large ls``: one row per large-message file, and per message whose file is not there."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.opening.large import open_large
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.shared import DirArgument
from pagectl.reports.large import BODIES, LargeBody
from pagectl.running.exits import Exit
from pagectl.running.permissions import warn_closed
from pagectl.terminal.streams import warning
from pagefmt.directory.permissions import Reads, closed_files
from pagefmt.quantities import count_text, size_text

EXAMPLES = (
    ("Who needs each large body, and which bodies nobody needs", "large ls /var/lib/broker"),
    ("How much space do files take that no message refers to?", "large ls /var/lib/broker --orphans"),
)


def command(
    directory: DirArgument = None,
    orphans: Annotated[bool, typer.Option("--orphans", help="Only files that no message refers to.")] = False,
    listed: ListOptions = ListOptions(),
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """List large-message files: size, age, the queues that wait for them, and what is left over or missing.

    Ends with status 1 if a file is missing, not durable or not of the size that its message says, or if not
    everything that may need a file can be read.
    """
    from pagefmt.check.cross.large_files import LargeCondition, large_rows
    from pagefmt.check.cross.large_references import large_references

    view = BODIES.view(listed)
    place, state, large = open_large(directory, broker)
    closed = warn_closed(place, Reads.PAGES | Reads.BODIES)
    unread: list[str] = []
    hidden = closed and closed_files(place) is not None
    rows = large_rows(state, large, large_references(state, unread), unread, closed=hidden)
    whole = not unread and not closed and state.known.unknown_journal is None and not state.known.damaged
    if orphans:
        absent = sum(LargeCondition.MISSING in row.conditions for row in rows)
        if absent:
            warning(f"{count_text(absent, 'message')} without a file: {place.call('large ls')} without --orphans")
        rows = [row for row in rows if row.reference is None]
    for reason in unread:
        warning(f"{reason}; messages there may need any of the files")
    if rows or not view.as_text:
        view.show(map(LargeBody.of, rows))
    if view.as_text:
        sizes = [row.file.size for row in rows if row.file is not None]
        missing = "" if orphans else f"; {count_text(len(rows) - len(sizes), 'message')} without a file"
        whose = f" that no {'readable ' * (not whole)}message refers to" if orphans else ""
        print(f"{count_text(len(sizes), 'file')}{whose}, {size_text(sum(sizes))}{missing}")
    return Exit.OK if whole and all(row.sound for row in rows) else Exit.FOUND
