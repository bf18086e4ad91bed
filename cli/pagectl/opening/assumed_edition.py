"""The edition that data are judged by, and a note where nobody named it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.options.shared import EditionChoice, edition_of
from pagectl.terminal.streams import note
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from pagefmt.outstanding.state import PagingState


def edition_for(choice: EditionChoice | None, state: PagingState) -> Edition:
    """Return the edition of ``--edition``, else the one that probably wrote the journals, else the pages' newest.

    The last is the newest edition that writes the layout of the pages.
    """
    from pagefmt.check.judged_edition import judged_edition

    return edition_of(choice) or judged_edition(state)


def note_edition(choice: EditionChoice | None, state: PagingState | None) -> None:
    """Note the edition that was assumed and why, unless it was named."""
    if edition_of(choice) is not None:
        return
    edition = edition_for(None, state) if state is not None else NEWEST
    why = f"the newest{' with such pages' * edition.old_layout}: nothing here shows the release"
    if state is not None and writer_of(state) is not None:
        why = "its journals show what such a release writes"
    note(f"judged as {edition.value} ({why}); --edition names another")


def note_judged(choice: EditionChoice | None, edition: Edition) -> None:
    """Note the edition that a plan was made for, unless it was named."""
    if edition_of(choice) is None:
        note(f"judged as {edition.value} (what the journals show, else the newest); --edition names another")


def writer_of(state: PagingState) -> Edition | None:
    """Return the edition that probably wrote the journals; None where nothing shows it."""
    from pagefmt.directory.edition_evidence import likely_writer

    return likely_writer(state.bindings, state.journal)
