"""What a running broker says beside what its files have, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pagectl.running.live_broker import Difference, LiveBroker, LiveLook, QueueFiles, QueueName
from pagectl.terminal.streams import print_table, say

_RIGHT = ("BROKER", "FILES", "JOURNAL", "PAGES", "CONSUMERS", "DELIVERING")


def print_live(
    broker: LiveBroker, look: LiveLook, files: Mapping[QueueName, QueueFiles], found: Sequence[Difference]
) -> None:
    """A table of the queues with messages or consumers, and the differences."""
    print()
    say(f"broker {broker.name}, {broker.version}, compared with its files:")
    rows = [row for row in live_rows(look, files) if any(row[key] for key in ("messages", "in_files", "consumers"))]
    print_table(
        (*_RIGHT, "PAGING", "QUEUE"),
        [
            (
                _shown(row["messages"]), _shown(row["in_files"]), _shown(row["in_journal"]), _shown(row["in_pages"]),
                _shown(row["consumers"]), _shown(row["delivering"]),
                "?" if row["paging"] is None else "yes" if row["paging"] else "no", row["queue"],
            )
            for row in rows
        ],
        right=_RIGHT,
    )  # fmt: skip
    for each in found:
        say(f"{each.queue or each.address}: {each.message} [{each.rule}]")
    if not found:
        say("no difference")


def _shown(count: int | None) -> object:
    return "?" if count is None else count


def live_rows(look: LiveLook, files: Mapping[QueueName, QueueFiles]) -> list[dict[str, Any]]:
    """An object for each queue of either side; null: not known, or not there."""
    return [
        _row(name, look, look.queues.get(name), files.get(name)) for name in sorted(look.queues.keys() | files.keys())
    ]


def _row(name: QueueName, look: LiveLook, queue: Any, held: QueueFiles | None) -> dict[str, Any]:
    address = look.addresses.get(name[0])
    return {
        "address": name[0],
        "queue": name[1],
        "id": held.id if held else queue.id,
        "paging": address.paging if address else None,
        "messages": queue.messages if queue else None,
        "in_files": held.messages if held else None,
        "in_journal": held.journal if held else None,
        "in_pages": held.pages if held else None,
        "consumers": queue.consumers if queue else None,
        "delivering": queue.delivering if queue else None,
        "paused": queue.paused if queue else None,
    }
