"""One page that the system does not give us costs itself alone: it is told with the reason, everything else goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harmed import (
    faults,
    golden,
    left_behind,
    no_trace,
    pagectl,
    pages_of,
    permissions_count,
    without_override,
)
from program import Answer

BAD = "000000003.page"


@dataclass(frozen=True, slots=True)
class Directory:
    """``scattered-acks`` with a page that cannot be read. ``on_the_page``: messages that stand in it."""

    data: Path
    extra: dict[str, str]
    prepare: Callable[[], None] | None
    reason: str

    def __call__(self, *words: str | Path) -> Answer:
        answer = pagectl(*words, extra=self.extra, prepare=self.prepare)
        no_trace(answer)
        return answer

    def tells(self, answer: Answer) -> None:
        said = answer.out + answer.err
        assert BAD in said and self.reason in said, answer


def no_permission(data: Path) -> Directory:
    permissions_count()
    page(data).chmod(0)
    return Directory(data, {}, without_override, "Permission denied")


def whole_page_fails(data: Path) -> Directory:
    return Directory(data, faults().reads(BAD), None, "Input/output error")


def one_sector_fails(data: Path) -> Directory:
    """What lies in front of the sector can be read."""
    return Directory(data, faults().reads(BAD, 5000), None, "Input/output error")


def opening_fails(data: Path) -> Directory:
    return Directory(data, faults().reads(BAD) | faults().opens(BAD, 1, 5), None, "Input/output error")


WAYS = [no_permission, whole_page_fails, one_sector_fails, opening_fails]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Directory:
    made: Directory = request.param(golden("scattered-acks").copy(tmp_path))
    return made


def page(data: Path) -> Path:
    (found,) = [path for path in pages_of(data) if path.name == BAD]
    return found


def elsewhere(*words: str) -> list[dict[str, Any]]:
    """What ``decode`` shows of the sound directory, but for that page."""
    lines = pagectl("pages", "decode", golden("scattered-acks").data(), "--format", "jsonl", *words).lines()
    return [line for line in lines if line["page"] != 3]


def positions(lines: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(line["page"], line["number"]) for line in lines if line["page"] != 3]


def test_verify(directory: Directory) -> None:
    answer = directory("pages", "verify", directory.data)
    assert answer.status == 1, answer
    directory.tells(answer)
    assert "6 pages read" in answer.out or "5 pages read" in answer.out, answer


def test_verify_as_lines(directory: Directory) -> None:
    answer = directory("pages", "verify", directory.data, "--format", "jsonl")
    assert answer.status == 1, answer
    pages = [line for line in answer.lines() if "file" in line and "crc32c" in line]
    assert [line["page"] for line in pages] == [1, 2, 3, 6, 7, 8]
    assert [line["page"] for line in pages if line["error"]] == [3]


@pytest.mark.parametrize("words", [(), ("--outstanding",)], ids=["all", "outstanding"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "text", "parquet", "arrow"])
def test_decode(directory: Directory, form: str, words: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / f"x.{form}"
    answer = directory("pages", "decode", directory.data, "--format", form, "--to", out, *words)
    assert answer.status == 1, answer
    directory.tells(answer)
    assert left_behind(tmp_path, {"data", out.name}) == []
    wanted = positions(elsewhere(*words))
    if form == "jsonl":
        assert positions([json.loads(line) for line in out.read_text().splitlines()]) == wanted
    elif form in ("parquet", "arrow"):
        assert set(wanted) <= set(of_table(out)), "rows of the other pages"
    else:
        assert out.stat().st_size


def of_table(path: Path) -> list[tuple[int, int]]:
    import pyarrow as pa
    from pyarrow import ipc, parquet

    table = (
        parquet.read_table(path) if path.suffix == ".parquet" else ipc.open_file(pa.memory_map(str(path))).read_all()
    )
    return list(zip(table["page"].to_pylist(), table["number"].to_pylist(), strict=True))


@pytest.mark.parametrize("words", [("inspect",), ("seal",)], ids=" ".join)
def test_inspect_and_seal_go_on(directory: Directory, words: tuple[str, ...], tmp_path: Path) -> None:
    to = ["--to", tmp_path / "seal"] if words[0] == "seal" else []
    answer = directory("pages", *words, directory.data, *to)
    assert answer.status in (1, 2), answer
    directory.tells(answer)
    if words[0] == "inspect":
        assert answer.status == 1 and "000000008.page" in answer.out, answer


def test_disk_usage_knows_sizes_all_the_same(directory: Directory) -> None:
    answer = directory("disk", "usage", directory.data, "--format", "json")
    assert answer.status in (0, 1), answer
