"""Where the bytes are: as text with bars, as JSON, as CSV."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from pagectl.running.disk_count import Counting
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import CsvTable, is_terminal, print_table, screen_width
from pagefmt.directory.usage import AddressUsage, FileTotals
from pagefmt.quantities import count_text, size_text

BAR = 24
"""Columns of a bar; on a screen of less than a hundred, a third of it."""
COLUMNS = (
    "part", "address", "folder", "files", "bytes", "on_disk", "pages", "page_bytes", "large_messages", "large_bytes",
)  # fmt: skip


def parts(counting: Counting) -> list[tuple[str, FileTotals]]:
    """The parts of an instance by size."""
    usage = counting.usage
    named = [
        ("paging", usage.paging), ("journal", usage.journal), ("bindings", usage.bindings),
        ("large messages", usage.large), *usage.rest.items(),
    ]  # fmt: skip
    return sorted((part for part in named if part[1].files), key=lambda part: (-part[1].bytes, part[0]))


def print_text(counting: Counting, limit: int | None) -> None:
    """Parts, then addresses; bars on a terminal only. ``limit``: so many addresses, None for all."""
    total = counting.usage.total
    rows = [
        [name, size_text(part.bytes), *_bar(part.bytes, total.bytes), size_text(part.on_disk), part.files,
         _remark(name, counting)]
        for name, part in [*parts(counting), ("total", total)]
    ]  # fmt: skip
    print_table(
        ["PART", "BYTES", *_bar_name(), "ON DISK", "FILES", ""], rows, right=("BYTES", "ON DISK", "FILES"), prose=True
    )
    if counting.usage.addresses:
        print()
        _print_addresses(counting, limit)


def _print_addresses(counting: Counting, limit: int | None) -> None:
    rows = counting.usage.addresses
    shown = rows if limit is None else rows[:limit]
    most = max((row.bytes for row in rows), default=0)
    print_table(
        ["ADDRESS", "BYTES", *_bar_name(), "PAGES", "PAGE BYTES", "LARGE", "LARGE BYTES"],
        [
            [_name(row), size_text(row.bytes), *_bar(row.bytes, most), row.pages.files, size_text(row.pages.bytes),
             row.large.files, size_text(row.large.bytes)]
            for row in shown
        ],
        right=("BYTES", "PAGES", "PAGE BYTES", "LARGE", "LARGE BYTES"),
    )  # fmt: skip
    left = rows[len(shown) :]
    if left:
        print(f"… and {len(left)} more with {size_text(sum(row.bytes for row in left))} (--limit 0 shows all)")


def _name(row: AddressUsage) -> str:
    return one_line(row.address) if row.address is not None else f"({row.folder}: no address)"


def _bar_name() -> list[str]:
    return [""] if is_terminal(sys.stdout) else []


def _bar(part: int, whole: int) -> list[str]:
    if not is_terminal(sys.stdout):
        return []
    bar = BAR if screen_width() >= 100 else BAR // 3
    eighths = round(bar * 8 * part / whole) if whole else 0
    return ["█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")]


def _remark(name: str, counting: Counting) -> str:
    if name == "journal" and counting.journal is not None:
        content = counting.journal
        free = "" if content.reclaimable is None else f", {size_text(content.reclaimable)} reclaimable"
        return f"{size_text(content.live)} live in {content.live_files} of {count_text(content.files, 'file')}{free}"
    if name == "large messages":
        owned = sum(row.large.files for row in counting.usage.addresses)
        unknown = counting.usage.large.files - owned
        sure = counting.journal is not None and not counting.remarks
        return f"{unknown} {'that no queue waits for' if sure else 'whose address is not known'}" if unknown else ""
    if name == "paging":
        return count_text(len(counting.usage.addresses), "store folder")
    return ""


def as_json(counting: Counting) -> dict[str, Any]:
    """Complete, by size."""
    content = counting.journal
    journal = None
    if content is not None:
        journal = {
            "files": content.files, "bytes": content.size, "live_files": content.live_files,
            "live_records": content.live_records, "live_bytes": content.live, "reclaimable_bytes": content.reclaimable,
        }  # fmt: skip
    usage = counting.usage
    return {
        "dir": str(counting.place.given),
        "took_for": str(counting.place.kind),
        "total": _amount(usage.total),
        "paging": _amount(usage.paging),
        "journal": _amount(usage.journal),
        "bindings": _amount(usage.bindings),
        "large_messages": _amount(usage.large),
        "rest": {name: _amount(part) for name, part in sorted(usage.rest.items())},
        "journal_content": journal,
        "addresses": list(map(_address, usage.addresses)),
        "unreadable": list(counting.remarks),
    }


def _amount(part: FileTotals) -> dict[str, int]:
    return {"files": part.files, "bytes": part.bytes, "on_disk": part.on_disk}


def _address(row: AddressUsage) -> dict[str, Any]:
    return {
        "address": row.address, "folder": row.folder, "bytes": row.bytes, "on_disk": row.on_disk,
        "pages": row.pages.files, "page_bytes": row.pages.bytes, "other_bytes": row.other.bytes,
        "large_messages": row.large.files, "large_bytes": row.large.bytes,
    }  # fmt: skip


def print_csv(counting: Counting) -> None:
    """One row per part and per address; part ``address`` repeats bytes that ``paging`` and ``large messages`` hold."""
    table = CsvTable(COLUMNS)
    for row in rows(counting):
        table.row(row)


def rows(counting: Counting) -> Iterator[dict[str, Any]]:
    """Of CSV and JSON Lines."""
    for name, part in parts(counting):
        yield {"part": name, **_amount(part)}
    for row in counting.usage.addresses:
        files = row.pages.files + row.other.files + row.large.files
        yield {
            "part": "address", "address": row.address, "folder": row.folder, "files": files, "bytes": row.bytes,
            "on_disk": row.on_disk, "pages": row.pages.files, "page_bytes": row.pages.bytes,
            "large_messages": row.large.files, "large_bytes": row.large.bytes,
        }  # fmt: skip
