"""A file system that forgets: what may be on the disk after the power fails, for every instant of a run.

A run is recorded as primitive operations. Names (create, link, rename, unlink, mkdir) are sure once their folder was
synced, contents once the file was. At each cut every subset of what was not yet synced may have reached the disk, in
its order; contents that were not synced may be missing, cut in the middle, or whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

from pagefmt.storage.writing import Disk

MOST_STATES = 4096


@dataclass(frozen=True)
class Primitive:
    """``verb``: create, write, sync (a file), link, rename, unlink, mkdir, rmdir, syncdir."""

    verb: str
    path: str
    other: str = ""
    content: bytes = b""


class RecordingDisk(Disk):
    """Does what the real one does, and writes down what that comes to."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[Primitive] = []

    def _note(self, verb: str, path: Path, other: Path | str = "", content: bytes = b"") -> None:
        self.log.append(Primitive(verb, str(path), str(other), content))

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        super().create(path, parts, like)
        self._note("create", path)
        self._note("write", path, content=path.read_bytes())
        self._note("sync", path)

    def append(self, path: Path, line: bytes) -> None:
        before = path.exists()
        super().append(path, line)
        if not before:
            self._note("create", path)
        self._note("write", path, content=path.read_bytes())
        self._note("sync", path)

    def link(self, path: Path, name: Path) -> None:
        super().link(path, name)
        self._note("link", path, name)

    def replace(self, new: Path, old: Path) -> None:
        super().replace(new, old)
        self._note("rename", new, old)

    def remove(self, path: Path) -> None:
        super().remove(path)
        self._note("unlink", path)

    def mkdir(self, path: Path) -> None:
        super().mkdir(path)
        self._note("mkdir", path)

    def remove_folder(self, path: Path) -> None:
        super().remove_folder(path)
        self._note("rmdir", path)

    def sync_folder(self, path: Path) -> None:
        super().sync_folder(path)
        self._note("syncdir", path)


class InPlaceDisk(RecordingDisk):
    """A wrong protocol: the old file is written over."""

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        self.fresh = b"".join(parts)

    def check_owner(self, path: Path, like: Path) -> None:
        """Do nothing, because no file is created."""

    def replace(self, new: Path, old: Path) -> None:
        old.write_bytes(self.fresh)
        self._note("write", old, content=b"")
        self._note("write", old, content=self.fresh)
        self._note("sync", old)


class UnsyncedDisk(RecordingDisk):
    """A wrong protocol: a rename that the contents may be late for."""

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        super().create(path, parts, like)
        self.log.pop()


@dataclass
class Names:
    """Path → inode, folders apart."""

    files: dict[str, int] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)

    def copy(self) -> Names:
        return Names(dict(self.files), set(self.folders))

    def do(self, step: Primitive, inode: int) -> None:
        """Apply one change of names, or nothing if a name that it needs did not reach the disk."""
        match step.verb:
            case "create":
                self.files[step.path] = inode
            case "link":
                self.files[step.other] = inode
            case "rename":
                if step.path in self.files:
                    self.files[step.other] = self.files.pop(step.path)
                elif step.path in self.folders:
                    self._move(step.path, step.other)
            case "unlink":
                self.files.pop(step.path, None)
            case "mkdir":
                self.folders.add(step.path)
            case "rmdir":
                self.folders.discard(step.path)

    def _move(self, old: str, new: str) -> None:
        """Rename a folder and everything below it."""

        def moved(path: str) -> str:
            return new + path[len(old) :] if path == old or path.startswith(old + "/") else path

        self.files = {moved(path): inode for path, inode in self.files.items()}
        self.folders = {moved(path) for path in self.folders}


def folder_of(step: Primitive) -> str:
    return str(Path(step.other or step.path).parent)


