"""``--baseline``: the file of findings that are known, and left out."""

from __future__ import annotations

from pathlib import Path

from brokerconf.linting.baseline import Baseline, read_baseline
from brokerconf.linting.catalogue import known_ids
from brokerconf.linting.lint_report import FileReport, RuleSelection

from pagectl.running.exits import Exit
from pagectl.terminal.streams import note
from pagefmt.storage.writing import write_text


def write_known(path: Path, reports: list[FileReport]) -> int:
    """Write the findings as known ones; what is known about files that were not linted stays."""
    before = read_baseline(path) if path.exists() else Baseline(path.parent)
    after = before.renewed(reports)
    write_text(path, after.text(), updated=True)
    note(f"{path}: {sum(entry.times for entry in after.entries)} known findings")
    return Exit.OK


def without_known(path: Path, reports: list[FileReport], selection: RuleSelection) -> list[FileReport]:
    """Return the reports without the known findings, whose number is noted."""
    new = read_baseline(path).without_known(reports, {rule for rule in known_ids() if selection.takes(rule)})
    stale = f"; {new.stale} no longer occur (--write-baseline removes them)" if new.stale else ""
    note(f"{path}: {new.known_count} known findings left out{stale}")
    return new.reports
