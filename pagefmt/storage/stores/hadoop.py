"""HDFS, through pyarrow and Hadoop's own library, which needs Java."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from pagefmt.parallel import disable_fork
from pagefmt.storage.file_trees import FarEntry, OpenFile, status_of
from pagefmt.storage.interruptible_calls import interruptibly
from pagefmt.storage.stores.base import RETRY_SECONDS, RemoteStore, UnusableUrl
from pagefmt.storage.writing import PARTIAL_SUFFIX

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem, NativeFile

_UNKNOWN: Final = 255  # the errno of libhdfs for errors of Java that it has no other number for
_NEEDS: Final = (
    "hdfs needs Java (JAVA_HOME), Hadoop's native library (HADOOP_HOME or ARROW_LIBHDFS_DIR) and CLASSPATH of "
    "`hadoop classpath --glob`"
)
# its client would wait two minutes for each answer, and a quarter of an hour for a connection
_LIMITS: Final = (
    f"ipc.client.rpc-timeout.ms={RETRY_SECONDS * 1000:.0f}", "ipc.client.connect.max.retries.on.timeouts=0",
)  # fmt: skip
_OWN_SIGNALS: Final = "-Xrs"  # without it, Java takes Ctrl-C for itself, and ends the process before it has cleaned up
_BLOCK: Final = 8 << 20  # bytes of a local file that are sent at a time


class HadoopStore(RemoteStore):
    """The files of a name node. It can rename, and its files have no ETag."""

    schemes: ClassVar = ("hdfs", "viewfs")
    form: ClassVar = "hdfs://HOST:PORT/…"
    holder: ClassVar = "host"
    settings: ClassVar = ("user", "kerb_ticket", "replication", "buffer_size")

    def __init__(self, system: FileSystem, base: str, shown: str) -> None:
        super().__init__(shown)
        self._system, self._base = system, base.rstrip("/")

    @classmethod
    def at(cls, scheme: str, authority: str, query: str) -> HadoopStore:
        """Start Java and connect to the name node. Raises ``UnusableUrl``."""
        from pyarrow.fs import FileSystem

        disable_fork()
        shown = f"{scheme}://{authority}"
        url = f"{shown}/?{'&'.join(filter(None, (query, *_LIMITS)))}"
        options = os.environ.get("LIBHDFS_OPTS", "")
        if _OWN_SIGNALS not in options:
            os.environ["LIBHDFS_OPTS"] = f"{options} {_OWN_SIGNALS}".strip()
        try:
            system, base = interruptibly(lambda: FileSystem.from_uri(url))
        except (ValueError, NotImplementedError, OSError) as err:
            raise UnusableUrl(f"{shown}: {_reason(err)}; {_NEEDS}") from err
        return cls(system, base, shown)

    @classmethod
    def takes_user(cls, user: str) -> bool:
        """Return True: ``check_url`` refuses a user with a message of its own."""
        return True

    @classmethod
    def check_url(cls, scheme: str, authority: str, query: str) -> None:
        """Raise ``UnusableUrl`` also for a user, whom pyarrow does not heed there."""
        super().check_url(scheme, authority, query)
        if "@" in authority:
            raise UnusableUrl(f"{scheme}://…: a user goes after the ? of a URL, as user=NAME")

    def translated(self, err: Exception) -> OSError | None:
        """Return the error of a local file; what Hadoop's library has no number for may pass."""
        from pyarrow.lib import ArrowException

        if not isinstance(err, OSError | ArrowException):
            return None
        if isinstance(err, FileNotFoundError):
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if isinstance(err, PermissionError):
            return PermissionError(errno.EACCES, "the store denies access with these credentials")
        number = getattr(err, "errno", None)
        if number == _UNKNOWN:
            text = f"{_reason(err).partition(' Detail')[0]} Hadoop's library wrote the reason to standard error"
            return OSError(errno.EIO, f"the store fails: {text}")
        if number not in (None, errno.EIO) and not isinstance(err, ConnectionError):
            return OSError(number, _reason(err))
        return OSError(errno.EIO, f"the store fails: {_reason(err)}")

    def _path(self, inner: str) -> str:
        return f"{self._base}/{inner}" if inner else self._base or "/"

    def status(self, inner: str) -> os.stat_result:
        """Return mode, size and time; a folder has no time."""
        return self.ask(lambda: self._status_now(inner))

    def _status_now(self, inner: str) -> os.stat_result:
        """Return the status of a path by one request.

        pyarrow reports a path as missing also if HDFS says nothing about it, so a listing checks which it is.
        """
        from pyarrow.fs import FileSelector, FileType

        path = self._path(inner)
        info = self._system.get_file_info(path)
        if info.type == FileType.NotFound:
            self._system.get_file_info(FileSelector(path))
            info = self._system.get_file_info(path)
        return _status(info)

    def entries(self, inner: str, *, deep: bool = False) -> Iterator[FarEntry]:
        """Yield the entries of a folder. Raise ``FileNotFoundError`` if it does not exist.

        ``deep``: yield all that is below it, by paths relative to it; nothing if it does not exist.
        """
        from pyarrow.fs import FileSelector

        folder = self._path(inner)
        selector = FileSelector(folder, recursive=deep)
        try:
            infos = self.ask(lambda: self._system.get_file_info(selector))
        except FileNotFoundError:
            if not deep:
                raise
            return
        for info in infos:
            yield FarEntry(info.path.rstrip("/").removeprefix(folder).strip("/"), _status(info))

    def opened(self, inner: str) -> OpenFile:
        """Return a file for reading."""
        return _HadoopFile(self, inner, self.ask(lambda: self._system.open_input_file(self._path(inner))))

    def put(self, inner: str, content: bytes | Path, *, in_place: bool = False) -> None:
        """Write a file beside its name and rename it, because HDFS shows a file that is being written."""
        path = self._path(inner)
        target = path if in_place else path + PARTIAL_SUFFIX

        def once() -> None:
            with self._system.open_output_stream(target) as out:
                for block in (content,) if isinstance(content, bytes) else _blocks(content):
                    out.write(block)
            if target != path:
                self._system.move(target, path)

        self.ask(once, writes=True)

    def move(self, inner: str, target: str) -> None:
        self._change(inner, lambda: self._system.move(self._path(inner), self._path(target)))

    def remove(self, inner: str) -> None:
        self._change(inner, lambda: self._system.delete_file(self._path(inner)))

    def _change(self, inner: str, request: Callable[[], None]) -> None:
        """Make a request, repeated like any other. Raise ``FileNotFoundError`` if the file does not exist.

        HDFS reports a missing file and a failure by the same number, so a failed request is followed by a look-up.
        """

        def once() -> None:
            try:
                request()
            except OSError:
                self._status_now(inner)
                raise

        self.ask(once)

    def read(self, inner: str, file: NativeFile, count: int, at: int) -> bytes:
        """Return a part of an open file. Raise ``FileNotFoundError`` if reading fails because it was deleted."""

        def once() -> bytes:
            try:
                return bytes(file.read_at(count, at))
            except OSError:
                self._status_now(inner)
                raise

        return self.ask(once)

    def make_folder(self, inner: str) -> None:
        """Create a folder and its parents, unless it exists."""
        self.ask(lambda: self._system.create_dir(self._path(inner), recursive=True))

    def remove_folder(self, inner: str) -> None:
        """Delete a folder with all that is in it, if it exists."""
        with suppress(FileNotFoundError):
            self.ask(lambda: self._system.delete_dir(self._path(inner)))


class _HadoopFile(OpenFile):
    __slots__ = ("_file", "_inner", "_size", "_store")

    def __init__(self, store: HadoopStore, inner: str, file: NativeFile) -> None:
        self._store, self._inner, self._file = store, inner, file
        self._size: int = file.size()

    def size(self) -> int:
        return self._size

    def read_at(self, count: int, at: int) -> bytes:
        count = min(count, self._size - at)
        return self._store.read(self._inner, self._file, count, at) if count > 0 else b""

    def close(self) -> None:
        self._file.close()


def _blocks(local: Path) -> Iterator[bytes]:
    with local.open("rb") as file:
        yield from iter(lambda: file.read(_BLOCK), b"")


def _status(info: FileInfo) -> os.stat_result:
    from pyarrow.fs import FileType

    if info.type == FileType.NotFound:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if info.type == FileType.Directory:
        return status_of(stat.S_IFDIR | 0o700)
    modified = (info.mtime_ns or 0) / 1e9
    return status_of(stat.S_IFREG | 0o600, info.size or 0, modified, modified)


def _reason(err: Exception) -> str:
    """Return the first line of a library's error."""
    return str(getattr(err, "strerror", None) or err).strip().partition("\n")[0][:200].rstrip(": ")
