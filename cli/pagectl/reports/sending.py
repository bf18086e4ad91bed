"""What ``messages send`` has sent, or would send."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from pagectl.reports.form import Count, Report


class PeerBroker(Report):
    """The broker that messages were sent to, as it calls itself."""

    product: str
    version: str | None


class SentQueue(Report):
    """The messages of one queue."""

    queue: str
    address: str
    id: int
    target: str
    """Where they are sent to: ADDRESS::QUEUE, or an address."""
    messages: Count
    bytes: Count
    as_is: Count
    """Messages that are sent byte for byte."""
    tunnelled: Count
    """Messages that are sent unchanged inside AMQP."""
    converted: Count
    scheduled: Count
    expired: Count
    in_doubt: Count
    """Messages of prepared transactions, which are left out."""
    sent: Count
    sent_before: Count
    """Messages that an earlier run has sent."""
    refused: Count
    perhaps_twice: Count
    failure: str | None
    """Why nothing was sent to the target."""


class LostInSending(Report):
    """A part of messages that does not arrive."""

    way: Literal["as_is", "tunnelled", "converted"]
    what: str
    messages: Annotated[int, Meta(ge=1)]
    sent_before: Count
    """Of these, messages that an earlier run has sent."""


class UnsentMessage(Report):
    """A message that the broker refused, or that cannot be read."""

    queue: str
    id: int
    why: str


class SentMessages(Report):
    """``messages send --format json``: what was sent, or would be."""

    done: bool
    stopped: str | None
    """Why it ended before all was sent."""
    to: str
    broker: PeerBroker | None
    queues: list[SentQueue]
    lost: list[LostInSending]
    refused: list[UnsentMessage]


ANSWERS = {"messages-send": SentMessages}
