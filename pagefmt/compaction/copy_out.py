"""``--out``: a compacted copy of a whole data directory; the original is only read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Final, Protocol

from pagefmt.bytes.file_snapshot import SourceChanged
from pagefmt.bytes.files import MappedFile, NotPermitted, NotReadable, open_regular
from pagefmt.bytes.writing import Disk, LinkRefused, whole_folder
from pagefmt.compaction.apply import CompactionResult, rewritten
from pagefmt.compaction.journals import JournalsPlan, copied
from pagefmt.compaction.plan import CompactionPlan, RemoveFile, RewritePage, Step
from pagefmt.directory.locate import new_names
from pagefmt.journal.writing import FileChange

_BLOCK: Final = 1 << 20


class MadeFile(Protocol):
    """A file that the copy gets. ``like``: an old one, whose owner and rights it gets."""

    @property
    def name(self) -> str:
        """Return the name in its folder."""

    @property
    def like(self) -> Path:
        """Return the old file."""

    def content(self) -> Iterable[bytes | memoryview]:
        """Return the content in parts."""


def copy_out(
    plan: CompactionPlan,
    target: Path,
    passed: Callable[[int], object] = lambda size: None,
    disk: Disk | None = None,
    held: Mapping[Path, int] | None = None,
    changed: Mapping[Path, FileChange] | None = None,
    added: Sequence[tuple[str, MadeFile]] = (),
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
    """The same with journals compacted; raises ``CannotCompact`` as well."""
    gone, made = copied(plan)
    _copy_roots(plan, target, dict(gone), made, passed, disk, held or {})


def _copy_roots(
    plan: CompactionPlan | JournalsPlan,
    target: Path,
    steps: Mapping[Path, Step | FileChange | None],
    made: Sequence[tuple[str, MadeFile]],
    passed: Callable[[int], object],
    disk: Disk | None,
    held: Mapping[Path, int],
) -> None:
    """``steps``: what becomes of a file; None: the copy does not have it. ``made``: by directory, what it gets."""
    like = next(iter(plan.roots.values())).parent
    names = new_names(plan.roots)
    with whole_folder(target, plan.roots.values(), disk, like=like) as (partial, disk), plan.sources.unchanged():
        for name, root in plan.roots.items():
            copy_root(root, partial / names[name], steps, [new for at, new in made if at == name], disk, held, passed)


def copy_root(
    root: Path,
    to: Path,
    steps: Mapping[Path, Step | FileChange | None],
    made: Sequence[MadeFile],
    disk: Disk,
    held: Mapping[Path, int],
    passed: Callable[[int], object] = lambda size: None,
) -> None:
    """One directory. ``steps``: what becomes of a file; None: the copy does not have it, nor a folder of
    that name. ``made``: what it gets."""
    for folder, names, files in os.walk(root, onerror=_raise):
        here = Path(folder)
        there = to / here.relative_to(root)
        disk.make_folder(there)
        for name in sorted([*names, *files]):
            path = here / name
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                raise LinkRefused(f"{path}: is a symbolic link, and its target would be missing from the copy")
            if stat.S_ISREG(status.st_mode):
                if path not in steps or steps[path] is not None:
                    _copy(path, there / name, steps.get(path), disk, held.get(path))
                passed(status.st_size)
        names[:] = sorted(name for name in names if here / name not in steps)
    for new in made:
        disk.create(to / new.name, new.content(), like=new.like)
    for folder, _, _ in os.walk(to, topdown=False):
        here = root / Path(folder).relative_to(to)
        disk.give_rights(Path(folder), here)
        _copy_times(here, Path(folder))


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
    """A file as it is, with its rights. ``held``: a descriptor of it that must stay the only one."""
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
