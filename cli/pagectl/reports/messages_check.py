"""Backlogs judged by thresholds, and what each address does with what is sent to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from pagectl.reports.disk_check import PluginUnknown
from pagectl.reports.form import Count, PluginStatus, Report

if TYPE_CHECKING:
    from pagectl.options.backlog_thresholds import AddressState, BacklogNumbers, JudgedBacklogs
    from pagectl.terminal.nagios import Status
    from pageengine.paging.next_send import NextSend
    from pagefmt.outstanding.backlog import Backlog


class JudgedBacklog(Report):
    """The backlog of a queue or an address. Counts are null where they are not known."""

    status: PluginStatus
    address: str | None
    queue: str | None
    """Null for the backlog of an address."""
    id: int | None
    messages: Count | None
    journal: Count | None
    """Messages in the journal."""
    bytes: Count | None
    in_doubt: Count | None
    """Messages of prepared transactions; not part of ``messages``."""
    pages_held: Count | None
    bytes_held: Count | None
    """Bytes of these pages, and of waiting messages in the journal and in large-message files."""
    bytes_held_alone: Count | None
    """Bytes of the pages that no other queue needs."""
    oldest: int | None
    """Time (ms) that the oldest waiting message was sent."""
    age: Count | None
    """Seconds since then."""

    @classmethod
    def of(cls, backlog: Backlog, numbers: BacklogNumbers, status: Status) -> JudgedBacklog:
        """Return the report of a backlog."""
        return cls(
            status=status.name,  # type: ignore[arg-type]
            address=backlog.address,
            queue=backlog.queue,
            id=backlog.id,
            messages=backlog.messages,
            journal=backlog.in_journal,
            bytes=backlog.bytes,
            in_doubt=backlog.in_doubt,
            pages_held=backlog.pages,
            bytes_held=backlog.disk,
            bytes_held_alone=backlog.alone,
            oldest=backlog.oldest,
            age=numbers.oldest,
        )


class AddressPageLimit(Report):
    """The page limit of an address."""

    bytes: Count | None
    messages: Count | None
    policy: Literal["DROP", "FAIL"]
    used_percent: Annotated[float, Meta(ge=0, le=100)]


class AddressIntake(Report):
    """What a broker that starts on the files does with the next message for an address. Null: not known."""

    address: str
    page_full: bool | None
    """The broker's own flag after a start."""
    refused_now: bool | None
    """Whether the next message of a core client is refused, dropped or waits."""
    reason: (
        Literal[
            "page-limit-bytes", "page-limit-messages", "max-size-bytes", "max-size-messages", "disk", "global-max-size"
        ]
        | None
    )
    page_limit: AddressPageLimit | None
    """Null also if there is none."""
    queues: dict[str, Count | None]
    """Messages of each queue, in the journal and in pages."""

    @classmethod
    def of(cls, state: AddressState) -> AddressIntake:
        """Return the report of an address."""
        sends = state.sends
        return cls(
            address=state.address,
            page_full=None if sends is None else sends.page_full,
            refused_now=None if sends is None else sends.refusal is not None,
            reason=None if sends is None or sends.refusal is None else sends.refusal.value,
            page_limit=None if sends is None else _page_limit(sends, state.used_percent),
            queues=state.queues,
        )


def _page_limit(sends: NextSend, used_percent: float | None) -> AddressPageLimit | None:
    limit = sends.limit
    if limit is None or used_percent is None:
        return None
    return AddressPageLimit(
        bytes=limit.bytes, messages=limit.messages, policy=limit.policy.value, used_percent=used_percent
    )


class MessagesCheck(Report):
    """``messages check --format json``: the backlogs, the gravest first."""

    status: PluginStatus
    exit_status: Literal[0, 1, 2, 3]
    text: str
    by: Literal["queue", "address"]
    """What each backlog is of."""
    backlogs: list[JudgedBacklog]
    addresses: list[AddressIntake]
    remarks: list[str]

    @classmethod
    def of(cls, judged: JudgedBacklogs, text: str) -> MessagesCheck:
        """Return the report of a check. ``text``: what the line of the plugin says."""
        return cls(
            status=judged.status.name,  # type: ignore[arg-type]
            exit_status=judged.status.value,
            text=text,
            by=judged.by,
            backlogs=[JudgedBacklog.of(*row) for row in judged.rows],
            addresses=[AddressIntake.of(address) for address in judged.addresses],
            remarks=[remark for _, remark in judged.remarks],
        )


ANSWERS = {"messages-check": (MessagesCheck, PluginUnknown)}
