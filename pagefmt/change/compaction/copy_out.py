"""``--out``: a compacted copy of a whole data directory; the original is only read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Final, Protocol

from pagefmt.change.compaction.apply import CompactionResult, rewritten
from pagefmt.change.compaction.journals import JournalsPlan, copied
from pagefmt.change.compaction.plan import CompactionPlan, RemoveFile, RewritePage, Step
from pagefmt.directory.locate import new_names
from pagefmt.journal.writing import FileChange
from pagefmt.storage.file_snapshot import SourceChanged
from pagefmt.storage.files import MappedFile, NotPermitted, NotReadable, open_regular
from pagefmt.storage.writing import Disk, LinkRefused, whole_folder

_BLOCK: Final = 1 << 20


class CopiedFile(Protocol):
    """A file that the copy gets. ``like``: the old file whose owner and rights it takes over."""

    @property
    def name(self) -> str:
        """Return the name in its folder."""

    @property
    def like(self) -> Path:
        """Return the old file, whose owner and mode the new one gets."""

    def content(self) -> Iterable[bytes | memoryview]:
        """Return the content in parts."""


def copy_out(
    plan: CompactionPlan,
    target: Path,
    passed: Callable[[int], object] = lambda size: None,
    disk: Disk | None = None,
    held: Mapping[Path, int] | None = None,
    changed: Mapping[Path, FileChange] | None = None,
    added: Sequence[tuple[str, CopiedFile]] = (),
) -> CompactionResult:
    """Write pages, journals and large messages below ``target``, which must not exist, in folders named as they are.

    The folder appears whole or not at all. Only regular files and folders are copied, links are refused. ``held``: the
    lock files that are held, which no other descriptor may be opened for. ``changed``: journal files that lose records;
    ``added``: by directory, new files.
    ``passed`` gets the size of each file that was read. Raises ``SourceChanged``, ``TargetRefused``,
    ``LinkRefused``, ``OSError``.
    """
    steps: dict[Path, Step | FileChange | None] = {step.path.absolute(): step for step in plan.steps()}
    steps |= changed or {}
    _copy_roots(plan, target, steps, added, passed, disk, held or {})
    return CompactionResult(len(steps), plan.freed)


def copy_journals_out(
    plan: JournalsPlan,
    target: Path,
    passed: Callable[[int], object] = lambda size: None,
    disk: Disk | None = None,
    held: Mapping[Path, int] | None = None,
) -> None:
    """Write a copy of the directories with compacted journals. Raise ``CannotCompact`` if a journal is not sound."""
    gone, new_files = copied(plan)
    _copy_roots(plan, target, dict(gone), new_files, passed, disk, held or {})


def _copy_roots(
    plan: CompactionPlan | JournalsPlan,
    target: Path,
    steps: Mapping[Path, Step | FileChange | None],
    new_files: Sequence[tuple[str, CopiedFile]],
    passed: Callable[[int], object],
    disk: Disk | None,
    held: Mapping[Path, int],
) -> None:
    """Copy each directory of the plan into a new folder.

    ``steps`` maps a file to its change; None leaves the file out. ``new_files`` pairs a directory's name with a new
    file.
    """
    like = next(iter(plan.roots.values())).parent
    names = new_names(plan.roots)
    with whole_folder(target, plan.roots.values(), disk, like=like) as (partial, disk), plan.sources.unchanged():
        for name, root in plan.roots.items():
            copy_root(
                root, partial / names[name], steps, [new for at, new in new_files if at == name], disk, held, passed
            )


def copy_root(
    root: Path,
    to: Path,
    steps: Mapping[Path, Step | FileChange | None],
    new_files: Sequence[CopiedFile],
    disk: Disk,
    held: Mapping[Path, int],
    passed: Callable[[int], object] = lambda size: None,
) -> None:
    """Copy one directory, with the rights and times of its files and folders.

    ``steps`` maps a path to its change; None leaves the file, or the folder of that name, out. ``new_files`` are added.
    ``held`` maps lock files to their open descriptors. ``passed`` receives the size of each file.
    """
    for folder, names, files in os.walk(root, onerror=_raise):
        source_folder = Path(folder)
        target_folder = to / source_folder.relative_to(root)
        disk.make_folder(target_folder)
        for name in sorted([*names, *files]):
            path = source_folder / name
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                raise LinkRefused(f"{path}: is a symbolic link, and its target would be missing from the copy")
            if stat.S_ISREG(status.st_mode):
                if path not in steps or steps[path] is not None:
                    _copy(path, target_folder / name, steps.get(path), disk, held.get(path))
                passed(status.st_size)
        names[:] = sorted(name for name in names if source_folder / name not in steps)
    for new in new_files:
        disk.create(to / new.name, new.content(), like=new.like)
    for folder, _, _ in os.walk(to, topdown=False):
        source_folder = root / Path(folder).relative_to(to)
        disk.give_rights(Path(folder), source_folder)
        _copy_times(source_folder, Path(folder))


def _raise(err: OSError) -> None:
    raise err


def _copy_times(path: Path, to: Path) -> None:
    status = path.stat()
    os.utime(to, ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy(path: Path, to: Path, step: Step | FileChange | None, disk: Disk, held: int | None) -> None:
    if isinstance(step, RemoveFile):
        return
    if isinstance(step, RewritePage):
        with MappedFile(path) as file:
            disk.create(to, rewritten(file.buf, step), like=path)
    elif step is not None:
        disk.create(to, step.content(), like=path)
    else:
        copy_file(path, to, disk, held)
    _copy_times(path, to)


def copy_file(path: Path, to: Path, disk: Disk, held: int | None = None) -> None:
    """Copy a file with its rights. ``held`` is a descriptor of it, which must stay the only one."""
    disk.create(to, _chunks(path, held), like=path)


def _way_out(path: Path) -> str:
    """Return the command that goes on with what can be read of a file."""
    salvage = f"pages salvage {quote(str(path))} --out NEW"
    return f"; see: pagectl {salvage if path.suffix == '.page' else 'recover'}"


def _chunks(path: Path, held: int | None) -> Iterator[bytes]:
    at = 0
    try:
        handle = open_regular(path) if held is None else held
    except NotPermitted:
        raise
    except NotReadable as err:
        raise NotReadable(f"{err}{_way_out(path)}") from err
    try:
        size = os.fstat(handle).st_size
        while at < size:
            chunk = os.pread(handle, min(_BLOCK, size - at), at)
            if not chunk:
                raise SourceChanged(f"{path}: became shorter while it was copied; is a broker running?")
            yield chunk
            at += len(chunk)
    except OSError as err:
        raise NotReadable(f"{path}: cannot be read at offset {at}: {err.strerror}{_way_out(path)}") from err
    finally:
        if held is None:
            os.close(handle)
