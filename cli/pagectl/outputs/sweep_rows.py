"""Rows of replays that ran side by side: as JSON, CSV, and a table of what is not nought everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import to_builtins

from pagectl.options.formats import TableFormat
from pagectl.outputs.replay_totals import in_words
from pagectl.reports.replay import FIGURES, FailedVariant, ReplayedVariant
from pagectl.running.exits import Exit
from pagectl.terminal.streams import CsvTable, print_json_list, print_table, warning
from pageengine.replay.sweep import FailedSweepRow, SweepRow

_WORDS = ("peak memory", "peak disk", "paged", "dropped", "refused", "blocked", "waited", "page mode", "acks failed")
_ALWAYS = ("broker", "settings", "peak heap", "peak disk")


def print_rows(rows: Sequence[SweepRow | FailedSweepRow], format: TableFormat, key: str) -> None:
    """Prints what the replays came to, under ``key`` where it is one JSON document."""
    several = any(row.broker is not None for row in rows)
    match format:
        case TableFormat.json | TableFormat.jsonl:
            print_json_list(key, map(_report, rows), lines=format is TableFormat.jsonl)
        case TableFormat.csv:
            table = CsvTable((*(["broker"] if several else []), "settings", *FIGURES, *(["failed"] if several else [])))
            for row in rows:
                table.row(to_builtins(_report(row)) | {"settings": " ".join(row.settings)})
        case TableFormat.text:
            _text(rows, several)
    for text in dict.fromkeys(f"{row.broker}: {row.why}" for row in rows if isinstance(row, FailedSweepRow)):
        warning(text)


def _report(row: SweepRow | FailedSweepRow) -> ReplayedVariant | FailedVariant:
    return FailedVariant.of(row) if isinstance(row, FailedSweepRow) else ReplayedVariant.of(row)


def status(rows: Sequence[SweepRow | FailedSweepRow]) -> Exit:
    """Found where lines were not applied or are missing, or a broker among several could not be replayed."""
    bad = any(isinstance(row, FailedSweepRow) or row.totals.unapplied or row.cut for row in rows)
    return Exit.FOUND if bad else Exit.OK


def _text(rows: Sequence[SweepRow | FailedSweepRow], several: bool) -> None:
    varied = any(row.settings for row in rows)
    cells = [
        {
            **({"broker": row.broker or ""} if several else {}),
            **({"settings": "  ".join(row.settings)} if varied else {}),
            **_figures(row),
        }
        for row in rows
    ]
    names = [name for name in cells[0] if name in _ALWAYS or any(cell[name] not in ("0", "-", "?") for cell in cells)]
    right = [name for name in names if name not in ("broker", "settings")]
    print_table(names, [[cell[name] for name in names] for cell in cells], right=right)


def _figures(row: SweepRow | FailedSweepRow) -> dict[str, str]:
    said = dict.fromkeys(_WORDS, "?") if isinstance(row, FailedSweepRow) else in_words(row.totals)
    return {name.replace("memory", "heap"): said[name] for name in _WORDS}
