"""Copies of a stopped broker's directories in which something is changed: planned, and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pagectl.files.destination import note_written
from pagectl.running.locking import brokers_held_off
from pagectl.running.permissions import refuse_closed
from pagectl.terminal.progress import progress

if TYPE_CHECKING:
    from pagefmt.change.removal.plan import RemovalPlan
    from pagefmt.directory.locate import DataLocation

Plan = TypeVar("Plan")
Removal = TypeVar("Removal", bound="RemovalPlan")


def changed_copy(
    place: DataLocation,
    out: Path | None,
    plan: Callable[[bool], Plan],
    write: Callable[[Plan, Path, Mapping[Path, int]], object],
) -> tuple[Plan, Path | None]:
    """Plan a copy, and write it to ``out`` while no broker can start; return the plan and the new folder.

    ``out``: None for the plan alone. ``plan`` gets whether the locks of the broker are held, ``write`` also the lock
    files. Raises what they raise, and ``CallError`` for directories that may not be read.
    """
    refuse_closed(place)
    with brokers_held_off(place, out is not None, out) as held:
        with progress("reading journals and pages", None):
            planned = plan(bool(held))
        if out is not None:
            write(planned, out, held)
            note_written(out.absolute(), place.paging)
    return planned, out.absolute() if out is not None else None


def copy_without(place: DataLocation, out: Path | None, plan: Callable[[bool], Removal]) -> tuple[Removal, Path | None]:
    """Plan a copy without messages, and write it to ``out``, as ``changed_copy`` does."""
    return changed_copy(place, out, plan, _write_without)


def _write_without(plan: RemovalPlan, out: Path, held: Mapping[Path, int]) -> None:
    from pagefmt.change.compaction.copy_out import copy_out

    with progress("copying", None) as bar:
        copy_out(plan.pages, out, bar.advance, held=held, changed=plan.changes, added=plan.new_files)
