"""What the reading commands share: stores with their state, page ranges, progress, moments in time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pagectl.running.exits import CallError
from pagectl.terminal.streams import note, warning

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.message_filter import PageRange
    from pagefmt.outstanding.state import PagingState, StoreState
    from pagefmt.pages.paging import Store
    from pagefmt.selector import Selector


def page_range(text: str | None) -> PageRange:
    """``A:B``, ``A:``, ``:B`` or ``A``."""
    from pagefmt.outstanding.message_filter import PageRange

    if text is None:
        return PageRange()
    first, colon, last = text.partition(":")
    if not all(part == "" or (part.isascii() and part.isdigit()) for part in (first, last)) or text in ("", ":"):
        raise CallError(f"--page {text}: not a range of page numbers; write A:B, A:, :B or A")
    start = int(first) if first else None
    return PageRange(start, (int(last) if last else None) if colon else start)


def known_state(place: DataLocation) -> PagingState | None:
    """Journal and bindings where they are; a journal that cannot be read is a warning."""
    from pagefmt.errors import PageFmtError
    from pagefmt.outstanding.state import load_place

    try:
        return load_place(place)
    except PageFmtError as err:
        warning(f"{err}; going on without the journal")
        return None


def each_store(place: DataLocation, state: PagingState | None) -> Iterator[tuple[Store, StoreState | None]]:
    """The place's stores with what the journal says about them."""
    from pagefmt.directory.locate import stores

    if state is None:
        for store in stores(place):
            yield store, None
        return
    for known in state.of(stores(place)):
        yield known.store, known


def bytes_to_read(place: DataLocation) -> int | None:
    """For the progress bar; None where nobody sees one."""
    from pagefmt.directory.locate import stores

    if not sys.stderr.isatty():
        return None
    return sum(page.size for store in stores(place) for page in store.pages)


def moment(milliseconds: int | None, *, seconds: bool = True) -> str:
    """A time in UTC; empty for none, the number itself where no calendar has it."""
    if not milliseconds:
        return ""
    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return when.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")


def note_near_names(selector: Selector | None, place: DataLocation, pages: PageRange) -> None:
    """Says which names of ``--where`` are probably misspelt."""
    if selector is not None:
        from pagefmt.directory.locate import stores
        from pagefmt.selector.near_names import near_names

        chosen = (page.path for store in stores(place) for page in store.pages if page.number in pages)
        for remark in near_names(selector, chosen):
            note(remark)
