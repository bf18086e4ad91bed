"""The worst case that settings allow."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, TypeAlias

from pagectl.reports.form import Count, Report

if TYPE_CHECKING:
    from brokerconf.evidence.capacity import Capacity

AddressPolicy: TypeAlias = Literal["PAGE", "BLOCK", "DROP", "FAIL", "?"]


class AddressCeiling(Report):
    """The most that one address, or an example of a match, may take; bytes, null for no bound."""

    address: str
    """``·`` stands for any word of a match."""
    policy: AddressPolicy
    """``?``: only the running broker knows it."""
    queues: Count
    memory: Count | None
    messages: Count | None
    """The limit by number of messages."""
    read_ahead: Count | None
    pages: Count | None
    """Page files."""
    disk: Count | None
    on_disk: Count | None
    """Bytes of pages that exist already; null if that is not known."""
    stops: str
    """What happens when the address is full."""


class ConfigCapacity(Report):
    """``config capacity --format json``: the worst case; bytes, null for no bound or not known."""

    heap: Count | None
    global_limit: Count | None
    """Null if it is off, or a share of a heap that is not known."""
    global_off: bool
    disk: Count | None
    disk_limit: Count | None
    """Bytes that may be used of the disk."""
    disk_rule: str
    addresses: list[AddressCeiling]
    first: list[str]
    """What acts first, in the order in which it would."""
    memory_sum: Count | None
    disk_sum: Count | None

    @classmethod
    def of(cls, capacity: Capacity) -> ConfigCapacity:
        """Return the report of a capacity."""
        return cls(
            heap=capacity.heap,
            global_limit=capacity.global_limit,
            global_off=capacity.global_off,
            disk=capacity.disk,
            disk_limit=capacity.disk_limit,
            disk_rule=capacity.disk_rule,
            addresses=[AddressCeiling(**asdict(address)) for address in capacity.addresses],
            first=list(capacity.first),
            memory_sum=capacity.memory_sum,
            disk_sum=capacity.disk_sum,
        )


ANSWERS = {"config-capacity": ConfigCapacity}
