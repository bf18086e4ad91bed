"""The answer of ``messages trace``."""

from __future__ import annotations

from typing import Literal

from pagectl.reports.form import Count, Report


class MessageEvent(Report):
    """Something that happened to a message, and the record that tells of it."""

    event: Literal[
        "sent", "routed", "paged", "redelivered", "copied", "acknowledged", "expired", "moved", "removed",
        "rolled-back",
    ]  # fmt: skip
    queue: str | None
    """Null for events that concern all queues."""
    where: Literal["history", "journal", "attic", "page"] | None
    """Null, as file and offset, if no record tells of the event."""
    file: str | None
    offset: Count | None
    """Offset of the record in its file."""
    not_before: str | None
    """ISO time before which it did not happen; null if not known."""
    not_after: str | None
    """ISO time after which it did not happen; null if not known."""
    to: str | None
    """Address to which a copy was sent; the copy is a message of its own in this answer."""


class MessageLife(Report):
    """The life of a message, in the order of the records."""

    id: int
    message_id: str | None
    """Id that the client set."""
    address: str | None
    """Address that it was sent to; null if the message cannot be read."""
    events: list[MessageEvent]


class MessageLives(Report):
    """``messages trace --format json``: the chosen messages, and the copies that a broker made of them."""

    messages: list[MessageLife]


ANSWERS = {"messages-trace": MessageLives}
