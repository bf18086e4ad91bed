"""The search for settings under which a trace works, by replays that run side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note
from pageengine.replay.advice import Advice, Budget, advise
from pageengine.replay.replaying import Configuration, recorded, trace_warnings
from pageengine.replay.sweep import SweepJob, SweepRow, SweepVariant, sweep_row, sweeping
from pageengine.trace.reading import open_trace


class AdvisedTrace(NamedTuple):
    """The advice for a trace. ``warnings``: what was not replayed; ``lacking``: whether that is lines of the trace."""

    advice: Advice
    replays: int
    warnings: list[str]
    lacking: bool


def advised(
    trace: Path, deciding: Configuration, allowed: Budget, *, skip_bad_lines: bool, processes: int, spark: str | None
) -> AdvisedTrace:
    """Return the settings of ``deciding`` that work within a budget, after the replays that show it."""
    count = 0
    with (
        sweeping("pagectl replay advise", processes, spark, sweep_row, note) as sweep,
        progress("replaying", None, "replays") as bar,
    ):

        def replays(variants: Sequence[SweepVariant]) -> list[SweepRow]:
            nonlocal count
            rows = []
            for row in sweep([SweepJob(trace.absolute(), deciding, skip_bad_lines, variant) for variant in variants]):
                rows.append(row)
                count += 1
                bar.advance(1)
            return rows

        reader = open_trace(trace, skip_bad_lines=skip_bad_lines)
        recording = recorded(deciding, reader)
        count += 1
        bar.advance(1)
        advice = advise(deciding, sorted(recording.addresses), allowed, replays)
    lacking = reader.cut is not None or advice.demand.unapplied > 0
    return AdvisedTrace(advice, count, trace_warnings(reader, recording), lacking)
