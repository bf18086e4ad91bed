"""The contents of a backup archive, read in place: nothing that an archive names is ever created on the disk.

A tar is read at offsets found in a pass over its headers, a zip member by member. A compressed tar is one stream: the
files of brokers in it go into an unnamed temporary file, which disappears with the process, however that ends; until
then other processes of the machine may read it. Names are only keys: as tar does when it unpacks, everything before the
last ``..`` and leading slashes are ignored, and of several members with one name the last counts.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import pickle
import shutil
import stat
import tarfile
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import isfinite
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pagefmt.storage.file_trees import (
    COMPRESSED,
    SECTOR,
    FarEntry,
    FileStream,
    FileTree,
    LocalFile,
    OpenFile,
    form_of,
    status_of,
)

if TYPE_CHECKING:
    from pyarrow import NativeFile

LEFT_FREE: Final = 0.1  # share of a file system that a temporary file leaves free
MOST_RATIO: Final = 1000  # a higher ratio of unpacked to packed bytes is taken for a decompression bomb
RATIO_FROM: Final = 16 << 30  # bytes; below this, empty journals legitimately expand more
MOST_MEMBERS: Final = 5_000_000  # more members would fill the memory
_XZ_MEMORY: Final = 1 << 28
_AHEAD: Final = 1 << 16
_PIECE: Final = 1 << 20
_MOST_OF_A_HEADER: Final = 1 << 20
_HERE: Final = frozenset((
    "paging", "messagingpaging", "journal", "messagingjournal", "bindings", "messagingbindings", "large-messages",
    "largemessages", "messaginglargemessages", "address.txt",
))  # fmt: skip
# endings of files that are read wherever they lie
_READ_ANYWHERE: Final = (".page", ".page.invalidPage", ".amq", ".hq", ".bindings", ".jms", ".bkp")
# compression methods that Python unpacks, the last one since 3.14
_ZIPPED: Final = frozenset(
    getattr(zipfile, f"ZIP_{name}", None) for name in ("STORED", "DEFLATED", "BZIP2", "LZMA", "ZSTANDARD")
)
_Decoder: TypeAlias = lzma.LZMADecompressor | bz2.BZ2Decompressor


class Member(NamedTuple):
    """One member of an archive.

    ``parts``: (offset in the member, bytes, offset in the file that contains it); between them are zeros.
    """

    mode: int
    size: int
    modified: float
    parts: tuple[tuple[int, int, int], ...] | None = ()
    info: zipfile.ZipInfo | None = None


class Unpacked(NamedTuple):
    """What a process of this machine has unpacked: the open file, and where in it its members are listed.

    ``token``: the bytes before the list, so that no other file is mistaken for it.
    """

    file: str
    listed_at: int
    token: bytes


class Archive(FileTree):
    """The members of an archive by name. ``kept``: the file with their bytes, unless the archive is a zip."""

    def __init__(
        self,
        members: Iterable[tuple[str, Member]],
        kept: OpenFile,
        zipped: zipfile.ZipFile | None,
        written: float,
        unpacked: Unpacked | None = None,
    ) -> None:
        self._kept, self._zipped, self._written, self._unpacked = kept, zipped, written, unpacked
        self._members: dict[str, Member] = {}
        self._folders: dict[str, dict[str, None]] = {"": {}}
        for name, member in members:
            key = _key(name)
            if key:
                self._members[key] = member
                self._beneath(key)
                if stat.S_ISDIR(member.mode):
                    self._folders.setdefault(key, {})
        self._refuse_two_kinds()

    def _refuse_two_kinds(self) -> None:
        """Raise ``OSError`` if a broker's file is both a file and a folder: one would hide the other."""
        for key, inside in self._folders.items():
            member = self._members.get(key)
            if inside and member is not None and not stat.S_ISDIR(member.mode) and _of_a_broker(key):
                raise OSError(
                    errno.EINVAL,
                    f"holds {key} and, as if that were a folder, {next(iter(inside))} in it; unpack it "
                    "yourself, and see which of the two is meant",
                )

    def unpacked(self) -> Unpacked | None:
        """Return what other processes of this machine can read while this object exists, or None."""
        if self._unpacked is None and isinstance(self._kept, _UnnamedFile):
            self._unpacked = self._kept.listing(pickle.dumps([*self._members.items()]))
        return self._unpacked

    @property
    def unpacked_bytes(self) -> int:
        """Return the size of the temporary file."""
        return self._kept.size() if isinstance(self._kept, _UnnamedFile) else 0

    def _beneath(self, key: str) -> None:
        folder, _, name = key.rpartition("/")
        if folder not in self._folders:
            self._folders[folder] = {}
            self._beneath(folder)
        self._folders[folder][name] = None

    def status(self, inner: str) -> os.stat_result:
        """Return the status of a member. Its rights are the archive's, which callers check."""
        if inner in self._folders:
            return status_of(stat.S_IFDIR | 0o700)
        member = self._members.get(inner)
        if member is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return status_of(stat.S_IFMT(member.mode) | 0o600, member.size, member.modified, self._written)

    def entries(self, inner: str) -> Iterator[FarEntry]:
        """Yield the entries of a folder in the order of the archive."""
        if inner not in self._folders:
            raise (NotADirectoryError if inner in self._members else FileNotFoundError)(errno.ENOENT, "no such folder")
        prefix = f"{inner}/" if inner else ""
        for name in self._folders[inner]:
            yield FarEntry(name, self.status(prefix + name))

    def opened(self, inner: str) -> OpenFile:
        """Open a member, also while others are open. Raise ``OSError`` if it is no regular file or was not unpacked."""
        self.status(inner)
        member = self._members.get(inner)
        if member is None or not stat.S_ISREG(member.mode):
            raise OSError(
                errno.EINVAL, "not a regular file, so it is not read; links, pipes and devices are left alone"
            )
        if member.info is not None and self._zipped is not None:
            return _ZippedFile(self._zipped, member.info)
        if member.parts is None:
            raise OSError(errno.EINVAL, "not unpacked, because it is not part of a data directory")
        return _MemberFile(self._kept, member.size, member.parts)


