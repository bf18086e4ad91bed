"""Large-message files as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.terminal.streams import print_table
from pagefmt.quantities import age_text, size_text, time_text

if TYPE_CHECKING:
    from pagefmt.cross_checks.large_files import LargeRow


def print_rows(rows: list[LargeRow]) -> None:
    """As a table."""
    if not rows:
        return
    shown = [row.json for row in rows]
    print_table(
        ("SIZE", "MODIFIED", "AGE", "CONDITION", "FILE", "ID", "ADDRESS", "QUEUES"),
        [
            (
                "-" if row["size"] is None else size_text(row["size"]), time_text(row["modified"], "minutes"),
                age_text(row["modified"]),
                ", ".join(row["conditions"]), row["file"] or "-", "?" if row["id"] is None else row["id"],
                row["address"] or "-", _queues(row["queues"]),
            )
            for row in shown
        ],
        right=("SIZE", "AGE", "ID"),
    )  # fmt: skip


def _queues(states: dict[str, str | None]) -> str:
    return ", ".join(f"{name} ({how or '-'})" for name, how in states.items()) or "-"
