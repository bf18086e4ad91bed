"""The figures of a replay in the words that people use for them."""

from __future__ import annotations

from pageengine.replay.totals import Totals
from pagefmt.quantities import duration_text, size_text


def in_words(totals: Totals) -> dict[str, str]:
    """Return the totals in words by name; ``?`` stands for unknown, ``-`` for no time at all."""
    return {
        "peak memory": _size(totals.peak_memory),
        "peak messages in memory": _count(totals.peak_messages),
        "peak disk": _size(totals.peak_disk),
        "peak pages": _count(totals.peak_pages),
        "paged": _count(totals.paged),
        "dropped": _count(totals.dropped),
        "refused": _count(totals.refused),
        "blocked": _count(totals.blocked),
        "waited": _time(totals.blocked_ns),
        "page mode": _time(totals.page_mode_ns),
        "lines not applied": _count(totals.unapplied),
        "acks failed": _count(totals.failed_acks),
    }


def _count(value: int | None) -> str:
    return "?" if value is None else str(value)


def _size(value: int | None) -> str:
    return "?" if value is None else size_text(value)


def _time(value: int | None) -> str:
    return "?" if value is None else duration_text(value) if value else "-"
