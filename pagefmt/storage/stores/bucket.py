"""Buckets and containers, through obstore.

A bucket has no folders: a folder is what precedes a slash in the names of objects. An object is written whole or not
at all, and cannot be renamed.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError

from pagefmt.parallel import disable_fork
from pagefmt.storage.file_trees import FarEntry, OpenFile, status_of
from pagefmt.storage.interruptible_calls import LIMITS
from pagefmt.storage.stores.answers import REPLACED, short_reason, translated_answer
from pagefmt.storage.stores.base import RETRY_SECONDS, RemoteStore, UnusableUrl, settings_of

if TYPE_CHECKING:
    from obstore import ObjectMeta

_PART: Final = 8 << 20  # bytes of an upload's parts; a smaller file is sent by one request
_PARTS_AT_ONCE: Final = 4
_STALLED: Final = "20s"  # without a byte of an answer; time of the store's work while it copies does not count
_RETRIES: Final = {
    "max_retries": 2,
    "backoff": {"init_backoff": timedelta(milliseconds=20), "max_backoff": timedelta(milliseconds=200), "base": 2},
}
_NO_NAME: Final = ".pagectl-nothing"  # a folder that nobody has
# what libraries write into URLs in different ways
_ODD: Final = re.compile(r"[^A-Za-z0-9._~=/-]")


class BucketStore(RemoteStore):
    """A bucket. ``options``: the settings of its client, by the names that Rust's ``object_store`` has for them.

    obstore repeats a request that fails a few times, at once; ``ask`` does so for longer, and says how often. Reading
    ends if no byte comes for a while; writing may take as long as an answer of a store may.
    """

    client: ClassVar[Any]  # obstore's class

    def __init__(self, scheme: str, authority: str, query: str) -> None:
        super().__init__(f"{scheme}://{authority}")
        disable_fork()
        self.name = authority
        self._query = settings_of(query)
        self.options: dict[str, str] = {}
        self._reader: Any = None
        self._writer: Any = None

    @classmethod
    def at(cls, scheme: str, authority: str, query: str) -> BucketStore:
        """Return the store, whose client is made without a request."""
        store = cls(scheme, authority, query)
        store.connect()
        return store

    def connect(self) -> None:
        """Make the clients. Raises ``UnusableUrl`` for settings that obstore does not accept."""
        arguments = self.configured() | {"retry_config": _RETRIES}
        arguments["config"] = {name: value for name, value in self.options.items() if name != "allow_http"}
        client = {"allow_http": self.options.get("allow_http") == "true", "timeout": f"{LIMITS.seconds:.0f}s"}
        try:
            self._reader = self.client(self.name, client_options=client | {"read_timeout": _STALLED}, **arguments)
            self._writer = self.client(self.name, client_options=client, **arguments)
        except (BaseError, ValueError) as err:
            raise UnusableUrl(f"{self.shown}: {short_reason(str(err))}") from err

    @abstractmethod
    def configured(self) -> dict[str, Any]:
        """Fill ``options`` from the URL and the environment; return further arguments of obstore's class."""

    def deltalake_options(self) -> dict[str, str]:
        """Return settings that deltalake needs beside ``options``."""
        return {}

    def use_endpoint(self, option: str, host: str, scheme: str, path: str = "") -> None:
        """Set the address of a server that is not the usual one."""
        self.options |= {option: f"{scheme}://{host}{path}", "allow_http": str(scheme == "http").lower()}

    def translated(self, err: Exception) -> OSError | None:
        """Return the error of a local file."""
        return translated_answer(err)

    def _head(self, inner: str) -> ObjectMeta:
        """Ask for the size, time and ETag of an object. If it is refused, only the answer to a list says why."""
        try:
            meta: ObjectMeta = obstore.head(self._reader, inner)
        except BaseError:
            self._is_folder(_NO_NAME)
            raise
        return meta

    def _is_folder(self, inner: str) -> bool:
        return bool(next(iter(obstore.list(self._reader, inner)), ()))

    def status(self, inner: str) -> os.stat_result:
        """Return mode, size and time; a folder has no time. The bucket is a folder, also an empty one."""

        def once() -> os.stat_result:
            try:
                if inner:
                    return _status(self._head(inner))
            except FileNotFoundError:
                if not self._is_folder(inner):
                    raise
            else:
                self._is_folder("")
            return _folder()

        return self.ask(once)

    def entries(self, inner: str, *, deep: bool = False) -> Iterator[FarEntry]:
        """Yield what is in a folder; raise ``FileNotFoundError`` if there is nothing.

        A name may be both, of an object and before the slash of others: it comes twice, so that neither hides the
        other. The object of a folder's own name, which some tools create, is left out.

        Args:
            inner: The folder.
            deep: With what is in its folders, by names with slashes; nothing if the folder does not exist.
        """
        prefix = f"{inner}/" if inner else ""
        folders: Iterable[str]
        if deep:
            objects = self.ask(lambda: [item for chunk in obstore.list(self._reader, inner) for item in chunk])
            names = [item["path"].removeprefix(prefix) for item in objects]
            folders = sorted({name[:at] for name in names for at, char in enumerate(name) if char == "/"})
        else:
            listed = self.ask(lambda: obstore.list_with_delimiter(self._reader, inner))
            objects = [*listed["objects"]]
            folders = [path.removeprefix(prefix) for path in listed["common_prefixes"]]
            if inner and not objects and not folders:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        yield from (FarEntry(name, _folder()) for name in folders)
        for item in objects:
            if item["path"] != inner:
                yield FarEntry(item["path"].removeprefix(prefix), _status(item))

    def opened(self, inner: str) -> OpenFile:
        """Return the object for reading; its size and ETag are asked for at once."""
        return _StoredObject(self, inner, self.ask(lambda: self._head(inner)))

    def read(self, inner: str, count: int, at: int, version: ObjectMeta) -> bytes:
        """Return a range of an object. Raise ``OSError`` if it is not of the version that was opened."""

        def once() -> bytes:
            answer = obstore.get(self._reader, inner, options={"range": (at, at + count)})
            if (answer.meta["e_tag"], answer.meta["size"]) != (version["e_tag"], version["size"]):
                raise OSError(*REPLACED)
            return bytes(answer.bytes())

        return self.ask(once)

    def put(self, inner: str, content: bytes | Path, *, in_place: bool = False) -> None:
        """Write an object, which readers see completely or not at all."""
        self._write(lambda: obstore.put(self._writer, inner, content, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE))

    def create(self, inner: str, data: bytes) -> None:
        """Write an object by one request on condition that it does not exist.

        Raises ``FileExistsError``, also if an earlier attempt of this call has made it, whose answer was lost.
        """
        self.refuse_odd(inner)

        def once() -> None:
            try:
                obstore.put(self._writer, inner, data, mode="create", use_multipart=False)
            except AlreadyExistsError as err:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from err

        self._write(once)

    def _write(self, request: Callable[[], object]) -> None:
        self.ask(request, writes=True)

    def move(self, inner: str, target: str) -> None:
        """Copy an object within the store, then delete it. If this stops between the two, both exist."""
        self._write(lambda: obstore.copy(self._writer, inner, target))
        self.remove(inner)

    def remove(self, inner: str) -> None:
        """Delete an object. Amazon's store does not say whether there was one."""
        self.ask(lambda: obstore.delete(self._reader, inner))

    def remove_folder(self, inner: str) -> None:
        """Delete all objects below a folder; without any, nothing happens."""

        def once() -> None:
            paths = [item["path"] for chunk in obstore.list(self._reader, inner) for item in chunk]
            if paths:
                obstore.delete(self._reader, paths)

        self.ask(once)

    def table_location(self, inner: str) -> tuple[str, dict[str, str]]:
        """Return the URL by which a table's log names a folder, and the settings with which deltalake reaches it.

        Raises ``UnusableUrl`` for a name that libraries write into URLs in different ways.
        """
        self.refuse_odd(inner)
        repeat = {"retry_timeout": f"{RETRY_SECONDS:.0f}s", "max_retries": "100"}
        authority = self.shown.partition("://")[2].rpartition("@")[2] if self.holder == "bucket" else self.name
        return f"{self.schemes[0]}://{authority}/{inner}", self.options | self.deltalake_options() | repeat

    def refuse_odd(self, inner: str) -> None:
        """Raise ``UnusableUrl`` for a name that libraries write into URLs in different ways."""
        if odd := _ODD.search(inner):
            raise UnusableUrl(f"{self.shown}/{inner}: give it a name without {odd[0]!r}")


class _StoredObject(OpenFile):
    """An object that is read in ranges. ``_version``: its ETag and size when it was opened."""

    __slots__ = ("_inner", "_store", "_version")

    def __init__(self, store: BucketStore, inner: str, version: ObjectMeta) -> None:
        self._store, self._inner, self._version = store, inner, version

    def size(self) -> int:
        return self._version["size"]

    def read_at(self, count: int, at: int) -> bytes:
        """Return a range by one request, which fails if the object was replaced since it was opened."""
        count = min(count, self.size() - at)
        return self._store.read(self._inner, count, at, self._version) if count > 0 else b""


def _folder() -> os.stat_result:
    return status_of(stat.S_IFDIR | 0o700)


def _status(meta: ObjectMeta) -> os.stat_result:
    modified = meta["last_modified"].timestamp()
    return status_of(stat.S_IFREG | 0o600, meta["size"], modified, modified)
