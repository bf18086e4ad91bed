"""The worst case that settings allow, as text."""

from __future__ import annotations

from pagectl.reports.config_capacity import AddressCeiling, ConfigCapacity
from pagectl.terminal.streams import print_table, say
from pagefmt.quantities import count_text, size_text


def print_capacity(capacity: ConfigCapacity) -> None:
    """Print a row for each address, the global and the disk limit, and what acts first."""
    columns = ("address", "policy", "memory", "queues", "read ahead", "disk", "on disk", "when full")
    rows = (
        (
            row.address,
            row.policy,
            _memory(row),
            row.queues,
            _bound(row.read_ahead),
            _bound(row.disk),
            "?" if row.on_disk is None else size_text(row.on_disk),
            row.stops,
        )
        for row in capacity.addresses
    )
    print_table(columns, rows, right=("memory", "queues", "read ahead", "disk", "on disk"), prose=True)
    print()
    off = "off" if capacity.global_off else "a share of the heap (give --heap)"
    print(f"global limit: {off if capacity.global_limit is None else size_text(capacity.global_limit)}")
    print(f"sum of the addresses: memory {_bound(capacity.memory_sum)}, disk {_bound(capacity.disk_sum)}")
    at = f" = {size_text(capacity.disk_limit)} used" if capacity.disk_limit is not None else ""
    print(f"disk limit: {capacity.disk_rule}{at}")
    for sentence in capacity.first:
        say(f"- {sentence}", 2)


def _bound(size: int | None) -> str:
    return "unlimited" if size is None else size_text(size)


def _memory(row: AddressCeiling) -> str:
    by_number = row.memory is None and row.messages is not None
    return count_text(row.messages or 0, "message") if by_number else _bound(row.memory)
