"""Counts, sizes and lengths of time as people read them."""

from __future__ import annotations

import math
from typing import Final

SECOND: Final = 1_000_000_000
"""In nanoseconds."""


def count_text(count: int, one: str, many: str = "") -> str:
    """As ``1 page``, ``2 pages``."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def size_text(count: int) -> str:
    """Bytes: powers of 1024, at most one decimal."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def rate_text(rate: float) -> str:
    """Bytes a second, with a sign where they become more."""
    return f"{'+' if rate > 0 else ''}{size_text(round(rate))}/s"


def time_text(milliseconds: int | None, precision: str = "milliseconds") -> str:
    """A time since 1970-01-01 UTC as ISO 8601 has it, with its zone, down to ``minutes``, ``seconds`` or
    ``milliseconds``; empty for none, the number itself where no calendar has it."""
    if not milliseconds:
        return ""
    from datetime import UTC, datetime, timedelta

    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return str(milliseconds)
    return when.isoformat(timespec=precision).replace("+00:00", "Z")


def age_text(milliseconds: int | None) -> str:
    """How long ago a time since 1970-01-01 UTC is, in its largest unit and without a blank, as ``3d``; empty for none
    and for a time still to come."""
    import time

    seconds = time.time() - milliseconds / 1000 if milliseconds else -1
    if seconds < 0:
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{seconds:.0f}s"


def duration_text(nanoseconds: float) -> str:
    """The two largest units; ``never`` for what is infinite."""
    if math.isinf(nanoseconds):
        return "never"
    if 0 < nanoseconds < SECOND:
        milliseconds, rest = divmod(int(nanoseconds), 1_000_000)
        return f"{milliseconds} ms" if milliseconds else f"{rest // 1000} µs"
    if nanoseconds < 10 * SECOND:
        return f"{max(round(nanoseconds / SECOND, 1), 0):g} s"
    seconds = round(nanoseconds / SECOND)
    for size, unit, below, lower in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            large, small = divmod(seconds, size)
            small //= below
            return f"{large} {unit} {small} {lower}" if small else f"{large} {unit}"
    return f"{seconds} s"