class Simulator:
    """The disk of a recorded run. ``start``: path → contents of what was there, all of it synced."""

    def __init__(self, start: dict[str, bytes], folders: set[str]) -> None:
        self.now = Names({path: n for n, path in enumerate(start)}, set(folders))
        self.sure = self.now.copy()
        self.contents: dict[int, list[bytes]] = dict(enumerate([content] for content in start.values()))
        self.waiting: list[tuple[Primitive, int]] = []
        self.next = len(start)

    def step(self, step: Primitive) -> None:
        match step.verb:
            case "write":
                self.contents[self.now.files[step.path]].append(step.content)
            case "sync":
                inode = self.now.files[step.path]
                self.contents[inode] = self.contents[inode][-1:]
            case "syncdir":
                rest = []
                for change, inode in self.waiting:
                    if folder_of(change) == step.path:
                        self.sure.do(change, inode)
                    else:
                        rest.append((change, inode))
                self.waiting = rest
            case _:
                self._name(step)

    def _name(self, step: Primitive) -> None:
        inode = self.now.files.get(step.path, self.next)
        if step.verb == "create":
            inode, self.next = self.next, self.next + 1
            self.contents[inode] = [b""]
        self.now.do(step, inode)
        self.waiting.append((step, inode))

    def states(self) -> Iterator[dict[str, bytes]]:
        """Yield each state of the files that a power failure now may leave; files in unsynced folders are lost."""
        loose = [inode for inode, versions in self.contents.items() if len(versions) > 1]
        choices = [possible(self.contents[inode]) for inode in loose]
        for kept in subsets(len(self.waiting)):
            names = self.sure.copy()
            for keep, (change, inode) in zip(kept, self.waiting, strict=True):
                if keep:
                    names.do(change, inode)
            for chosen in product(*choices):
                data = dict(zip(loose, chosen, strict=True))
                yield {
                    path: data.get(inode, self.contents[inode][-1])
                    for path, inode in sorted(names.files.items())
                    if str(Path(path).parent) in names.folders
                }


def subsets(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield which of ``count`` changes reached the disk.

    These are all combinations, or of very many: none, each alone, all, all but each.
    """
    if 1 << count <= MOST_STATES:
        yield from product((False, True), repeat=count)
        return
    for most in (False, True):
        yield (most,) * count
        for other in range(count):
            yield tuple(most != (n == other) for n in range(count))


def possible(versions: list[bytes]) -> list[bytes]:
    found = list(versions)
    for before, after in pairwise(versions):
        common = next(
            (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
        )
        found.append(after[: common + (len(after) - common) // 2])
    return sorted(set(found))


def crash_states(
    start: dict[str, bytes], folders: set[str], log: list[Primitive]
) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Yield for every possible crash the number of primitives done and the contents of the files left."""
    simulator = Simulator(start, folders)
    yield from ((0, state) for state in simulator.states())
    for done, step in enumerate(log, 1):
        simulator.step(step)
        yield from ((done, state) for state in simulator.states())


def lay_out(state: dict[str, bytes], old_root: Path, new_root: Path) -> None:
    """Write a state to another folder."""
    for name, content in state.items():
        path = new_root / Path(name).relative_to(old_root)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class FailingDisk(Disk):
    """Raises at the ``at``-th operation, and at every one after it if ``forever``."""

    def __init__(self, at: int, code: int, forever: bool) -> None:
        super().__init__()
        self.left = at
        self.code = code
        self.forever = forever
        self.failed = ""

    def _count(self, verb: str) -> None:
        self.left -= 1
        if self.left == 0 or (self.forever and self.left < 0):
            self.failed = self.failed or verb
            raise OSError(self.code, "made to fail")

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        self._count("create")
        try:
            super().create(path, parts, like)
            self._count("sync of a new file")
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise

    def append(self, path: Path, line: bytes) -> None:
        self._count("append")
        super().append(path, line)

    def link(self, path: Path, name: Path) -> None:
        self._count("link")
        super().link(path, name)

    def replace(self, new: Path, old: Path) -> None:
        self._count("rename")
        super().replace(new, old)

    def remove(self, path: Path) -> None:
        self._count("unlink")
        super().remove(path)

    def mkdir(self, path: Path) -> None:
        self._count("mkdir")
        super().mkdir(path)

    def sync_folder(self, path: Path) -> None:
        self._count("sync of a folder")
        super().sync_folder(path)
