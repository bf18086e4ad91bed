"""Addresses with page files, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

from msgspec import Meta

from pagectl.reports.form import Count, Report
from pagectl.reports.listing import AGE, COUNT, SIZE, TIME, RowListing, TableColumn

if TYPE_CHECKING:
    from pagefmt.outstanding.overview import StoreOverview

StoreCondition: TypeAlias = Literal[
    "undecodable", "suspect", "not permitted", "no address", "duplicate", "unknown", "orphan", "empty", "ok"
]


class AddressPages(Report):
    """An address that has page files, and in what condition they are."""

    address: str | None
    """Null if the folder names none, or it cannot be read."""
    folder: str
    pages: Count
    messages: Count
    bytes: Count
    """Bytes of the page files."""
    outstanding: Count | None
    """Messages that a queue still waits for; null if that is not known."""
    oldest: int | None
    """Earliest time (ms) at which one of the first messages of the pages was sent."""
    condition: StoreCondition
    """The worst of the conditions."""
    conditions: list[StoreCondition]
    remarks: list[str]
    page_full: bool | None
    """Whether a broker that starts takes no more messages because a page limit is reached; null if not known."""
    page_limit_used: Annotated[float, Meta(ge=0, le=1)] | None
    """Share of the page limit that is used; null if there is no limit, or if that is not known."""

    @classmethod
    def of(cls, row: StoreOverview) -> AddressPages:
        """Return the report of a store."""
        conditions = cast("list[StoreCondition]", [condition.value for condition in row.verdict.conditions])
        return cls(
            address=row.address,
            folder=row.folder,
            pages=row.pages,
            messages=row.messages,
            bytes=row.bytes,
            outstanding=row.outstanding,
            oldest=row.oldest,
            condition=conditions[0],
            conditions=conditions,
            remarks=[*row.verdict.all_remarks, *row.notes],
            page_full=row.page_full,
            page_limit_used=row.page_limit_used,
        )


class PagingAddresses(Report):
    """``pages ls --format json``: the addresses that have page files."""

    stores: list[AddressPages]


ADDRESSES = RowListing(
    "stores",
    AddressPages,
    (
        TableColumn("address", "ADDRESS", null="-"),
        TableColumn("pages", "PAGES", COUNT),
        TableColumn("messages", "MESSAGES", COUNT),
        TableColumn("bytes", "BYTES", SIZE),
        TableColumn("outstanding", "OUTSTANDING", COUNT),
        TableColumn("oldest", "OLDEST", TIME, null=""),
        TableColumn("oldest", "AGE", AGE, null=""),
        TableColumn("condition", "CONDITION"),
        TableColumn("folder", "FOLDER", usual=False),
    ),
    left_out=("remarks",),
)
ANSWERS = {"pages-ls": PagingAddresses, "pages-ls.line": AddressPages}
