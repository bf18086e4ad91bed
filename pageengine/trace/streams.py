"""Lines of a text file that may be compressed, streamed both ways (docs/spec/trace-format.md 1).

The magic bytes decide, not the name: gzip ``1f 8b``, zstd ``28 b5 2f fd``, everything else is plain text. Memory is
bounded: compressed input is fed in small pieces, and a line longer than ``LONGEST_LINE`` is an error.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from pageengine.errors import PageEngineError
from pagefmt.storage.writing import atomic_file

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
PIECE = 1 << 20
# A kilobyte of zstd decompresses to 32 MiB at most, of gzip to 1 MiB.
COMPRESSED_PIECE = 1 << 10
LONGEST_LINE = 16 << 20
MOST_BLANKS = 1 << 20  # bytes in a row; compressed, an endless number of them is a small file


class StreamError(PageEngineError):
    """Error for a file that cannot be read as lines: damaged compression, or a line without end."""


@dataclass(slots=True)
class Ending:
    """How a file ended; filled in once its last line was returned."""

    newline: bool = True
    cut: bool = False


def compression(head: bytes) -> str:
    """Return ``gzip``, ``zstd`` or ``plain``, by the first four bytes."""
    if head.startswith(GZIP):
        return "gzip"
    return "zstd" if head.startswith(ZSTD) else "plain"


def numbered_lines(path: Path, ending: Ending, *, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """Yield every line of the file without its newline; ``ending`` records how the file ended.

    ``advance`` is called with the bytes read from the file. Raises ``StreamError``, ``OSError``.
    """
    for block in blocks_of_lines(path, ending, advance=advance):
        yield from lines_of(block)


def lines_of(block: bytes) -> list[bytes]:
    """Return the lines of a block without their newlines."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def blocks_of_lines(path: Path, ending: Ending, *, advance: Callable[[int], None] | None = None) -> Iterator[bytes]:
    """Yield the file in blocks of many lines with their newlines, decompressed.

    ``ending`` records how the file ended. ``advance`` is called with the bytes read from the file. Raises
    ``StreamError``, ``OSError``.
    """
    with path.open("rb", buffering=PIECE) as file:
        assert isinstance(file, io.BufferedReader)
        kind = compression(file.peek(4)[:4])
        pieces = _plain(file) if kind == "plain" else _unpacked(file, kind, path, ending)
        yield from _whole_lines(_counted(pieces, file, advance), path, ending)


def _counted(pieces: Iterator[bytes], file: BinaryIO, advance: Callable[[int], None] | None) -> Iterator[bytes]:
    if advance is None or not file.seekable():
        yield from pieces
        return
    seen = 0
    for piece in pieces:
        now = file.tell()
        if now != seen:
            advance(now - seen)
            seen = now
        yield piece


def _plain(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _unpacked(file: BinaryIO, kind: str, path: Path, ending: Ending) -> Iterator[bytes]:
    """Yield the decompressed bytes of all members as one stream; zero padding after a member is skipped."""
    member: Any = None
    unused = b""
    while piece := unused or file.read(COMPRESSED_PIECE):
        unused = b""
        if member is None:
            piece = piece.lstrip(b"\0")
            if not piece:
                continue
            member = _member(kind)
        try:
            yield member.decompress(piece)
        except Exception as err:
            if not isinstance(err, zlib.error) and type(err).__name__ != "ZstdError":
                raise
            raise StreamError(f"{path}: damaged {kind} stream near byte {file.tell()}; recover it from a copy") from err
        if member.eof:
            unused, member = member.unused_data, None
    ending.cut = member is not None


def _member(kind: str) -> Any:
    """Return a decompressor for one member; zlib's and zstandard's have ``decompress``, ``eof`` and ``unused_data``."""
    if kind == "gzip":
        return zlib.decompressobj(wbits=31)
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


def _whole_lines(pieces: Iterator[bytes], path: Path, ending: Ending) -> Iterator[bytes]:
    carried: list[bytes] = []
    length = lines = blank = 0
    for piece in pieces:
        trailing = len(piece) - len(piece.rstrip())
        blank = trailing + (blank if trailing == len(piece) else 0)
        if blank > MOST_BLANKS:
            raise StreamError(
                f"{path}: more than {MOST_BLANKS >> 20} MiB of blank lines after line {lines}; remove them"
            )
        if length + (piece.find(b"\n") if b"\n" in piece else len(piece)) > LONGEST_LINE:
            raise StreamError(f"{path}: line {lines + 1} is longer than {LONGEST_LINE >> 20} MiB, the longest allowed")
        end = piece.rfind(b"\n") + 1
        lines += piece.count(b"\n")
        if end:
            yield b"".join([*carried, piece[:end]])
            carried, length = [], 0
        carried.append(piece[end:])
        length += len(piece) - end
    last = b"".join(carried)
    ending.newline = not last
    if last:
        yield last


@contextmanager
def writing_lines(path: Path) -> Iterator[IO[str]]:
    """Open a text file for UTF-8 lines, compressed according to its name (``.gz``, ``.zst``); same lines, same bytes.

    It appears complete when the block ends without an error. Raises ``OSError``.
    """
    with atomic_file(path) as fresh, _opened_lines(fresh, path.suffix) as text:
        yield text


@contextmanager
def _opened_lines(path: Path, suffix: str) -> Iterator[IO[str]]:
    if suffix == ".gz":
        with (
            path.open("wb") as raw,
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
            io.TextIOWrapper(packed, "utf-8", newline="\n") as text,
        ):
            yield text
    elif suffix == ".zst":
        import zstandard

        with (
            path.open("wb") as raw,
            zstandard.ZstdCompressor(level=3).stream_writer(raw) as stream,
            io.TextIOWrapper(stream, "utf-8", newline="\n") as text,
        ):
            yield text
    else:
        with path.open("w", encoding="utf-8", newline="\n") as text:
            yield text
