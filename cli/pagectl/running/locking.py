"""Brokers held off while a command changes or copies their directories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.terminal.streams import note
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation


def instance_of(place: DataLocation) -> Path | None:
    """Return the instance if one was named, because it has a lock of its own; else None."""
    from pagefmt.directory.locate import LocationKind

    return place.given if place.kind is LocationKind.INSTANCE and place.given.is_dir() else None


def check_outside(out: Path | None, place: DataLocation) -> None:
    """Raise ``TargetRefused`` if a new folder cannot be made at ``out``, or would lie in what ``place`` reads."""
    from pagefmt.storage.writing import check_new_folder

    if out is not None:
        sources = place.read_folders if place.page is None else [place.page.parent]
        check_new_folder(out, [place.given, *sources])


@contextmanager
def brokers_held_off(place: DataLocation, changing: bool, out: Path | None = None) -> Iterator[dict[Path, int]]:
    """Inside, no broker can start on it where something is changed; the lock files with their descriptors.

    ``out``: the new folder that is made of them, refused as in ``check_outside``. A lock that cannot be taken there for
    lack of rights, or on a read-only file system, is looked at: one that is held raises ``BrokerRuns``, any other is
    noted. Without ``out``, files are changed, so that each lock has to be taken.
    """
    from pagefmt.directory.locks import hold_off_brokers

    if not changing:
        yield {}
        return
    check_outside(out, place)
    untaken: list[str] = []
    with hold_off_brokers(place.journal, instance_of(place), untaken if out is not None else None) as held:
        if untaken:
            more = f", and {count_text(len(untaken) - 1, 'other')}" if len(untaken) > 1 else ""
            note(f"{untaken[0]}{more}; make sure that none starts before this ends, or use a snapshot")
        elif not held:
            note("no lock file beside the journal: nothing keeps a broker from starting meanwhile")
        yield held
