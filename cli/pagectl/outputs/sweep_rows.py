"""Replays that ran side by side: a list, in text with the columns that are not 0 everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from pagectl.reports.listing import View
from pagectl.reports.replay import FailedVariant, ReplayedVariant, variant
from pagectl.running.exits import Exit
from pagectl.terminal.streams import print_table, warning
from pageengine.replay.sweep import FailedSweepRow, SweepRow

_ALWAYS = ("broker", "settings", "peak heap", "peak disk")


def show_replays(rows: Sequence[SweepRow | FailedSweepRow], view: View[ReplayedVariant | FailedVariant]) -> Exit:
    """Show the rows, and warn of those that failed.

    Return ``Exit.FOUND`` if one failed, or lines of a trace were not applied or are missing.
    """
    reports = list(map(variant, rows))
    if view.as_text and view.columns is None:
        _print(list(view.chosen(reports)), view)
    else:
        view.show(reports)
    failed = [row for row in rows if isinstance(row, FailedSweepRow)]
    for text in dict.fromkeys(f"{row.broker}: {row.why}" for row in failed):
        warning(text)
    bad = any(isinstance(row, SweepRow) and (row.totals.unapplied or row.cut) for row in rows)
    return Exit.FOUND if bad or failed else Exit.OK


def _print(rows: list[ReplayedVariant | FailedVariant], view: View[ReplayedVariant | FailedVariant]) -> None:
    table = view.listing.table(rows)
    varied = any(row.settings for row in rows)
    shown = [
        n
        for n, heading in enumerate(table.headings)
        if (varied or heading != "settings")
        and (heading in _ALWAYS or any(cells[n] not in ("0", "-", "?") for cells in table.rows))
    ]
    headings = [table.headings[n] for n in shown]
    print_table(headings, [[cells[n] for n in shown] for cells in table.rows], right=table.right)
