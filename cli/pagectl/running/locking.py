"""Brokers held off while a command changes or copies their directories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.terminal.streams import note

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation


def instance_of(place: DataLocation) -> Path | None:
    """The instance, where that was named: it has a lock of its own."""
    from pagefmt.directory.locate import LocationKind

    return place.given if place.kind is LocationKind.INSTANCE and place.given.is_dir() else None


def check_outside(out: Path | None, place: DataLocation) -> None:
    """Raise ``TargetRefused`` if a new folder cannot be made at ``out``, or would lie in what ``place`` reads."""
    from pagefmt.bytes.writing import check_new_folder

    if out is not None:
        sources = place.read_folders if place.page is None else [place.page.parent]
        check_new_folder(out, [place.given, *sources])


@contextmanager
def brokers_held_off(place: DataLocation, changing: bool, out: Path | None = None) -> Iterator[dict[Path, int]]:
    """Inside, no broker can start on it where something is changed; the lock files with their descriptors.

    ``out``: the new folder that is made of them, refused as in ``check_outside``.
    """
    from pagefmt.directory.locks import hold_off_brokers

    if not changing:
        yield {}
        return
    check_outside(out, place)
    with hold_off_brokers(place.journal, instance_of(place)) as held:
        if not held:
            note("no lock file beside the journal: nothing keeps a broker from starting meanwhile")
        yield held
