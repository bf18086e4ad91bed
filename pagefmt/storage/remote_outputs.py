"""Paths below a URL that are written to, with the methods of other paths, so that the code for tables works on both.

A store writes an object completely or not at all, and renames nothing: a rename is a copy inside the store and then a
deletion, so an interruption between the two leaves both. It has no locks either: see ``claimed``.
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
from typing import TYPE_CHECKING, Any, Final

from pagefmt.errors import PageFmtError
from pagefmt.storage.interruptible_calls import thread_pool
from pagefmt.storage.remote_paths import FarPath, store_at
from pagefmt.storage.writing import TargetRefused, write_text

if TYPE_CHECKING:
    from pagefmt.storage.stores.base import RemoteStore
    from pagefmt.storage.stores.bucket import BucketStore

AT_ONCE: Final = 16  # number of parallel requests
BEAT: Final = 5.0  # seconds between the signs of life of a writer
SILENT: Final = 30.0  # seconds without a sign of life after which a writer counts as dead
_READS: Final = 5  # of a file that is replaced each time, before that is an error
_CLAIM: Final = "claim-"


class StoredPath(FarPath):
    """Of a table that is being written, and of nothing else: all other paths of URLs are read alone."""

    def _tree_and_name(self) -> tuple[RemoteStore, str]:
        if ".." in self.parts:
            raise TargetRefused(f"{self}: has a part '..', which may lead out of the table; name the folder directly")
        return store_at(self.parts[:2]), "/".join(self.parts[2:])

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredPath, self.parts

    def glob(self, pattern: str) -> Iterator[StoredPath]:  # type: ignore[override]
        """Yield the paths in a folder that match; none if there is no folder."""
        with suppress(FileNotFoundError):
            yield from (self / path.name for path in self.iterdir() if fnmatch.fnmatchcase(path.name, pattern))

    def rglob(self, pattern: str) -> Iterator[StoredPath]:  # type: ignore[override]
        """Yield the paths below a folder whose names match, from one listing."""
        store, inner = self._tree_and_name()
        for entry in store.entries(inner, deep=True):
            if fnmatch.fnmatchcase(entry.name.rpartition("/")[2], pattern):
                yield self / entry.name

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """Create the folder and those above it, in a store that has folders."""
        store, inner = self._tree_and_name()
        store.make_folder(inner)

    def rmdir(self) -> None:
        """Remove an empty folder. Raise ``OSError`` if it is not empty."""
        if any(True for _ in self.entries()):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        self.remove_tree()

    def remove_tree(self) -> None:
        """Remove the folder with all its contents."""
        store, inner = self._tree_and_name()
        store.remove_folder(inner)

    def unlink(self, missing_ok: bool = False) -> None:
        store, inner = self._tree_and_name()
        with suppress(*[FileNotFoundError] * missing_ok):
            store.remove(inner)

    def rename(self, target: StoredPath) -> StoredPath:  # type: ignore[override]
        """Rename a file, or all files below a folder one by one. Return ``target``."""
        store, inner = self._tree_and_name()
        if self.is_dir():
            files = [path for path in self.rglob("*") if path.is_file()]
            at_once(lambda path: path.rename(target / path.relative_to(self)), files)
            self.remove_tree()
        else:
            target.parent.mkdir(parents=True)
            store.move(inner, target._tree_and_name()[1])
        return target

    def table_location(self) -> tuple[str, dict[str, str]]:
        """Return what ``BucketStore.table_location`` does."""
        store, inner = self._bucket_and_name()
        return store.table_location(inner)

    def _bucket_and_name(self) -> tuple[BucketStore, str]:
        """Raise ``UnusableUrl`` for a store in which a commit cannot exclude another one, before it is connected."""
        from pagefmt.storage.stores import STORES
        from pagefmt.storage.stores.base import UnusableUrl
        from pagefmt.storage.stores.bucket import BucketStore

        if not issubclass(STORES[self.parts[0][:-1]], BucketStore):
            raise UnusableUrl(f"{self}: only s3, gs and abfs can write a file on condition that it does not exist")
        store, inner = self._tree_and_name()
        assert isinstance(store, BucketStore)
        return store, inner

    def put(self, content: bytes | Path, *, in_place: bool = False) -> None:
        """Write a file, as ``RemoteStore.put``."""
        store, inner = self._tree_and_name()
        self.parent.mkdir(parents=True)
        store.put(inner, content, in_place=in_place)

    def create(self, data: bytes) -> None:
        """Create a file with these bytes. Raise ``FileExistsError`` if it exists.

        If a request fails, its answer may be lost although the file was created: then equal content proves it, because
        no other writer creates a file with these bytes.
        """
        store, inner = self._bucket_and_name()
        try:
            store.create(inner, data)
        except OSError:
            with suppress(OSError, PageFmtError):
                if self.read_bytes() == data:
                    return
            raise

    def touch(self, mode: int = 0o666, exist_ok: bool = True) -> None:
        """Write an empty file."""
        self.put(b"")

    def write_text(self, data: str, *_: Any, **__: Any) -> int:
        """Write a small file in UTF-8."""
        self.put(data.encode("utf-8"))
        return len(data)

    def read_bytes(self) -> bytes:
        """Return a small file. One that is replaced between asking for its size and reading it is read again.

        Raises ``OSError`` (``ESTALE``) if that happens every time.
        """
        reads = 0
        while True:
            reads += 1
            file = self.opened()
            try:
                return file.read_at(file.size(), 0)
            except OSError as err:
                if err.errno != errno.ESTALE or reads == _READS:
                    raise
            finally:
                file.close()

    def read_text(self, *_: Any, **__: Any) -> str:
        """Read a small file in UTF-8."""
        return self.read_bytes().decode("utf-8")


def at_once(action: Callable[[Any], object], things: Iterable[Any]) -> None:
    """Run many requests in parallel. When all are done, raise the error of the first that failed."""
    with thread_pool(AT_ONCE) as pool:
        for future in [pool.submit(action, thing) for thing in things]:
            future.result()


def whole_text(path: Path, text: str) -> None:
    """Write a small text file of a table atomically, local or remote."""
    if isinstance(path, StoredPath):
        path.write_text(text)
    else:
        write_text(path, text, updated=True)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all its contents, local or remote."""
    if isinstance(folder, StoredPath):
        folder.remove_tree()
    else:
        shutil.rmtree(folder)


