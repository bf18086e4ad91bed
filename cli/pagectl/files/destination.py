"""``--to FILE``: the answer goes to a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from pagectl.running.exits import CallError
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
    if _is_special(target):
        with target.open("w", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
            yield
        return
    with fresh_file(target) as fresh, fresh.open("x", encoding="utf-8") as stream:
        with contextlib.redirect_stdout(stream):
            yield
        stream.flush()
    sys.stdout.flush()


@contextlib.contextmanager
def fresh_file(target: Path, place: DataLocation | None = None) -> Iterator[Path]:
    """A name beside ``target`` to write to; synced and renamed to it at the end, removed where that is not reached."""
    _refuse_inside(target, place)
    if _is_special(target):
        raise CallError(f"{target}: not a regular file; name a file to write to")
    fresh = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        yield fresh
        with fresh.open("rb") as written:
            os.fsync(written.fileno())
        fresh.replace(target)
    except BaseException as err:
        if isinstance(err, OSError) and err.filename == str(fresh):
            err.filename = str(target)
        fresh.unlink(missing_ok=True)
        raise


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
    folder = target.absolute().parent.resolve()
    for guarded in (place.paging, place.journal, place.bindings, place.large_messages, place.store):
        if guarded is not None and folder.is_relative_to(guarded.resolve()):
            raise CallError(f"{target}: lies below {guarded}, which is only read; write somewhere else")
