"""``--to FILE``: the answer goes to a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from pagectl.running.exits import CallError
from pagectl.terminal.streams import note
from pagefmt.bytes.writing import atomic_file
from pagefmt.directory.locate import DataLocation


@contextlib.contextmanager
def output_to(target: Path | None, place: DataLocation | None = None) -> Iterator[None]:
    """Standard output goes to ``target`` inside: written beside it, renamed when done, removed when not.

    A target below the directories that are being read is refused. Pipes and devices are written directly.
    """
    if target is None or str(target) == "-":
        yield
        return
    _refuse_inside(target, place)
    _is_special(target)
    with atomic_file(target) as fresh, fresh.open("w", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
        yield
    sys.stdout.flush()
    note(f"wrote {target.absolute()}")


@contextlib.contextmanager
def fresh_file(target: Path, place: DataLocation | None = None) -> Iterator[Path]:
    """As ``pagefmt.bytes.writing.atomic_file``, where a pipe, a device or a file below ``place`` is refused."""
    _refuse_inside(target, place)
    if _is_special(target):
        raise CallError(f"{target}: not a regular file; name a file to write to")
    with atomic_file(target) as fresh:
        yield fresh


def _is_special(target: Path) -> bool:
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    if stat.S_ISDIR(mode):
        raise CallError(f"{target}: a folder; name a file to write to")
    return not stat.S_ISREG(mode)


def _refuse_inside(target: Path, place: DataLocation | None) -> None:
    if place is None:
        return
    folder = target.resolve().parent
    for guarded in (place.paging, place.journal, place.bindings, place.large_messages, place.store):
        if guarded is not None and folder.is_relative_to(guarded.resolve()):
            raise CallError(f"{target}: lies below {guarded}, which is only read; write somewhere else")
