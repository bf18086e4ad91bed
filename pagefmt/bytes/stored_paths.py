"""Paths below a URL that are written to: as other paths, so that what makes a table in a folder makes it there as well.

A store gives an object whole or not at all, and renames nothing: a rename is a copy inside of the store and then a
deletion, so that what stops between the two leaves both. Nor has it locks: see ``claimed``.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from pagefmt.bytes.far_paths import FarPath, store_at
from pagefmt.bytes.object_stores import ObjectStore
from pagefmt.bytes.waiting import thread_pool
from pagefmt.bytes.writing import TargetRefused, write_text
from pagefmt.errors import PageFmtError

AT_ONCE: Final = 16
"""Requests at once."""
BEAT: Final = 5.0
"""Seconds after which who writes says again that it does."""
SILENT: Final = 30.0
"""Seconds without such a word after which a writer is dead."""
_BLOCK: Final = 1 << 23
_CLAIM: Final = "claim-"


class StoredPath(FarPath):
    """Of a table that is being written, and of nothing else: all other paths of URLs are read alone."""

    def _tree_and_name(self) -> tuple[ObjectStore, str]:
        if ".." in self.parts:
            raise TargetRefused(f"{self}: has a part '..', which may lead out of the table; name the folder directly")
        return store_at(self.parts[:2]), "/".join(self.parts[2:])

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredPath, self.parts

    def glob(self, pattern: str) -> Iterator[StoredPath]:  # type: ignore[override]
        """Of the names in a folder; none where there is no folder."""
        with suppress(FileNotFoundError):
            yield from (self / path.name for path in self.iterdir() if fnmatch.fnmatchcase(path.name, pattern))

    def rglob(self, pattern: str) -> Iterator[StoredPath]:  # type: ignore[override]
        """Of all names below a folder, asked for at once."""
        store, inner = self._tree_and_name()
        for each in store.entries(inner, deep=True):
            if fnmatch.fnmatchcase(each.name.rpartition("/")[2], pattern):
                yield self / each.name

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """With those above it (``parents``) it is made only where a file needs a folder."""
        store, inner = self._tree_and_name()
        if not (parents and store.flat):
            store.make_folder(inner)

    def rmdir(self) -> None:
        """Raises ``OSError`` where there is something in it."""
        if any(True for _ in self.entries()):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        self.remove_tree()

    def remove_tree(self) -> None:
        """The folder and all that is in it."""
        store, inner = self._tree_and_name()
        store.remove_folder(inner)

    def unlink(self, missing_ok: bool = False) -> None:
        """A file."""
        store, inner = self._tree_and_name()
        with suppress(*[FileNotFoundError] * missing_ok):
            store.remove(inner)

    def rename(self, target: StoredPath) -> StoredPath:  # type: ignore[override]
        """A file, or all files below a folder, one by one."""
        store, inner = self._tree_and_name()
        if self.is_dir():
            files = [path for path in self.rglob("*") if path.is_file()]
            at_once(lambda path: path.rename(target / path.relative_to(self)), files)
            self.remove_tree()
        else:
            target.parent.mkdir(parents=True)
            store.move(inner, target._tree_and_name()[1])
        return target

    def asked_by_others(self) -> tuple[str, dict[str, str]]:
        """As ``ObjectStore.asked_by_others``."""
        store, inner = self._tree_and_name()
        return store.asked_by_others(inner)

    def put(self, blocks: Callable[[], Iterable[bytes]], *, in_place: bool = False) -> None:
        """A file of these bytes; asked for anew where the store has failed. ``in_place``: of ``ObjectStore.put``."""
        store, inner = self._tree_and_name()
        self.parent.mkdir(parents=True)
        store.put(inner, blocks, in_place=in_place)

    def create(self, data: bytes) -> None:
        """A file of these bytes, which nobody else writes, where there is none. Raises ``FileExistsError``.

        Where a request fails its answer may be lost, and the file be there.
        """
        store, inner = self._tree_and_name()
        try:
            store.create(inner, data)
        except OSError:
            with suppress(OSError, PageFmtError):
                if self.read_bytes() == data:
                    return
            raise

    def touch(self, mode: int = 0o666, exist_ok: bool = True) -> None:
        """An empty file."""
        self.put(lambda: ())

    def write_text(self, data: str, *_: Any, **__: Any) -> int:
        """A small file, in UTF-8."""
        self.put(lambda: (data.encode("utf-8"),))
        return len(data)

    def read_bytes(self) -> bytes:
        """A small file."""
        file = self.opened()
        try:
            return file.read_at(file.size(), 0)
        finally:
            file.close()

    def read_text(self, *_: Any, **__: Any) -> str:
        """The same, in UTF-8."""
        return self.read_bytes().decode("utf-8")


def at_once(action: Callable[[Any], object], things: Iterable[Any]) -> None:
    """Many requests. Raises what the first of them raises that fails, when all are done."""
    with thread_pool(AT_ONCE) as pool:
        for each in [pool.submit(action, thing) for thing in things]:
            each.result()


def whole_text(path: Path, text: str) -> None:
    """A small text file of a table, which appears whole, wherever it lies."""
    if isinstance(path, StoredPath):
        path.write_text(text)
    else:
        write_text(path, text, updated=True)


def remove_tree(folder: Path) -> None:
    """A folder and all that is in it, wherever it lies."""
    if isinstance(folder, StoredPath):
        folder.remove_tree()
    else:
        shutil.rmtree(folder)


@contextmanager
def made_folder(folder: Path, *, exist_ok: bool = False) -> Iterator[Path]:
    """A folder to put files in: itself, or a local one, of which the files get there when the block ends."""
    if not isinstance(folder, StoredPath):
        folder.mkdir(exist_ok=exist_ok)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="pagectl-") as here:
        yield Path(here)
        for path in sorted(each for each in Path(here).rglob("*") if each.is_file()):
            with path.open("rb") as file:
                (folder / path.relative_to(here)).put(lambda file=file: _blocks(file))  # type: ignore[misc]
            path.unlink()


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    return iter(lambda: file.read(_BLOCK), b"")


def _clocks() -> tuple[float, float]:
    """One stands still while a machine sleeps, the other may be set."""
    return time.monotonic(), time.time()


class _Claim:
    """That this process writes a table, said again and again. ``lost``: others may take it for dead."""

    def __init__(self, path: StoredPath) -> None:
        self.path, self.lost, self._beats = path, False, 0
        self._last = _clocks()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def begin(self) -> None:
        self._say()
        self._last = _clocks()
        self._thread.start()

    def _say(self) -> None:
        """In place: others look whether the file is there."""
        self.path.put(lambda: (str(self._beats).encode(),), in_place=True)

    def _beat(self) -> None:
        while not self._done.wait(BEAT):
            with suppress(OSError, PageFmtError):
                if self.holds():
                    self._beats += 1
                    self._say()
                    self._note_pause()
                    self._last = _clocks()

    def holds(self) -> bool:
        """Whether nobody may have taken the table over."""
        self._note_pause()
        self.lost = self.lost or not self.path.exists()
        return not self.lost

    def _note_pause(self) -> None:
        """After a pause the file may be gone, and be written anew by this process that does not know it."""
        self.lost = self.lost or any(now - last > SILENT for now, last in zip(_clocks(), self._last, strict=True))

    def end(self) -> None:
        self._done.set()
        self._thread.join()
        with suppress(OSError, PageFmtError):
            self.path.unlink(missing_ok=True)
            self.path.parent.rmdir()


_claims: dict[Path, _Claim] = {}


@contextmanager
def claimed(folder: StoredPath) -> Iterator[None]:
    """Inside, no other process of ours writes below a folder: each says so in a file there, and then looks for others.

    Stores tell at once what was written, so of two at least one sees the other. A file whose content does not change
    for a while is of a process that was killed. Raises ``OSError``.
    """
    claim = _Claim(folder / f"{_CLAIM}{uuid.uuid4().hex[:12]}")
    try:
        claim.begin()
    except OSError as err:
        err.filename = str(folder.parent)
        raise
    try:
        if _alive(others := {path: path.read_text() for path in folder.glob(f"{_CLAIM}*") if path != claim.path}):
            raise OSError(errno.EBUSY, "another process is writing it", str(folder.parent))
        for path in others:
            path.unlink(missing_ok=True)
        _claims[folder] = claim
        yield
    finally:
        if _claims.get(folder) is claim:
            del _claims[folder]
        claim.end()


def _alive(others: dict[StoredPath, str]) -> bool:
    """Whether one of the files changes; one that goes away does."""
    begun = time.monotonic()
    while others and time.monotonic() - begun < SILENT:
        time.sleep(BEAT)
        for path, before in others.items():
            try:
                if path.read_text() != before:
                    return True
            except FileNotFoundError:
                return True
    return False


def still_claimed(folder: Path) -> bool:
    """Whether a folder below a URL still is; asked in front of a change."""
    claim = _claims.get(folder)
    return not isinstance(folder, StoredPath) or (claim is not None and claim.holds())
