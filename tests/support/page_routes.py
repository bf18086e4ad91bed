"""Routes of a page in memory, decoded to columns in one step."""

from __future__ import annotations

from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import scan
from pagefmt.vectors.routes.route_columns import IrregularPage, RouteColumns, route_columns


def whole_page(content: bytes) -> RouteColumns:
    """Return the route columns of a complete page."""
    page = PageBytes(content)
    frames = scan(page)
    if not frames.whole:
        raise IrregularPage("cut")
    return route_columns(page, frames)
