"""The large-messages directory: one file a body, named by the message id (docs/spec/messages.md 10).

<id>.msg     body of a durable message
<id>.tmp     body of a non-durable message, or one still arriving; a broker deletes it at start
<id>.sync    a replication backup is copying it
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagefmt.codec.wire import Undecodable
from pagefmt.storage.file_trees import FarEntry
from pagefmt.storage.files import NotReadable, fill, listed, not_listed, open_file

# Bytes of a body that are read or inflated at once, at most.
BODY_LIMIT: Final = 16 << 20
SUFFIXES: Final = (".msg", ".tmp")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_NAME: Final = re.compile(r"([+-]?\d+)\.[^.]*")
_CHUNK: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A file with the body of a large message.

    ``id`` is None when the name has none; ``modified``: when it was written last (ms).
    """

    name: str
    path: Path
    id: int | None
    size: int
    modified: int = 0

    @property
    def stops_start(self) -> bool:
        """Return whether a starting broker fails on the file: it parses the part before the first dot as a number."""
        number = _NUMBER.fullmatch(self.name.split(".")[0])
        return self.name.endswith(".msg") and (number is None or not -(1 << 63) <= int(number[0]) < 1 << 63)

    def chunks(self, limit: int | None = None) -> Iterator[bytes]:
        """Yield at most ``limit`` bytes of the body in chunks.

        Raise ``NotReadable``, also if the file became shorter.
        """
        opened = open_file(self.path)
        try:
            end = self.size if limit is None else min(limit, self.size)
            for at in range(0, end, _CHUNK):
                chunk = bytearray(min(_CHUNK, end - at))
                _, problem = fill(opened, memoryview(chunk), at)
                if problem is not None:
                    raise NotReadable(f"{self.path}: {problem}", problem)
                yield bytes(chunk)
        finally:
            opened.close()


@dataclass(frozen=True, slots=True)
class LargeMessages:
    """The directory, which need not exist."""

    path: Path

    def find(self, message_id: int) -> LargeFile | None:
        """Return the body file of a message: ``.msg``, else ``.tmp``, else None. Only regular files count.

        Raises ``NotReadable`` if this user may not look, so that it is not known whether there is one.
        """
        for suffix in SUFFIXES:
            path = self.path / f"{message_id}{suffix}"
            try:
                status = path.lstat()
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as err:
                raise not_listed(path, err) from err
            if stat.S_ISREG(status.st_mode):
                return LargeFile(path.name, path, message_id, status.st_size, _moment(status))
        return None

    def files(self) -> list[LargeFile]:
        """Return the files by id, then by name; those without an id first. Raise ``NotReadable``."""
        return sorted(self.unsorted(), key=lambda file: (file.id is not None, file.id or 0, file.name))

    def unsorted(self) -> Iterator[LargeFile]:
        """Yield the files as the system lists them. Raise ``NotReadable``."""
        try:
            with listed(self.path) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False) and (status := _status_of(entry)) is not None:
                        path, number = self.path / entry.name, _id_of(entry.name)
                        yield LargeFile(entry.name, path, number, status.st_size, _moment(status))
        except FileNotFoundError:
            return
        except OSError as err:
            raise not_listed(self.path, err) from err


def _moment(status: os.stat_result) -> int:
    return status.st_mtime_ns // 1_000_000


def _status_of(entry: os.DirEntry[str] | FarEntry) -> os.stat_result | None:
    """Return the status of a file, None if a running broker deleted it meanwhile."""
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def _id_of(name: str) -> int | None:
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


def content_of(file: LargeFile | None, limit: int) -> bytes | None:
    """Return the body of a large message, or None without a file.

    Raise ``NotReadable``; ``Undecodable`` above ``limit``.
    """
    if file is None:
        return None
    if file.size > limit:
        raise Undecodable(0, f"the body has {file.size} bytes, more than the {limit} that are shown")
    return b"".join(file.chunks())


def sha256_of(file: LargeFile) -> str:
    """Hex digest of the body. Raises ``NotReadable``."""
    import hashlib

    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    return digest.hexdigest()
