"""``--out``: a compacted copy of a whole data directory; the original is only read."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pagefmt.bytes.files import MappedFile, open_regular
from pagefmt.bytes.writing import RealDisk
from pagefmt.compaction.apply import CompactionResult, CompactionStopped, rewritten
from pagefmt.compaction.plan import CompactionPlan, RemoveFile, RewritePage, Step, fingerprint

PARTIAL: Final = ".pagectl-partial"
_BLOCK: Final = 1 << 20


def copy_out(
    plan: CompactionPlan, target: Path, passed: Callable[[int], object] = lambda size: None
) -> CompactionResult:
    """``target``, which must not exist, gets ``paging``, ``journal``, ``bindings`` and ``large-messages``.

    It appears under its name when it is whole and synced. What is no regular file or folder is left out. Raises
    ``CompactionStopped``; nothing is left behind then.
    """
    target = target.absolute()
    if target.exists():
        raise CompactionStopped(f"{target}: exists already; name a folder that does not")
    for root in plan.roots.values():
        if target.is_relative_to(root.resolve()):
            raise CompactionStopped(f"{target}: lies inside {root}; name a folder elsewhere")
    partial = target.with_name(target.name + PARTIAL)
    disk = RealDisk()
    steps = {step.path.absolute(): step for step in plan.steps()}
    try:
        partial.mkdir()
        try:
            for name, root in plan.roots.items():
                _copy_root(root, partial / name, steps, disk, passed)
            disk.sync_folder(partial)
            _unchanged(plan)
            partial.rename(target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        disk.sync_folder(target.parent)
    except OSError as err:
        raise CompactionStopped(
            f"{err.filename or target}: {err.strerror or err}; nothing was written to {target}"
        ) from err
    return CompactionResult(len(steps), plan.freed)


def _unchanged(plan: CompactionPlan) -> None:
    for _, path, seen in plan.witnesses:
        if fingerprint(path) != seen:
            raise CompactionStopped(f"{path}: changed while it was copied; is a broker at work? Nothing was written")


def _copy_root(root: Path, to: Path, steps: dict[Path, Step], disk: RealDisk, passed: Callable[[int], object]) -> None:
    for folder, names, files in os.walk(root, onerror=_raise):
        here = Path(folder)
        there = to / here.relative_to(root)
        there.mkdir()
        names[:] = sorted(name for name in names if not (here / name).is_symlink())
        for name in sorted(files):
            path = here / name
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                _copy(path, there / name, steps.get(path), disk)
                passed(status.st_size)
        shutil.copystat(here, there)
        disk.sync_folder(there)


def _raise(err: OSError) -> None:
    raise err


def _copy(path: Path, to: Path, step: Step | None, disk: RealDisk) -> None:
    if isinstance(step, RemoveFile):
        return
    if isinstance(step, RewritePage):
        if fingerprint(path) != step.seen:
            raise CompactionStopped(f"{path}: changed while it was copied; is a broker at work? Nothing was written")
        with MappedFile(path) as file:
            disk.create(to, rewritten(file.buf, step), like=path)
    else:
        disk.create(to, _pieces(path), like=path)
    status = path.lstat()
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))


def _pieces(path: Path) -> Iterator[bytes]:
    with os.fdopen(open_regular(path), "rb") as file:
        while piece := file.read(_BLOCK):
            yield piece
