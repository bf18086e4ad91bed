"""Whole pages read in one pass with NumPy and Arrow: everything here exists only to be fast.

Each function gives the same result as the plain code that its docstring names, and leaves what it cannot read to it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.journal.load import LoadedJournal
    from pagefmt.outstanding.state import PagingState
    from pagefmt.outstanding.watch import PagesWatch


def load_state(paging: Path, journal: Path | None, bindings: Path | None) -> PagingState:
    """Read the journals of a directory, as ``outstanding.state.load_state`` does; pages are read in one pass."""
    from pagefmt.outstanding import state
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return state.load_state(paging, journal, bindings, RouteVectors())


def load_place(
    place: DataLocation, *, locked: bool = False, inspect: Callable[[LoadedJournal], object] = lambda loaded: None
) -> PagingState:
    """Read the journals of a place, as ``pagefmt.outstanding.state.load_place`` does; pages are read in one pass."""
    from pagefmt.outstanding import state
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return state.load_place(place, locked=locked, inspect=inspect, vectors=RouteVectors())


def load_pages(place: DataLocation) -> PagingState:
    """Return the pages of a place without its message journal; they are read in one pass."""
    from pagefmt.outstanding import state
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return state.load_pages(place, RouteVectors())


def watch_pages(place: DataLocation) -> PagesWatch:
    """Return a ``pagefmt.outstanding.watch.PagesWatch`` that reads pages in one pass."""
    from pagefmt.outstanding.watch import PagesWatch
    from pagefmt.vectors.routes.whole_pages import RouteVectors

    return PagesWatch(place, RouteVectors())
