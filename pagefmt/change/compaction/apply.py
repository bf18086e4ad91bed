"""Applying a plan in place, so that it may be stopped at any moment.

Each page is replaced on its own: the new file is written beside it and synced, the old one is kept in the backup, then
the new one is renamed over it. Old and new page mean the same to a broker, and so does any mixture; the next run plans
anew and finishes the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.change.compaction.backup import (
    LIST,
    Backup,
    BackupStands,
    ChecksumStream,
    SizeAndSum,
    emptied,
    left_overs,
    new_backup,
    read_backup,
    sum_of,
    sum_of_buffer,
)
from pagefmt.change.compaction.plan import CompactionPlan, RemoveFile, RewritePage, Step
from pagefmt.codec.pages.record import FRAME
from pagefmt.codec.pages.stubs import STUB_SIZE, stubs
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text, size_text
from pagefmt.storage.file_snapshot import Fingerprint, fingerprint
from pagefmt.storage.files import MappedFile
from pagefmt.storage.writing import BLOCK, Disk, refuse_links

if TYPE_CHECKING:
    from pagefmt.arrays import Ints

SPARE: Final = 1 << 20  # bytes kept free beyond what is needed, for folders and the list of the backup
COPY_ELSEWHERE: Final = "--out on another disk needs none here"
BACKUP_ELSEWHERE: Final = "name a --backup-dir on another disk"
WORTH: Final = 20
SELDOM: Final = 0.25


class CompactionStopped(PageFmtError):
    """The compaction stopped early. Files that were changed are complete, the others are as they were."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """How many steps were carried out, and the bytes that this freed."""

    steps: int
    freed: int


def rewritten(buf: bytes | memoryview, step: RewritePage) -> Iterator[bytes | memoryview]:
    """Yield the new contents of a page in blocks: live stretches of the old page, and stubs for its dead records."""
    import numpy as np

    offsets = np.frombuffer(step.offsets, np.int64)
    lengths = np.ndarray((len(buf) - 3,), dtype=">i4", buffer=buf, strides=(1,))[offsets + 1].astype(np.int64)
    ends = offsets + FRAME + lengths
    # Dead records that touch form one run. The new page alternates between a stretch of the old page and the stubs of
    # one run, so both are described by start and end arrays of equal length, and copied in a few large pieces.
    breaks = np.flatnonzero(offsets[1:] != ends[:-1]) + 1
    first, behind = np.append(0, breaks), np.append(breaks, len(offsets))
    size = STUB_SIZE[step.layout]
    kept = np.append(0, ends[behind - 1]), np.append(offsets[first], len(buf))
    dead = np.append(first, 0) * size, np.append(behind, 0) * size
    old, new = memoryview(buf), memoryview(stubs(step.layout, step.ids))
    sizes = kept[1] - kept[0] + dead[1] - dead[0]
    written = np.cumsum(sizes)
    large = np.flatnonzero(sizes >= BLOCK)  # by themselves: they are not joined with anything
    cuts = np.concatenate(
        [[0, len(sizes)], large, large + 1, np.searchsorted(written, np.arange(0, written[-1], BLOCK))]
    )
    for low, high in pairwise(sorted(set(cuts.tolist()))):
        parts: list[memoryview] = [old] * (2 * (high - low))
        parts[::2] = _stretches(old, kept, low, high)
        parts[1::2] = _stretches(new, dead, low, high)
        yield from parts if len(parts) == 2 else [b"".join(parts)]


def _stretches(of: memoryview, edges: tuple[Ints, Ints], low: int, high: int) -> Iterator[memoryview]:
    return map(of.__getitem__, map(slice, edges[0][low:high].tolist(), edges[1][low:high].tolist()))


class SpaceNeeded(NamedTuple):
    """Bytes of free space that ``--in-place`` needs, the reserve included.

    ``backup``: in the folder of the backup; 0 if that is on the file system of the ``pages``.
    """

    pages: int
    backup: int


def space_needed(plan: CompactionPlan, backup: Path | None) -> SpaceNeeded:
    """Return what the plan needs with a backup in this folder, or without one.

    The backup of a file on its own file system is a second name for it, which keeps the old bytes; of any other file it
    is a copy.
    """
    if backup is None:
        return SpaceNeeded(plan.needs_without_backup + SPARE, 0)
    device = device_of(backup)
    devices = {folder: device_of(folder) for folder in {step.path.parent for step in plan.steps()}}
    copied = sum(old_size(step) for step in plan.steps() if devices[step.path.parent] != device)
    if device_of(plan.paging) == device:
        return SpaceNeeded(plan.needs_with_backup + copied + SPARE, 0)
    return SpaceNeeded(plan.needs_without_backup + SPARE, copied + SPARE)


def old_size(step: Step) -> int:
    """Return the bytes of the file before the step."""
    return step.freed + (step.after if isinstance(step, RewritePage) else 0)


def first_there(folder: Path) -> Path:
    """Return the folder, or its nearest ancestor that exists."""
    return next(ancestor for ancestor in (folder.absolute(), *folder.absolute().parents) if ancestor.exists())


def device_of(folder: Path) -> int:
    """Return the device number of a folder's file system. The folder need not exist yet."""
    return first_there(folder).stat().st_dev


