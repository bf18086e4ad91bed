"""Comparison of two replays: two outcomes, or one trace under two configurations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from pageengine.replay.compare_outcomes import Comparison, compare_outcomes
from pageengine.replay.outcome_reading import Line, open_outcome
from pageengine.replay.outcome_results import recorded_outcome
from pageengine.replay.recording import Recording
from pageengine.replay.replaying import Configuration, trace_warnings, whole_outcome
from pageengine.replay.totals import Totals, totals
from pageengine.trace.reading import open_trace

_UNTIMED = "durations are not known: times are in the trace, not in an outcome"
_UNKNOWN = {
    "peak_messages": "outcomes of this edition do not record the messages in memory",
    "peak_disk": "the outcome does not record the bytes of pages",
    "blocked_ns": _UNTIMED,
    "page_mode_ns": _UNTIMED,
}


class SideBySide(NamedTuple):
    """Two replays: their names, their totals, and where they differ.

    ``warnings``: what was ignored or is missing. ``lacking``: lines of the trace or of an outcome are missing.
    """

    names: tuple[str, str]
    totals: tuple[Totals, Totals]
    comparison: Comparison
    warnings: Sequence[str] = ()
    lacking: bool = False

    @property
    def remarks(self) -> list[str]:
        """Return why figures are unknown."""
        sides = zip("AB", self.totals, strict=True)
        unknown = ((side, name) for side, figures in sides for name, value in asdict(figures).items() if value is None)
        return list(dict.fromkeys(f"{side}: {_UNKNOWN[name]}" for side, name in unknown))


def compared_outcomes(left: Path, right: Path, *, decisions_only: bool) -> SideBySide:
    """Compare two outcome files; raise ``OutcomeError``."""
    names = (str(left), str(right))
    readers = open_outcome(left), open_outcome(right)
    recordings = Recording(names[0]), Recording(names[1])
    sides = [(reader.header, recorded_outcome(reader, kept)) for reader, kept in zip(readers, recordings, strict=True)]
    both = _compared(names, sides, recordings, decisions_only)
    cut = [
        f"{reader.path}: has no end line; what comes after its last line is not known"
        for reader in readers
        if reader.end is None
    ]
    return both._replace(warnings=list(dict.fromkeys(cut)), lacking=bool(cut))


def compared_configurations(
    trace: Path, sides: Sequence[Configuration], names: tuple[str, str], *, skip_bad_lines: bool, decisions_only: bool
) -> SideBySide:
    """Replay a trace under two configurations, and compare the outcomes line by line.

    ``skip_bad_lines``: do not stop at malformed lines. ``decisions_only``: compare decisions, not states.
    """
    # Both outcomes are iterators that replay as they are read. The comparison reads them in turn, so the two replays
    # advance together and no outcome is kept in memory. Each side reads the trace by itself.
    recordings = Recording(names[0]), Recording(names[1])
    outcomes = []
    for side, recording in zip(sides, recordings, strict=True):
        reader = open_trace(trace, skip_bad_lines=skip_bad_lines)
        outcomes.append(whole_outcome(side.engine(reader), reader, recording))
    both = _compared(names, outcomes, recordings, decisions_only)
    warnings = trace_warnings(reader, recordings[1])
    return both._replace(warnings=warnings, lacking=reader.cut is not None or both.totals[1].unapplied > 0)


def _compared(
    names: tuple[str, str],
    sides: Sequence[tuple[Line, Iterable[Line]]],
    recordings: tuple[Recording, Recording],
    decisions_only: bool,
) -> SideBySide:
    (left_start, left), (right_start, right) = sides
    comparison = compare_outcomes(
        left, right, left_start=left_start, right_start=right_start, decisions_only=decisions_only
    )
    return SideBySide(names, (totals(recordings[0]), totals(recordings[1])), comparison)
