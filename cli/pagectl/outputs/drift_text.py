"""Queues and addresses on the disk, compared with those that the configuration declares, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pagectl.reports.config_drift import held_sums
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table
from pagefmt.quantities import size_text

if TYPE_CHECKING:
    from brokerconf.evidence.drift import Deletion, Drift, LeftOver

    from pagefmt.outstanding.queue_totals import QueueContent


def print_drift(drift: Drift, held: Mapping[int, QueueContent] | None, pages: Mapping[str, int]) -> None:
    """Print what differs; ``held`` by queue id, ``pages``: bytes by address."""
    for heading, rows in (("on disk, not declared", drift.left), ("created by clients", drift.expected)):
        if rows:
            print(f"{heading}:")
            columns = ("MESSAGES", "BYTES", "PAGES", "ORIGIN", "AT START", "IF FORCE", "QUEUE")
            print_table(columns, (_row(row, held, pages) for row in rows), right=columns[:3])
    for missing in drift.missing:
        queue = f"queue {missing.address}::{missing.queue}"
        name = f"address {missing.address}" if missing.queue is None else queue
        print(f"declared, not on disk: {one_line(name)} ({one_line(str(missing.place))})")
    for differing in drift.differing:
        at = "the next start changes it" if differing.changed else "a start does not change it"
        name = f"{differing.queue.address}::{differing.queue.name}"
        print(
            f"different: {one_line(name)} {differing.field}: "
            f"{_value(differing.stored)} on disk, {_value(differing.declared)} declared "
            f"({one_line(str(differing.place))}); {at}"
        )
    if not drift.exists:
        print("disk and configuration agree")


def _row(left: LeftOver, held: Mapping[int, QueueContent] | None, pages: Mapping[str, int]) -> tuple[str, ...]:
    messages, size = held_sums(left, held)
    unknown = "-" if left.queue is None else "?"
    return (
        unknown if messages is None else str(messages),
        unknown if size is None else size_text(size),
        size_text(pages.get(left.address, 0)),
        "pages only" if not left.recorded else left.origin.value,
        "deleted" if left.deletion.in_force else "stays",
        ", ".join(_forced(left.deletion)) or "stays",
        f"{left.address}::{left.queue.name}" if left.queue else f"(address) {left.address}",
    )


def _forced(deletion: Deletion) -> Iterator[str]:
    if deletion.by_queues:
        yield "queues"
    if deletion.by_addresses:
        yield "addresses"


def _value(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else one_line(str(value))
