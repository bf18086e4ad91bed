"""Queues and addresses on the disk, compared with those that the configuration declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from pagectl.reports.form import Count, EditionName, Report

if TYPE_CHECKING:
    from brokerconf.evidence.drift import Deletion, Differing, Drift, LeftOver, Missing

    from pagefmt.editions import Edition
    from pagefmt.outstanding.queue_totals import QueueContent

DriftKind: TypeAlias = Literal["queue", "address"]
OriginName: TypeAlias = Literal["configuration", "auto-created", "subscription", "management or client", "not recorded"]


class DriftDeletion(Report):
    """Whether the next start or reload deletes a queue or address with its messages; null: no such setting."""

    in_force: bool
    """With the settings in force."""
    by_queues: bool | None = msgspec.field(name="config-delete-queues=FORCE")
    by_addresses: bool | None = msgspec.field(name="config-delete-addresses=FORCE")

    @classmethod
    def of(cls, deletion: Deletion) -> DriftDeletion:
        """Return the report of a deletion."""
        return cls(in_force=deletion.in_force, by_queues=deletion.by_queues, by_addresses=deletion.by_addresses)


class UndeclaredOnDisk(Report):
    """A queue or address that is on the disk and not declared."""

    kind: DriftKind
    address: str
    queue: str | None
    """Null for an address."""
    origin: OriginName
    messages: Count | None
    """Messages that the queue has to deliver; null for an address, or if that is not known."""
    bytes: Count | None
    address_page_bytes: Count
    deleted: DriftDeletion

    @classmethod
    def of(cls, left: LeftOver, held: Mapping[int, QueueContent] | None, pages: Mapping[str, int]) -> UndeclaredOnDisk:
        """Return the report of a queue or address; ``held`` by queue id, ``pages``: bytes by address."""
        messages, size = held_sums(left, held)
        return cls(
            kind="address" if left.queue is None else "queue",
            address=left.address,
            queue=left.queue.name if left.queue else None,
            origin=left.origin.value,
            messages=messages,
            bytes=size,
            address_page_bytes=pages.get(left.address, 0),
            deleted=DriftDeletion.of(left.deletion),
        )


def held_sums(left: LeftOver, held: Mapping[int, QueueContent] | None) -> tuple[int | None, int | None]:
    """Return messages and bytes that a queue holds; None for an address, which holds only pages, or if not known."""
    if left.queue is None or held is None:
        return None, None
    return held[left.queue.id].sums


class DeclaredOnly(Report):
    """A queue or address that is declared and not on the disk."""

    kind: DriftKind
    address: str
    queue: str | None
    """Null for an address."""
    file: str
    line: int

    @classmethod
    def of(cls, missing: Missing) -> DeclaredOnly:
        """Return the report of a declaration."""
        return cls(
            kind="address" if missing.queue is None else "queue",
            address=missing.address,
            queue=missing.queue,
            file=missing.place.file,
            line=missing.place.line,
        )


class DifferentField(Report):
    """A field of a queue that is declared differently."""

    address: str
    queue: str
    field: str
    on_disk: str | int | bool | None
    declared: str | int | bool | None
    file: str
    line: int
    changed_at_start: bool
    """Whether the next start changes the field to what is declared."""

    @classmethod
    def of(cls, differing: Differing) -> DifferentField:
        """Return the report of a field."""
        return cls(
            address=differing.queue.address,
            queue=differing.queue.name,
            field=differing.field,
            on_disk=differing.stored,
            declared=differing.declared,
            file=differing.place.file,
            line=differing.place.line,
            changed_at_start=differing.changed,
        )


class ConfigDrift(Report):
    """``config drift --format json``: queues and addresses on the disk compared with those declared."""

    configuration: str
    edition: EditionName
    only_on_disk: list[UndeclaredOnDisk]
    only_declared: list[DeclaredOnly]
    different: list[DifferentField]
    made_by_clients: list[UndeclaredOnDisk]
    """Queues and addresses that are not declared because clients create them."""
    internal: Count
    """Number of the broker's own queues and addresses."""
    remarks: list[str]
    """What is not known, and why."""

    @classmethod
    def of(
        cls,
        drift: Drift,
        held: Mapping[int, QueueContent] | None,
        pages: Mapping[str, int],
        *,
        configuration: str,
        edition: Edition,
        remarks: Sequence[str],
    ) -> ConfigDrift:
        """Return the report of a drift; ``held`` by queue id, ``pages``: bytes by address."""
        return cls(
            configuration=configuration,
            edition=edition.value,
            only_on_disk=[UndeclaredOnDisk.of(left, held, pages) for left in drift.left],
            only_declared=list(map(DeclaredOnly.of, drift.missing)),
            different=list(map(DifferentField.of, drift.differing)),
            made_by_clients=[UndeclaredOnDisk.of(left, held, pages) for left in drift.expected],
            internal=drift.internal,
            remarks=list(remarks),
        )


ANSWERS = {"config-drift": ConfigDrift}
