"""Counts, sizes and lengths of time as people read them."""

from __future__ import annotations

import math
from typing import Final

# Nanoseconds.
SECOND: Final = 1_000_000_000


def count_text(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun, such as ``1 page`` or ``2 pages``."""
    return f"{count} {singular if count == 1 else plural or f'{singular}s'}"


def size_text(count: int) -> str:
    """Return a number of bytes with a binary unit and at most one decimal."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def rate_text(rate: float) -> str:
    """Return a number of bytes per second as text, with a plus if it is growth."""
    return f"{'+' if rate > 0 else ''}{size_text(round(rate))}/s"


def time_text(milliseconds: int | None, precision: str = "milliseconds") -> str:
    """Return a time (ms since 1970-01-01 UTC) in ISO 8601 with zone; empty for 0 or None.

    ``precision``: ``minutes``, ``seconds`` or ``milliseconds``. A time outside the calendar is returned as the number.
    """
    if not milliseconds:
        return ""
    from datetime import UTC, datetime, timedelta

    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return when.isoformat(timespec=precision).replace("+00:00", "Z")


def age_text(milliseconds: int | None) -> str:
    """Return how long ago a time (ms since 1970-01-01 UTC) is, in its largest unit and without a blank, such as ``3d``.

    Empty for None, 0 and times in the future.
    """
    import time

    seconds = time.time() - milliseconds / 1000 if milliseconds else -1
    if seconds < 0:
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{seconds:.0f}s"


def duration_text(nanoseconds: float) -> str:
    """Return a duration in its two largest units; ``never`` if it is infinite."""
    if math.isinf(nanoseconds):
        return "never"
    if 0 < nanoseconds < SECOND:
        milliseconds, remainder = divmod(int(nanoseconds), 1_000_000)
        return f"{milliseconds} ms" if milliseconds else f"{remainder // 1000} µs"
    if nanoseconds < 10 * SECOND:
        return f"{max(round(nanoseconds / SECOND, 1), 0):g} s"
    seconds = round(nanoseconds / SECOND)
    for size, unit, below, lower in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            large, small = divmod(seconds, size)
            small //= below
            return f"{large} {unit} {small} {lower}" if small else f"{large} {unit}"
    return f"{seconds} s"
