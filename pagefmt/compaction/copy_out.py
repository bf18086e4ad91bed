"""``--out``: a compacted copy of a whole data directory; the original is only read."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pagefmt.bytes.files import MappedFile, open_regular
from pagefmt.bytes.writing import DISK, Disk, whole_folder
from pagefmt.compaction.apply import CompactionResult, CompactionStopped, rewritten
from pagefmt.compaction.plan import CompactionPlan, RemoveFile, RewritePage, Step, fingerprint

_BLOCK: Final = 1 << 20


def copy_out(
    plan: CompactionPlan, target: Path, passed: Callable[[int], object] = lambda size: None, disk: Disk = DISK
) -> CompactionResult:
    """Write ``paging``, ``journal``, ``bindings`` and ``large-messages`` below ``target``, which must not exist.

    The folder appears whole or not at all. Only regular files and folders are copied. ``passed`` gets the size of each
    file that was read. Raises ``CompactionStopped`` and ``TargetRefused``.
    """
    steps = {step.path.absolute(): step for step in plan.steps()}
    try:
        with whole_folder(target, plan.roots.values(), disk) as partial:
            for name, root in plan.roots.items():
                _copy_root(root, partial / name, steps, disk, passed)
            _unchanged(plan)
    except OSError as err:
        raise CompactionStopped(
            f"{err.filename or target}: {err.strerror or err}; nothing was written to {target}"
        ) from err
    return CompactionResult(len(steps), plan.freed)


def _unchanged(plan: CompactionPlan) -> None:
    for _, path, seen in plan.witnesses:
        if fingerprint(path) != seen:
            raise CompactionStopped(f"{path}: changed while it was copied; is a broker at work? Nothing was written")


def _copy_root(root: Path, to: Path, steps: dict[Path, Step], disk: Disk, passed: Callable[[int], object]) -> None:
    for folder, names, files in os.walk(root, onerror=_raise):
        here = Path(folder)
        there = to / here.relative_to(root)
        disk.make_folder(there)
        names[:] = sorted(name for name in names if not (here / name).is_symlink())
        for name in sorted(files):
            path = here / name
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                _copy(path, there / name, steps.get(path), disk)
                passed(status.st_size)
        shutil.copystat(here, there)


def _raise(err: OSError) -> None:
    raise err


def _copy(path: Path, to: Path, step: Step | None, disk: Disk) -> None:
    if isinstance(step, RemoveFile):
        return
    if isinstance(step, RewritePage):
        if fingerprint(path) != step.seen:
            raise CompactionStopped(f"{path}: changed while it was copied; is a broker at work? Nothing was written")
        with MappedFile(path) as file:
            disk.create(to, rewritten(file.buf, step), like=path)
    else:
        disk.create(to, _chunks(path), like=path)
    status = path.lstat()
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))


def _chunks(path: Path) -> Iterator[bytes]:
    with os.fdopen(open_regular(path), "rb") as file:
        while chunk := file.read(_BLOCK):
            yield chunk
