"""Memory follows from what is looked at, one page or folder at a time; names of folders are any bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from golden_cases import spread
from harmed import OTHER_FOLDER, data_directory, golden, pagectl, pages_of, peak, record, spans, store, stores_of

MIB = 1 << 20
MOST = 400 * MIB
"""Whatever is asked of one record of tens of megabytes, the interpreter with its libraries included."""


def damaged_pages(tmp_path: Path, count: int) -> Path:
    page = bytearray(b"".join(record(n, "x" * 1000) for n in range(480)))  # about a megabyte
    page[spans(bytes(page))[3][0]] ^= 4
    return data_directory(tmp_path, {number: bytes(page) for number in range(1, count + 1)})


def test_salvage_holds_one_page_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    _, few = peak("pages", "salvage", damaged_pages(tmp_path / "few", 2), "--out", tmp_path / "out2")
    answer, many = peak("pages", "salvage", damaged_pages(tmp_path, 80), "--out", tmp_path / "out80")
    assert answer.status in (0, 1), answer
    assert many - few < 32 * MIB, f"{few / MIB:.0f} MiB for 2 pages, {many / MIB:.0f} for 80"


def test_holes_of_a_sparse_page_take_no_memory(tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    _, few = peak("pages", "salvage", damaged_pages(tmp_path / "few", 1), "--out", tmp_path / "out1")
    data = data_directory(tmp_path, {1: record(1) + record(2)})
    (page,) = pages_of(data)
    with page.open("r+b") as file:
        file.seek(512 * MIB)
        file.write(record(3))
    answer, most = peak("pages", "salvage", data, "--out", tmp_path / "out")
    assert answer.status == 1 and "2 messages in place (0 repaired), 1 in new pages" in answer.out, answer
    assert most - few < 48 * MIB, f"{(most - few) / MIB:.0f} MiB"


BODIES = ("text", "none", "value", "size", "base64", "sha256")
LARGE = [
    *(f"decode --format jsonl --body {body}" for body in BODIES), "decode --to {out}.parquet --body none", "inspect",
    "decode --to {out}.parquet --body text", "verify", "decode --where JMSPriority=4 --format text", "outstanding",
    "ls",
]  # fmt: skip


@pytest.mark.parametrize("command", spread(LARGE, 2))
def test_one_large_record(command: str, tmp_path: Path) -> None:
    # A record of 35 MB may take about ten times its size.
    data = data_directory(tmp_path, {1: record(1, "x" * (35 << 19)) + record(2)})
    name, *words = command.format(out=tmp_path / "out").split()
    answer, most = peak("pages", name, data, *words)
    assert answer.status in (0, 1), answer
    assert most < MOST, f"{most / MIB:.0f} MiB"


@pytest.mark.parametrize("queues", [1_000_000, 1], ids=["queues", "properties"])
@pytest.mark.parametrize(
    "command", [("decode", "--format", "jsonl"), ("decode", "--to", "{out}.parquet"), ("verify",)], ids=" ".join
)
def test_one_record_of_many_parts(queues: int, command: tuple[str, ...], tmp_path: Path) -> None:
    properties = {} if queues > 1 else {f"property{n}": "value" for n in range(100_000)}
    page = record(1, "x", tuple(range(queues)), properties=properties) + record(2)
    words = [word.format(out=tmp_path / "out") for word in command]
    answer, most = peak("pages", words[0], data_directory(tmp_path, {1: page}), *words[1:], seconds=40)
    assert answer.status in (0, 1), answer
    assert most < MOST, f"{most / MIB:.0f} MiB"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two data directories, the second with ten thousand empty stores."""
    few, many = (data_directory(tmp_path_factory.mktemp(name)) for name in ("few", "many"))
    for number in range(10_000):
        (many / "paging" / f"{number:08x}-1111-11ee-8111-111111111111").mkdir()
    return few, many


@pytest.mark.parametrize("command", ["verify", "ls", "outstanding", "compact"])
def test_empty_folders(command: str, folders: tuple[Path, Path]) -> None:
    # A folder may take about two kilobytes, because stores are listed before processes share them and ls sorts its
    # rows.
    few, many = folders
    _, little = peak("pages", command, few)
    answer, most = peak("pages", command, many)
    assert answer.status in (0, 1), answer
    assert most - little < 10_000 * 2100, f"{(most - little) / 10_000:.0f} bytes a folder"


# ---------------------------------------------------------------- names


BYTES = [b"x\xff", b"\xc3(", b"a\nb", "\u202ename".encode()]


@pytest.mark.parametrize("name", BYTES, ids=repr)
@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl", "csv", "text"])
def test_a_folder_name_of_any_bytes(form: str, name: bytes, tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    folder = stores_of(data)[0]
    os.rename(folder, os.fsencode(folder.parent) + b"/" + name)  # noqa: PTH104 (a name of any bytes)
    out = tmp_path / f"x.{form}"
    answer = pagectl("pages", "decode", data, "--to", out, "--format", form)
    assert answer.status == 0 and "internal error" not in answer.err, answer
    if form == "parquet":
        from pyarrow import parquet

        assert parquet.read_metadata(out).num_rows == 47


@pytest.mark.parametrize("name", BYTES, ids=repr)
@pytest.mark.parametrize(
    "words",
    [
        ("pages", "ls", "--format", "json"),
        ("pages", "ls", "--format", "csv"),
        ("pages", "outstanding", "--format", "json"),
        ("pages", "verify", "--format", "jsonl"),
        ("pages", "compact", "--format", "json"),
        ("pages", "compact", "--in-place"),
        ("pages", "seal"),
        ("pages", "inspect"),
        ("disk", "usage", "--format", "json"),
        ("pages", "salvage", "--out", "{out}"),
        ("pages", "compact", "--out", "{out}"),
    ],
    ids=" ".join,
)
def test_every_command_takes_it(words: tuple[str, ...], name: bytes, tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    folder = stores_of(data)[0]
    store(data / "paging", {1: record(1) + b"?"}, "b", OTHER_FOLDER)
    os.rename(folder, os.fsencode(folder.parent) + b"/" + name)  # noqa: PTH104 (a name of any bytes)
    rest = [word.format(out=tmp_path / "out") for word in words[2:]]
    answer = pagectl(*words[:2], data, *rest)
    assert answer.status in (0, 1) and "internal error" not in answer.err, answer
    assert len(pages_of(data / "paging")) == 7
