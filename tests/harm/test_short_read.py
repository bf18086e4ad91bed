"""A page that gets shorter while it is read is told; offsets are those of the file, wherever in it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from harmed import data_directory, faults, no_trace, pagectl, pages_of, record, spans
from program import call

from pagefmt.change.compaction.copy_out import copy_file
from pagefmt.codec.messages.large import LargeMessages, content_of, sha256_of
from pagefmt.storage.file_snapshot import SourceChanged
from pagefmt.storage.files import NotReadable
from pagefmt.storage.writing import Disk

RECORDS = 3000
COMMANDS = {
    "decode": ("decode", "--format", "jsonl", "--body", "none"),
    "decode --to": ("decode", "--to", "{out}.parquet"),
    "outstanding": ("outstanding", "--format", "json"),
    "ls": ("ls", "--format", "json"),
    "verify": ("verify",),
    "salvage": ("salvage", "--out", "{out}"),
}


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Create a page of 18 MB, which takes several reads."""
    return data_directory(tmp_path, {1: b"".join(record(n, "x" * 3000) for n in range(1, RECORDS + 1))})


@pytest.mark.parametrize("name", COMMANDS)
def test_cut_while_it_is_read(name: str, large: Path, tmp_path: Path) -> None:
    # Reads after 9 MB return nothing, as if the file was truncated.
    words = [word.format(out=tmp_path / "out") for word in COMMANDS[name]]
    extra = faults().reads("000000001.page", 9_000_000, 0)
    answer = pagectl("pages", words[0], large, *words[1:], extra=extra)
    no_trace(answer)
    assert answer.status == 1, answer
    assert "000000001.page" in answer.out + answer.err
    assert any(word in answer.out + answer.err for word in ("shorter", "changed", "being written", "cut")), answer


@pytest.mark.parametrize("at", [10, RECORDS - 200, RECORDS - 1], ids=["first piece", "later", "last record"])
@pytest.mark.parametrize("form", ["jsonl", "text", "csv"])
def test_offsets_are_of_the_file(at: int, form: str, large: Path) -> None:
    page = pages_of(large)[0]
    content = bytearray(page.read_bytes())
    start = spans(content)[at][0]
    content[start + 14] = 99  # persister
    page.write_bytes(content)
    answer = call("pages", "decode", large, "--format", form, "--body", "none")
    assert answer.status == 1
    (line,) = [line for line in answer.err.splitlines() if "undecodable" in line]
    assert f"offset {start}" in line and f"at {start + 14}" in line, line


@pytest.mark.parametrize("at", [10, RECORDS - 200], ids=["first piece", "later"])
def test_offsets_inside_of_a_message_are_of_the_file(at: int, large: Path) -> None:
    # Properties are a block of their own, but offsets must refer to the file.
    page = pages_of(large)[0]
    start, end = spans(page.read_bytes())[at]
    broken = bytearray(record(at + 1, "x" * 2990, properties={"p": "v"}))
    found = broken.index(struct.pack(">i", 1) + struct.pack(">i", 2) + "p".encode("utf-16-le"))
    broken[found : found + 4] = struct.pack(">i", 999)
    content = page.read_bytes()
    page.write_bytes(content[:start] + broken + content[end:])
    answer = call("pages", "decode", large, "--format", "jsonl", "--body", "none")
    (line,) = [line for line in answer.err.splitlines() if "undecodable" in line]
    assert f"at {start + found}" in line, line


def test_a_body_that_is_cut_while_it_is_read_is_not_taken_for_whole(tmp_path: Path) -> None:
    (tmp_path / "7.msg").write_bytes(b"x" * 1000)
    file = LargeMessages(tmp_path).find(7)
    assert file is not None
    os.truncate(file.path, 999)
    for read in (lambda: b"".join(file.chunks()), lambda: content_of(file, 2000), lambda: sha256_of(file)):
        with pytest.raises(NotReadable, match=r"7\.msg: ends at offset 999"):
            read()
    assert b"".join(file.chunks(10)) == b"x" * 10


@pytest.mark.parametrize("size", [1 << 20, 5 << 20], ids=["cut", "growing"])
def test_what_changes_its_size_while_it_is_copied(size: int, tmp_path: Path) -> None:
    # A shorter copy is an error; bytes appended while copying are ignored.
    path, to = tmp_path / "1.amq", tmp_path / "copy"
    path.write_bytes(b"x" * (3 << 20))

    class ChangingDisk(Disk):
        def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
            first, *rest = self.changed(iter(parts))
            super().create(path, [first, *rest], like)

        def changed(self, parts: Iterator[bytes | memoryview]) -> Iterator[bytes | memoryview]:
            yield next(parts)
            os.truncate(tmp_path / "1.amq", size)
            yield from parts

    disk = ChangingDisk()
    with disk.below(tmp_path):
        if size < 3 << 20:
            with pytest.raises(SourceChanged, match="became shorter while it was copied"):
                copy_file(path, to, disk)
        else:
            copy_file(path, to, disk)
    assert (to.stat().st_size if to.exists() else None) == (None if size < 3 << 20 else 3 << 20)
