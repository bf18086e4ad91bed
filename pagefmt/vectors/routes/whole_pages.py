"""Loads and counts of whole pages in one pass: the port of ``pagefmt.outstanding.page_vectors``."""

from __future__ import annotations

from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_backlog import LOOKED_AT_FOR_A_TIME
from pagefmt.outstanding.overview import first_timestamp
from pagefmt.outstanding.page_vectors import LoadOfPage, PageCount
from pagefmt.vectors.routes.ack_state_columns import any_outstanding
from pagefmt.vectors.routes.page_sum import PageSum
from pagefmt.vectors.routes.route_columns import IrregularPage, RouteColumns, routed


class RouteVectors:
    """Reads the routes of all records of a page as columns."""

    def load(self, page: PageFile, rule: PageRule, keep: bool) -> LoadOfPage | None:
        """Return what the page holds for each queue, None if a record does not fit the columns."""
        total = PageSum(page.number, keep)
        try:
            for routes in routed(page):
                total.take(rule, routes)
        except IrregularPage:
            return None
        return total.load(page.size), total.queues

    def count(self, page: PageFile, rule: PageRule | None) -> PageCount | None:
        """Return how many messages the page has, None if a record does not fit the columns."""
        count = PageCount()
        try:
            for routes in routed(page):
                if not count.messages:
                    count.begun = _first_timestamp(page, routes)
                count.messages += len(routes)
                if rule is not None:
                    count.outstanding += int(any_outstanding(rule, routes).sum())
        except IrregularPage:
            return None
        return count


def _first_timestamp(page: PageFile, routes: RouteColumns) -> int | None:
    """Return the timestamp of the first record that has one, from the page's first chunk if that is long enough."""
    if routes.page.size < page.size and len(routes) < LOOKED_AT_FOR_A_TIME:
        with open_page(page) as opened:
            return first_timestamp(opened, opened.layout())
    opened = Page(memoryview(routes.page.buffer)[: routes.page.size])
    return first_timestamp(opened, opened.layout() if routes.old else Layout.NEW)
