"""Messages as ``pages decode``, ``messages decode`` and ``messages find`` list them."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from pagectl.reports.form import Either, Report
from pagefmt.describe.message_line import OddPageMessageLine, OddStoredMessageLine, PageMessageLine, StoredMessageLine


class PageMessageLines(Report):
    """Messages of page files, record by record."""

    messages: list[Either[PageMessageLine, OddPageMessageLine]]  # type: ignore[valid-type]


class StoredMessageLines(Report):
    """Messages of the journal and of page files."""

    messages: list[Either[StoredMessageLine, OddStoredMessageLine]]  # type: ignore[valid-type]


class ReadableColumns(Report):
    """Columns for people, which ``--columns`` may name beside those of the messages."""

    sent: str | UnsetType | None = UNSET
    """ISO 8601 time, or null."""
    expires: str | UnsetType | None = UNSET
    expired: bool | UnsetType | None = UNSET
    queue_names: list[str] | UnsetType | None = UNSET
    acked_by_names: list[str] | UnsetType | None = UNSET
    outstanding_names: list[str] | UnsetType | None = UNSET
    """Queues that the message is still to be delivered to; null if that is not known."""
    correlation_id: str | int | UnsetType | None = UNSET
    outstanding: list[int] | UnsetType | None = UNSET


ANSWERS = {
    "pages-decode": PageMessageLines, "pages-decode.line": (PageMessageLine, OddPageMessageLine),
    "messages-decode": StoredMessageLines, "messages-decode.line": (StoredMessageLine, OddStoredMessageLine),
    "messages-find": StoredMessageLines, "messages-find.line": (StoredMessageLine, OddStoredMessageLine),
}  # fmt: skip
# classes whose fields ``--columns`` names
CHOSEN = (ReadableColumns, StoredMessageLine, OddStoredMessageLine)
