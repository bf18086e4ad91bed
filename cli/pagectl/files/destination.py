"""``--to FILE``: the answer goes to a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.privacy import hidden_as, private_mode
from pagefmt.storage.remote_paths import FarPath
from pagefmt.storage.writing import atomic_file, is_stream, owner


@contextlib.contextmanager
def output_to(
    target: Path | None, place: DataLocation | None = None, count: Callable[[], str] | None = None
) -> Iterator[None]:
    """Redirect standard output to ``target`` while the context is open.

    The file is written beside the target, and renamed at the end or removed on an error. A target inside the
    directories that are read is refused. Pipes and devices are written directly. ``count`` returns the text that says
    how much is in the file.
    """
    if target is None or str(target) == "-":
        yield
        return
    _refuse_inside(target, place)
    with (
        atomic_file(target, at_most=private_mode(place)) as fresh,
        fresh.open("w", encoding="utf-8") as stream,
        contextlib.redirect_stdout(stream),
    ):
        yield
    sys.stdout.flush()
    note(f"{count()} in {target.absolute()}" if count else f"wrote {target.absolute()}")


def note_written(target: Path, like: Path | None) -> None:
    """Note where the output went, and whose it has to be before a broker uses it in place of ``like``."""
    note(f"wrote {target}")
    if like is not None and owner(target) != owner(like):
        user, group = owner(like)
        note(
            f"{target}: its owner is not that of {like}, and this user cannot change it; before a broker uses it: "
            f"chown -R {user}:{group} {shlex.quote(str(target))}"
        )


@contextlib.contextmanager
def fresh_file(target: Path, place: DataLocation | None = None) -> Iterator[Path]:
    """Yield a temporary file that replaces ``target`` at the end; refuse pipes, devices and files below ``place``."""
    _refuse_inside(target, place)
    if is_stream(target):
        raise CallError(f"{target}: not a regular file; name a file to write to")
    with atomic_file(target, at_most=private_mode(place)) as fresh:
        yield fresh


@contextlib.contextmanager
def private_files(place: DataLocation) -> Iterator[str]:
    """Make new files and folders as private as the pages, for programs started inside as well. Yield the umask."""
    with hidden_as(private_mode(place)) as mask:
        yield mask


def _refuse_inside(target: Path, place: DataLocation | None) -> None:
    if target.is_dir():
        raise CallError(f"{target}: a folder; name a file to write to")
    if place is not None:
        refuse_below(target, [place])


def refuse_below(target: Path, places: Iterable[DataLocation]) -> None:
    """Raise ``CallError`` if a file or folder to write is inside a directory that is read."""
    resolved = target if isinstance(target, FarPath) else Path(os.path.realpath(target))
    for folder in chain.from_iterable(place.read_folders for place in places):
        if isinstance(folder, FarPath) == isinstance(target, FarPath) and resolved.is_relative_to(folder.resolve()):
            raise CallError(f"{target}: is inside {folder}, which this command only reads; write somewhere else")
