"""Whether there is a terminal, and what draws on it; nothing of that is imported before."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from pagectl.options.formats import TableFormat
from pagectl.options.groups import ListOptions
from pagectl.running.backlogs import TopOrder
from pagectl.running.collector import collected_as_usual
from pagectl.running.exits import CallError
from pagefmt.errors import installation
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from textual.screen import Screen

    from pagefmt.directory.locate import DataLocation


def show(command: str, instead: str, first: Callable[[], Screen[None]]) -> int:
    """Show a screen until it is ended; the status.

    Raises ``CallError`` without a terminal, with what to use ``instead``, or without Textual.
    """
    if not on_terminal():
        raise CallError(f"{command} needs a terminal as standard input and output; elsewhere use {instead}")
    try:
        from pagectl.screens.app import shown
    except ModuleNotFoundError as err:
        if (err.name or "").partition(".")[0] != "textual":
            raise
        raise CallError(f"{command} needs Textual; install it with: {installation('screens')}") from err
    collected_as_usual()
    return shown(first)


def watch_top(
    places: list[DataLocation], failed: list[str], listed: ListOptions, within: StoredIn, every: float
) -> int:
    """Show the screen of ``messages top --watch``. ``failed``: why some places cannot be opened.

    Raises ``CallError`` for such a place, for one that is a page, and for options that the screen does not have.
    """
    sort = listed.sort
    if listed.form is not TableFormat.text or listed.columns:
        raise CallError("--watch cannot be combined with --format or --columns; a program uses --every and --format")
    if within is not StoredIn.LIVE:
        raise CallError("--watch cannot be combined with --in; it shows journal and pages")
    if failed:
        raise CallError(failed[0])
    if page := next((place for place in places if place.page is not None), None):
        raise CallError(f"{page.given} is one page; --watch takes a data directory or a store folder")
    if sort not in (None, *TopOrder):
        raise CallError(f"--watch with --sort {sort}: it sorts by {', '.join(TopOrder)}")

    def first() -> Screen[None]:
        from pagectl.screens.top import TopScreen

        return TopScreen(places, TopOrder(sort or TopOrder.held), listed.limit, every)

    return show("messages top --watch", "messages top, or --every SECONDS --format json", first)


def on_terminal() -> bool:
    """Return whether both standard streams are terminals that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
