"""The edition by which a directory is judged if the user names none."""

from __future__ import annotations

from itertools import islice
from typing import Final

from pagefmt.check.page_reports import first_layout, newest_of
from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.editions import Edition
from pagefmt.outstanding.state import PagingState

_TRIES: Final = 8


def judged_edition(state: PagingState) -> Edition:
    """Return the one that probably wrote the journals, else the newest that writes such pages as are found first."""
    return likely_writer(state.bindings, state.journal) or newest_of(
        next(filter(None, (first_layout(store.pages) for store in islice(state.paging.stores(), _TRIES))), None)
    )
