"""Where the bytes of a directory are, as text with bars."""

from __future__ import annotations

import sys

from pagectl.reports.disk_usage import AddressBytes, DiskUsage
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import is_terminal, print_table, screen_width
from pagefmt.quantities import count_text, size_text

BAR = 24  # columns of a bar; a third of it on a screen of less than a hundred columns


def print_usage(usage: DiskUsage, limit: int | None) -> None:
    """Print parts, then addresses; bars on a terminal only. ``limit``: number of addresses, None for all."""
    rows = [
        [
            name,
            size_text(part.bytes),
            *_bar(part.bytes, usage.total.bytes),
            size_text(part.on_disk),
            part.files,
            _remark(name, usage),
        ]
        for name, part in [*usage.parts(), ("total", usage.total)]
    ]
    print_table(
        ["PART", "BYTES", *_bar_name(), "ON DISK", "FILES", ""], rows, right=("BYTES", "ON DISK", "FILES"), prose=True
    )
    if usage.addresses:
        print()
        _print_addresses(usage.addresses, limit)


def _print_addresses(rows: list[AddressBytes], limit: int | None) -> None:
    shown = rows if limit is None else rows[:limit]
    most = max((row.bytes for row in rows), default=0)
    print_table(
        ["ADDRESS", "BYTES", *_bar_name(), "PAGES", "PAGE BYTES", "LARGE", "LARGE BYTES"],
        [
            [
                _name(row),
                size_text(row.bytes),
                *_bar(row.bytes, most),
                row.pages,
                size_text(row.page_bytes),
                row.large_messages,
                size_text(row.large_bytes),
            ]
            for row in shown
        ],
        right=("BYTES", "PAGES", "PAGE BYTES", "LARGE", "LARGE BYTES"),
    )
    left = rows[len(shown) :]
    if left:
        print(f"… and {len(left)} more with {size_text(sum(row.bytes for row in left))} (--limit 0 shows all)")


def _name(row: AddressBytes) -> str:
    return one_line(row.address) if row.address is not None else f"({row.folder}: no address)"


def _bar_name() -> list[str]:
    return [""] if is_terminal(sys.stdout) else []


def _bar(part: int, whole: int) -> list[str]:
    if not is_terminal(sys.stdout):
        return []
    bar = BAR if screen_width() >= 100 else BAR // 3
    eighths = round(bar * 8 * part / whole) if whole else 0
    return ["█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")]


def _remark(name: str, usage: DiskUsage) -> str:
    if name == "journal" and usage.journal_content is not None:
        content = usage.journal_content
        free = "" if content.reclaimable_bytes is None else f", {size_text(content.reclaimable_bytes)} reclaimable"
        files = count_text(content.files, "file")
        return f"{size_text(content.live_bytes)} live in {content.live_files} of {files}{free}"
    if name == "large messages":
        unknown = usage.large_messages.files - sum(row.large_messages for row in usage.addresses)
        sure = usage.journal_content is not None and not usage.unreadable
        return f"{unknown} {'that no queue waits for' if sure else 'whose address is not known'}" if unknown else ""
    if name == "paging":
        return count_text(len(usage.addresses), "store folder")
    return ""
