"""Files that this user may not read: one line says so, and nothing is derived from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pagectl.running.exits import CallError
from pagectl.terminal.streams import warning
from pagefmt.directory.permissions import Reads, closed_files

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.findings import Finding


def warn_closed(place: DataLocation, reads: Reads = Reads.PAGES, say: Callable[[str], None] | None = None) -> bool:
    """Warn of what a command reads and this user may not read. Return whether there is any.

    ``say`` gets the warning.
    """
    closed = closed_files(place, reads)
    if closed is not None:
        (say or warning)(str(closed))
    return closed is not None


def closed_finding(place: DataLocation, reads: Reads) -> list[Finding]:
    """Return the finding about what a command reads and this user may not read; empty if he may read all."""
    from pagefmt.findings import Severity, about_data

    closed = closed_files(place, reads)
    if closed is None:
        return []
    return [about_data(Severity.WARNING, "not-permitted", "files", str(closed))]


def refuse_without_pages(place: DataLocation) -> None:
    """Raise ``CallError`` if none of the pages can be read for lack of rights."""
    closed = closed_files(place)
    if closed is not None and not closed.pages:
        raise CallError(str(closed))


def refuse_closed(place: DataLocation, reads: Reads = Reads.ALL) -> None:
    """Raise ``CallError`` if this user may not read all that a command reads."""
    closed = closed_files(place, reads)
    if closed is not None:
        raise CallError(str(closed))
