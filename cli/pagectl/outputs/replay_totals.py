"""The figures of a replay in the words that people use for them."""

from __future__ import annotations

from pageengine.replay.totals import Totals
from pagefmt.quantities import duration_text, size_text


def in_words(found: Totals) -> dict[str, str]:
    """By name; ``?`` is not known, ``-`` no time at all."""
    return {
        "peak memory": _size(found.peak_memory),
        "peak messages in memory": _count(found.peak_messages),
        "peak disk": _size(found.peak_disk),
        "peak pages": _count(found.peak_pages),
        "paged": _count(found.paged),
        "dropped": _count(found.dropped),
        "refused": _count(found.refused),
        "blocked": _count(found.blocked),
        "waited": _time(found.blocked_ns),
        "page mode": _time(found.page_mode_ns),
        "lines not applied": _count(found.unapplied),
        "acks failed": _count(found.failed_acks),
    }


def _count(value: int | None) -> str:
    return "?" if value is None else str(value)


def _size(value: int | None) -> str:
    return "?" if value is None else size_text(value)


def _time(value: int | None) -> str:
    return "?" if value is None else duration_text(value) if value else "-"
