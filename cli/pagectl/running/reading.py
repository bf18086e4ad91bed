"""What the reading commands share: stores with their state, page ranges, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pagectl.running.exits import CallError
from pagectl.running.permissions import refuse_without_pages, warn_closed
from pagectl.terminal.streams import note, warning
from pagefmt.quantities import count_text
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.message_filter import PageRange
    from pagefmt.outstanding.state import PagingState, StoreState


T = TypeVar("T")


def page_range(text: str | None) -> PageRange:
    """``A:B``, ``A:``, ``:B`` or ``A``."""
    from pagefmt.outstanding.message_filter import PageRange

    if text is None:
        return PageRange()
    first, colon, last = text.partition(":")
    if not all(
        part == "" or (part.isascii() and part.isdigit() and len(part) < 20) for part in (first, last)
    ) or text in ("", ":"):
        raise CallError(f"--page {text}: not a range of page numbers; write A:B, A:, :B or A")
    start = int(first) if first else None
    return PageRange(start, (int(last) if last else None) if colon else start)


def state_of_place(
    place: DataLocation,
    *,
    journal: bool = False,
    within: StoredIn = StoredIn.LIVE,
    closed: bool = True,
    say: Callable[[str], None] | None = None,
) -> PagingState:
    """Return what is known about the messages of a place, and warn of journals that cannot be read.

    Args:
        place: The directories.
        journal: Whether to raise ``CannotKnow`` if the journal is missing, or the paging directory for pages alone.
        within: Where messages are read.
        closed: Whether to warn of pages that this user may not read.
        say: Takes the warnings, None for standard error.
    """
    from pagefmt.directory.locate import LocationKind
    from pagefmt.outstanding.loaded_journals import UnknownPart
    from pagefmt.outstanding.state import CannotKnow
    from pagefmt.vectors import load_place

    if journal and within is StoredIn.PAGES and place.paging is None:
        raise CannotKnow(f"{place.given}: no paging directory; name the data directory, or the instance")
    state = load_place(place)
    if within is StoredIn.JOURNAL:
        state = replace(state, known=state.known._replace(no_paging=False))
    elif closed:
        warn_closed(place, say=say)
    if journal and (missing := state.known.unknown_journal) is not None:
        ways, command = "run as a user who may read it, or see", "pages verify"
        if missing.permitted:
            ways = "name the data directory or the instance, or give its configuration with --config, and see"
            if place.kind in (LocationKind.DATA, LocationKind.INSTANCE):
                ways, command = "if it is not elsewhere (--config names its configuration), it is lost: see", "recover"
        raise CannotKnow(f"{place.given}: {missing.reason}; {ways}: {place.call(command)}")
    for unknown in state.known.unknown():
        lost = unknown.part is UnknownPart.BINDINGS and unknown.permitted and not unknown.alone
        way = f"; see: {place.call('recover')}" * lost
        (say or (note if unknown.missing and not state.known.whole else warning))(f"{unknown.reason}{way}")
    if within is StoredIn.LIVE and state.unknown is not None and state.unknown.alone:
        note("no journal beside the pages: only pages are looked at, and what is outstanding is not known")
    if state.known.alone and (paged := state.journal.loaded.paged):
        copies = count_text(paged, "copy", "copies")
        note(f"{copies} of paged messages in it not shown: a broker with journal retention writes them, and loads none")
    for remark in state.known.lost():
        (say or warning)(remark)
    return state


def pages_of_place(place: DataLocation) -> PagingState:
    """Return the pages with the names of queues, without the message journal. Warn of damaged bindings.

    Raises ``CallError`` if this user may read none of the pages.
    """
    from pagefmt.vectors import load_pages

    state = load_pages(place)
    refuse_without_pages(place)
    for unknown in state.known.unknown():
        warning(f"{unknown.reason}; queues are shown by their ids")
    return state


def while_it_moves(place: DataLocation, answer: Callable[[], T]) -> T:
    """Return the answer, and try again if a running broker removed a journal file meanwhile."""
    from pagefmt.directory.locks import running_broker
    from pagefmt.journal.files import NotAJournal
    from pagefmt.journal.load import TRIES
    from pagefmt.storage.files import FileGone

    for _ in range(TRIES):
        try:
            return answer()
        except (FileGone, NotAJournal):
            if running_broker(place.journal) is None:
                raise
    return answer()


def each_store(place: DataLocation, state: PagingState) -> Iterator[StoreState]:
    """Return the place's stores with what the journals say about them."""
    from pagefmt.directory.locate import stores

    return state.of(stores(place))


def warn_unknown_outstanding(store_state: StoreState, shown: str) -> bool:
    """Return whether it is not known what is outstanding in a store, and warn if only this store is concerned.

    ``shown`` says what the answer contains instead.
    """
    reason = store_state.not_known(shown)
    if reason and not store_state.store.hides_address:  # that was told of all files together
        warning(reason)
    return reason is not None


def bytes_to_read(place: DataLocation) -> int | None:
    """Return the bytes of all pages for a progress bar, None if standard error is no terminal."""
    from pagefmt.directory.locate import stores

    if not sys.stderr.isatty():
        return None
    return sum(page.size for store in stores(place) for page in store.pages)


def note_near_names(names: Collection[str], place: DataLocation, pages: PageRange) -> None:
    """Note which names of properties are probably misspelt."""
    if names:
        from pagefmt.directory.locate import stores
        from pagefmt.selector.near_names import near_names

        chosen = (page.path for store in stores(place) for page in store.pages if page.number in pages)
        for remark in near_names(names, chosen):
            note(remark)