def check_room(folder: Path, needed: int, way: str) -> None:
    """Raise ``CompactionStopped`` if the file system of a folder has less free space. ``way``: what needs less."""
    status = os.statvfs(first_there(folder))
    free = status.f_bavail * status.f_frsize
    if free < needed:
        raise CompactionStopped(
            f"{folder}: {size_text(free)} are free, {size_text(needed)} are needed; {way}; nothing was changed"
        )


def check_space(plan: CompactionPlan, backup: Path | None) -> None:
    """Raise ``CompactionStopped`` if a file system has less free space than the plan needs."""
    needed = space_needed(plan, backup)
    less = f"--no-backup needs {size_text(plan.needs_without_backup + SPARE)}, " if backup is not None else ""
    check_room(plan.paging, needed.pages, less + COPY_ELSEWHERE)
    if backup is not None and needed.backup:
        check_room(backup, needed.backup, BACKUP_ELSEWHERE)


def open_backup(disk: Disk, folder: Path, plan: CompactionPlan) -> Backup:
    """Return the backup of this plan: a new one, or the one that a stopped run of the same compaction left.

    Raises ``BackupStands`` if the folder contains the backup of another compaction.
    """
    backup = standing_backup(folder, plan)
    if backup is None:
        return new_backup(disk, folder, plan.roots, _journals(plan))
    with backup.written(disk):
        disk.append(folder / LIST, b"\n")  # ends a line that was cut off
    return backup


def standing_backup(folder: Path, plan: CompactionPlan) -> Backup | None:
    """Return the backup that an earlier run of this compaction began, or None if the folder is absent or empty.

    Raises ``BackupStands`` if the folder contains the backup of another compaction.
    """
    if not os.path.lexists(folder) or (not folder.is_symlink() and folder.is_dir() and emptied(folder)):
        return None
    backup = read_backup(folder, plan.roots)
    if backup.discarding or backup.journals != _journals(plan):
        raise BackupStands(
            f"{folder}: holds the backup of an earlier compaction; name another --backup-dir",
            can_be_restored=not backup.discarding,
        )
    return backup


def _journals(plan: CompactionPlan) -> dict[str, SizeAndSum]:
    return {f"{root}/{path.name}": sum_of(path) for root, path, _ in plan.witnesses}


def apply(
    plan: CompactionPlan, disk: Disk, backup: Backup | None, passed: Callable[[int], object] = lambda size: None
) -> CompactionResult:
    """Carry out the steps in order; ``passed`` gets the size of each finished file. Raises ``CompactionStopped``."""
    steps = freed = 0
    refuse_links(plan.paging.resolve())
    watch = _ChangeWatch(plan)
    with disk.below(*plan.roots.values()), backup.written(disk) if backup else nullcontext():
        for path in left_overs(plan.paging):
            disk.remove(path)
        for step in plan.steps():
            try:
                watch.before(step)
                _carry_out(step, disk, backup)
            except OSError as err:
                raise CompactionStopped(
                    f"{err.filename or step.path}: {err.strerror or err}; {count_text(steps, 'file')} done and "
                    "correct, the others are unchanged; run it again when the cause is fixed"
                ) from err
            steps += 1
            freed += step.freed
            passed(step.page.size if isinstance(step, RewritePage) else step.size)
    return CompactionResult(steps, freed)


class _ChangeWatch:
    """Detects another process at work: a replicating backup takes no lock.

    The page is checked before each step. The journals are checked at most every quarter of a second, and less often
    where checking them all would take more than one part in ``WORTH`` of the time.
    """

    __slots__ = ("_due", "_witnesses")

    def __init__(self, plan: CompactionPlan) -> None:
        self._witnesses = plan.witnesses
        self._due = 0.0

    def before(self, step: Step) -> None:
        unchanged(step.path, step.seen)
        begun = monotonic()
        if begun >= self._due:
            for _, path, seen in self._witnesses:
                unchanged(path, seen)
            took = monotonic() - begun
            self._due = begun + took + min(took * WORTH, SELDOM)


def unchanged(path: Path, seen: Fingerprint) -> None:
    """Raise ``CompactionStopped`` if the file no longer has the fingerprint ``seen``."""
    if fingerprint(path) != seen:
        raise CompactionStopped(
            f"{path}: changed while the compaction ran; is a broker running? What was done so far is correct"
        )


def _carry_out(step: Step, disk: Disk, backup: Backup | None) -> None:
    if isinstance(step, RemoveFile):
        if backup is not None:
            backup.keep(disk, step.path.absolute(), sum_of(step.path), None)
        disk.remove(step.path)
        disk.sync_folder(step.path.parent)
        return
    with MappedFile(step.path) as file:
        parts = rewritten(file.buf, step)
        if backup is None:
            disk.write(step.path, parts, like=step.path)
            return
        new = ChecksumStream(parts)

        def keep_old() -> None:
            backup.keep(disk, step.path.absolute(), sum_of_buffer(file.buf), new.total)

        disk.write(step.path, new, like=step.path, before_rename=keep_old)