@contextmanager
def create_folder(folder: Path, *, exist_ok: bool = False) -> Iterator[Path]:
    """Create a folder and yield it. A remote one is a local folder whose files are uploaded when the block ends."""
    if not isinstance(folder, StoredPath):
        folder.mkdir(exist_ok=exist_ok)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="pagectl-") as local_folder:
        yield Path(local_folder)
        for path in sorted(candidate for candidate in Path(local_folder).rglob("*") if candidate.is_file()):
            (folder / path.relative_to(local_folder)).put(path)
            path.unlink()


def _clocks() -> tuple[float, float]:
    """Return two clocks: one stops while a machine sleeps, the other may be set."""
    return time.monotonic(), time.time()


class Claim:
    """A file that says that this process writes a table, and is renewed.

    ``lost``: others may take the process for dead.
    """

    def __init__(self, path: StoredPath) -> None:
        self.path, self.lost, self._beats = path, False, 0
        self._last = _clocks()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def begin(self) -> None:
        """Write the file, and renew it until ``end``."""
        self._say()
        self._last = _clocks()
        self._thread.start()

    def _say(self) -> None:
        """Overwrite the file in place, because others check that it exists."""
        self.path.put(str(self._beats).encode(), in_place=True)

    def _beat(self) -> None:
        while not self._done.wait(BEAT):
            with suppress(OSError, PageFmtError):
                if self.holds():
                    self._beats += 1
                    self._say()
                    self._note_pause()
                    self._last = _clocks()

    def holds(self) -> bool:
        """Return whether the claim still holds, so that no other process may have taken over the table."""
        self._note_pause()
        self.lost = self.lost or not self.path.exists()
        return not self.lost

    def _note_pause(self) -> None:
        """After a pause the file may be gone, and be written anew by this process that does not know it."""
        self.lost = self.lost or any(now - last > SILENT for now, last in zip(_clocks(), self._last, strict=True))

    def end(self) -> None:
        """Stop the beat and delete the file."""
        self._done.set()
        self._thread.join()
        with suppress(OSError, PageFmtError):
            self.path.unlink(missing_ok=True)
            self.path.parent.rmdir()


class ClaimedPath(StoredPath):
    """The folder of a table that this process has claimed; paths below it are ``StoredPath`` without the claim."""

    claim: Claim


@contextmanager
def claimed(table: StoredPath, name: str) -> Iterator[ClaimedPath]:
    """Exclude other writers of a table, each of which writes a file into the folder ``name`` and looks for others.

    Stores list at once what was written, so of two writers at least one sees the other. A file whose content does not
    change for a while is of a process that was killed. Raises ``OSError``.
    """
    folder = table / name
    claim = Claim(folder / f"{_CLAIM}{uuid.uuid4().hex[:12]}")
    try:
        claim.begin()
    except OSError as err:
        err.filename = str(table)
        raise
    try:
        if _alive(others := {path: path.read_text() for path in folder.glob(f"{_CLAIM}*") if path != claim.path}):
            raise OSError(errno.EBUSY, "another process is writing it", str(table))
        for path in others:
            path.unlink(missing_ok=True)
        held = ClaimedPath(*table.parts)
        held.claim = claim
        yield held
    finally:
        claim.end()


def _alive(others: dict[StoredPath, str]) -> bool:
    """Return whether one of the files changes or disappears within ``SILENT`` seconds."""
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
    """Return whether no other writer may have taken a table below a URL over. To be asked before each change."""
    return not isinstance(folder, StoredPath) or (isinstance(folder, ClaimedPath) and folder.claim.holds())