class _MemberFile(OpenFile):
    __slots__ = ("_kept", "_parts", "_size")

    def __init__(self, kept: OpenFile, size: int, parts: tuple[tuple[int, int, int], ...]) -> None:
        self._kept, self._size, self._parts = kept, size, parts

    def size(self) -> int:
        return self._size

    def read_at(self, count: int, at: int) -> bytes:
        """Read bytes of the member. Holes read as zeros. If the archive is cut off, fewer bytes are returned."""
        end = min(at + count, self._size)
        content = b""
        for begin, size, where in self._parts:
            first, last = max(at, begin), min(end, begin + size)
            if first < last:
                content += bytes(first - at - len(content))
                piece = _all_of(self._kept, last - first, where + first - begin)
                content += piece
                if len(piece) < last - first:
                    return content
        return content + bytes(max(0, end - at - len(content)))


class _ZippedFile(OpenFile):
    __slots__ = ("_info", "_stream")

    def __init__(self, zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
        self._info = info
        try:
            self._stream = zipped.open(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as err:
            raise OSError(errno.EIO, f"it cannot be read from the archive: {err}") from err

    def size(self) -> int:
        return self._info.file_size

    def read_at(self, count: int, at: int) -> bytes:
        """Read bytes of the member. Reading backwards unpacks it from its start again."""
        try:
            self._stream.seek(at)
            return self._stream.read(count)
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as err:
            raise OSError(errno.EIO, f"it cannot be read from the archive: {err}") from err

    def close(self) -> None:
        self._stream.close()


def archive_of(name: str, file: OpenFile, written: float) -> Archive:
    """Open the archive in a file, by the ending of its name. ``written``: its time of change. Raise ``OSError``."""
    name = name.lower()
    codec = next((codec for suffix, codec in COMPRESSED.items() if name.endswith(suffix)), None)
    content = _Content(file.size())
    kept: OpenFile = file
    zipped = None
    try:
        if name.endswith(".zip"):
            zipped = zipfile.ZipFile(io.BufferedReader(FileStream(file), _AHEAD))
            members = list(_zipped(zipped, content))
            _refuse_archive_in_front(file, zipped)
        elif codec is None:
            members = list(_tarred(io.BufferedReader(FileStream(file), _AHEAD), None, content))
        else:
            kept = _UnnamedFile()
            members = list(_tarred(_Decompressed(file, codec), kept, content))
        return Archive(members, kept, zipped, written)
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        EOFError,
        RecursionError,
        UnicodeError,
        ValueError,
        NotImplementedError,
    ) as err:
        form, named = form_of(_all_of(file, SECTOR, 0)), "zip" if name.endswith(".zip") else codec or "tar"
        ask = "is it complete?" if form in (None, named) else f"its name says {named}, but it is packed with {form}"
        raise OSError(errno.EIO, f"cannot be read as an archive: {err}; {ask}") from err


def unpacked_archive(shared: Unpacked, written: float) -> Archive | None:
    """Return the archive that another process has unpacked; None if it is gone, or on another machine."""
    try:
        fd = os.open(shared.file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    archive = None
    try:
        status = os.fstat(fd)
        size = status.st_size - shared.listed_at
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and size > len(shared.token):
            file = LocalFile(fd)
            listed = _all_of(file, size, shared.listed_at)
            if listed.startswith(shared.token):
                archive = Archive(pickle.loads(listed[len(shared.token) :]), file, None, written, shared)
    finally:
        if archive is None:
            os.close(fd)
    if archive is not None:
        weakref.finalize(archive, os.close, fd)
    return archive


def _key(name: str) -> str:
    parts = [part for part in name.replace("\0", "").split("/") if part not in ("", ".")]
    upto = len(parts) - parts[::-1].index("..") if ".." in parts else 0
    return "/".join(parts[upto:])


def _of_a_broker(name: str) -> bool:
    path = PurePosixPath(name)
    return not _HERE.isdisjoint(path.parts) or path.name.endswith(_READ_ANYWHERE)


class _Content:
    """The amount of data that an archive unpacks into, added up from its headers before it is unpacked."""

    def __init__(self, packed: int) -> None:
        self._packed, self._members, self._bytes = packed, 0, 0

    def add(self, size: int, members: int = 1) -> None:
        """Count a member, or bytes between members. Raise ``OSError`` if this is more than any backup contains."""
        self._members += members
        self._bytes += size + tarfile.BLOCKSIZE
        times = self._bytes // max(self._packed, 1)
        if self._members > MOST_MEMBERS or (self._bytes > RATIO_FROM and times > MOST_RATIO):
            raise OSError(
                errno.EFBIG,
                f"unpacks into {self._bytes} bytes and {self._members} files or more, {times} times its own "
                f"{self._packed} bytes, which no backup does; it is not read",
            )


def _zipped(zipped: zipfile.ZipFile, content: _Content) -> Iterator[tuple[str, Member]]:
    for info in zipped.infolist():
        content.add(info.file_size)
        name = _zipped_name(info)
        if info.flag_bits & 1:
            raise OSError(errno.EACCES, "is encrypted; decrypt it first")
        if info.compress_type not in _ZIPPED and _of_a_broker(name):
            raise OSError(
                errno.ENOTSUP,
                f"compresses {name} by zip method {info.compress_type}, which is not supported (Deflate is); "
                "unpack it yourself",
            )
        mode = info.external_attr >> 16
        kind = stat.S_IFMT(mode) or (stat.S_IFDIR if name.endswith("/") else stat.S_IFREG)
        yield name, Member(kind, info.file_size, 0.0, info=info)


def _refuse_archive_in_front(file: OpenFile, zipped: zipfile.ZipFile) -> None:
    """Raise ``OSError`` if another zip precedes the one that is read; a program that unpacks it may."""
    first = min((info.header_offset for info in zipped.infolist()), default=0)
    if first and form_of(_all_of(file, SECTOR, 0)) == "zip":
        raise OSError(errno.EINVAL, f"another archive stands in front of it, up to offset {first}; unpack it yourself")


def _zipped_name(info: zipfile.ZipInfo) -> str:
    r"""Return the member's name. Some programs of Windows write \ for /, which unzip accepts as well."""
    return info.filename.replace("\\", "/") if info.create_system == 0 and "/" not in info.filename else info.filename


def _tarred(stream: Any, kept: _UnnamedFile | None, content: _Content) -> Iterator[tuple[str, Member]]:
    """Yield name and member of a tar, in its order. Raise ``ReadError`` if it is cut off or damaged.

    ``kept``: a file to which the bytes of members that brokers have are copied; None if they stay where they are. A
    hard link counts as the member that it names.
    """
    guarded = _HeaderReader(stream)
    regular: dict[str, Member] = {}
    with tarfile.open(fileobj=guarded, mode="r:") as tar:  # type: ignore[call-overload]
        while (info := tar.next()) is not None:
            tar.members = []
            if not isfinite(info.mtime):
                raise tarfile.ReadError(f"{info.name!r} has a time that is no number")
            content.add(info.size)
            member = _member(info, guarded, kept) if info.isreg() else Member(_file_type(info), 0, info.mtime)
            if info.islnk():  # another name of an earlier member
                member = regular.get(_key(info.linkname), member)
            if stat.S_ISREG(member.mode):
                regular[_key(info.name)] = member
            yield info.name, member
        if not guarded.last:
            raise tarfile.ReadError(f"it ends at offset {tar.offset}, without the zeros at the end of a tar")
        if guarded.last.strip(b"\0"):
            raise tarfile.ReadError(f"there is no header of a member at offset {tar.offset}")
        _pass_end(guarded, content, whole=kept is not None)


def _pass_end(stream: _HeaderReader, content: _Content, *, whole: bool) -> None:
    """Check what follows the zeros that end a tar. Raise ``OSError`` if another tar begins there.

    ``whole``: read to the end of the stream, where its checksums are.
    """
    begun = False
    while block := stream.read(_PIECE):
        content.add(len(block), members=0)
        behind = block.lstrip(b"\0")
        if behind and not begun:
            begun, at = True, (len(block) - len(behind)) // tarfile.BLOCKSIZE * tarfile.BLOCKSIZE
            with suppress(tarfile.HeaderError):
                info = tarfile.TarInfo.frombuf(block[at : at + tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
                raise OSError(
                    errno.EINVAL,
                    f"another archive begins after its end, with {info.name!r}, which tar reads only with "
                    "--ignore-zeros; unpack it yourself, or join archives with tar --concatenate",
                )
        if begun and not whole:
            return


def _file_type(info: tarfile.TarInfo) -> int:
    return stat.S_IFDIR if info.isdir() else stat.S_IFLNK if info.issym() else stat.S_IFIFO


def _member(info: tarfile.TarInfo, stream: _HeaderReader, kept: _UnnamedFile | None) -> Member:
    sparse: list[tuple[int, int]] | None = getattr(info, "sparse", None)
    pieces = [(0, info.size)] if sparse is None else sparse
    _check_holes(info, pieces)
    where = info.offset_data
    if kept is not None:
        if not _of_a_broker(info.name):
            return Member(stat.S_IFREG, info.size, info.mtime, None)
        stream.seek(where)
        where = kept.take(stream, sum(size for _, size in pieces))
    parts = []
    for begin, size in pieces:
        parts.append((begin, size, where))
        where += size
    return Member(stat.S_IFREG, info.size, info.mtime, tuple(parts))


def _check_holes(info: tarfile.TarInfo, pieces: list[tuple[int, int]]) -> None:
    """Raise ``ReadError`` if the list of data between holes is wrong. GNU's list ends with empty entries."""
    end = 0
    for begin, size in filter(itemgetter(1), pieces):
        if begin < end or size < 0 or begin + size > info.size:
            raise tarfile.ReadError(f"{info.name!r}: the list of its holes is wrong at {begin}")
        end = begin + size


class _HeaderReader:
    """The file that tarfile reads, which refuses headers that would fill the memory. ``last``: the bytes read last."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.tell, self.seek = stream.tell, stream.seek
        self.last = b""

    def read(self, count: int = -1) -> bytes:
        if not 0 <= count <= _MOST_OF_A_HEADER:
            raise tarfile.ReadError(f"a header of {count} bytes")
        self.last = self._stream.read(count)
        return self.last


class _Streams:
    """The contents of the streams of an xz or bz2 file, one after another."""

    def __init__(self, file: FileStream, decoder: Callable[[], _Decoder]) -> None:
        self._file, self._new = file, decoder
        self._decoder: _Decoder | None = None

    def read(self, count: int) -> bytes:
        """Return unpacked bytes, none at the end."""
        while True:
            if self._decoder is None or self._decoder.eof:
                left = b"" if self._decoder is None else self._decoder.unused_data
                while not (left := left.lstrip(b"\0")):  # streams are padded
                    if not (left := self._file.read(_AHEAD)):
                        return b""
                self._decoder, fed = self._new(), left
            else:
                fed = self._file.read(_AHEAD) if self._decoder.needs_input else b""
                if self._decoder.needs_input and not fed:
                    raise OSError("it ends early")
            if piece := self._decoder.decompress(fed, count):
                return piece


def _unxz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)


def _stream(file: FileStream, codec: str) -> NativeFile | _Streams | gzip.GzipFile:
    """Return a stream of the unpacked content.

    Bytes after the last compressed stream raise an error, except zeros, with which tapes are padded.
    """
    match codec:
        case "gzip":
            return gzip.GzipFile(fileobj=file)
        case "xz" | "bz2":
            return _Streams(file, _unxz if codec == "xz" else bz2.BZ2Decompressor)
        case _:
            import pyarrow as pa

            return pa.CompressedInputStream(pa.PythonFile(file, "r"), codec)


class _Decompressed:
    """A compressed file from start to end."""

    def __init__(self, file: OpenFile, codec: str) -> None:
        self._stream = _stream(FileStream(file), codec)
        self._at = 0

    def tell(self) -> int:
        return self._at

    def read(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            try:
                piece = self._stream.read(count - len(content))
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as err:
                raise tarfile.ReadError(f"{str(err)[:100]} (after {self._at} unpacked bytes)") from err
            if not piece:
                break
            content += piece
            self._at += len(piece)
        return content

    def seek(self, at: int) -> int:
        """Skip forward to an offset; going back is not possible."""
        assert at >= self._at
        while at > self._at and self.read(min(_PIECE, at - self._at)):
            pass
        return self._at


class _UnnamedFile(OpenFile):
    """A temporary file without a name, which leaves a part of the file system free."""

    def __init__(self) -> None:
        self._disk = tempfile.TemporaryFile(prefix="pagectl-")  # noqa: SIM115 (closed with this)
        self._file, self._size = LocalFile(self._disk.fileno()), 0

    def size(self) -> int:
        return self._size

    def read_at(self, count: int, at: int) -> bytes:
        return self._file.read_at(count, at)

    def listing(self, members: bytes) -> Unpacked:
        """Append a list of the members, and return how other processes of this machine find it."""
        token = os.urandom(16)
        self._disk.write(token + members)
        self._disk.flush()
        return Unpacked(f"/proc/{os.getpid()}/fd/{self._disk.fileno()}", self._size, token)

    def take(self, stream: _HeaderReader, size: int) -> int:
        """Append this many bytes of a stream and return their offset.

        Raise ``OSError`` if there is no room for them.
        """
        folder = tempfile.gettempdir()
        usage = shutil.disk_usage(folder)
        if size > usage.free - LEFT_FREE * usage.total:
            raise OSError(
                errno.ENOSPC,
                f"is compressed, and {folder} has no room for its contents ({self._size + size} bytes and maybe more, "
                f"{usage.free} are free, and a tenth of the file system is kept free); set TMPDIR, or unpack it "
                "yourself",
            )
        begun = self._size
        while self._size < begun + size:
            piece = stream.read(min(_PIECE, begun + size - self._size))
            if not piece:
                raise tarfile.ReadError(f"a member ends {begun + size - self._size} bytes early")
            self._disk.write(piece)
            self._size += len(piece)
        self._disk.flush()
        return begun


def _all_of(file: OpenFile, count: int, at: int) -> bytes:
    content = file.read_at(count, at)
    while len(content) < count and (more := file.read_at(count - len(content), at + len(content))):
        content += more
    return content
