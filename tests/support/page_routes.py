"""Routes of a page in memory, decoded to columns in one step."""

from __future__ import annotations

from pagefmt.outstanding.route_columns import IrregularPage, RouteColumns, route_columns
from pagefmt.pages.gather import PageBytes
from pagefmt.pages.scan import scan


def whole_page(content: bytes) -> RouteColumns:
    """As ``routed``, of a page in memory and in one piece."""
    page = PageBytes(content)
    frames = scan(page)
    if not frames.whole:
        raise IrregularPage("cut")
    return route_columns(page, frames)
