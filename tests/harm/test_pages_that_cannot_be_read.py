"""One page that the system does not give us costs itself alone: it is told with the reason, everything else goes on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harmed import (
    faults,
    golden,
    json_of,
    left_behind,
    no_trace,
    pagectl,
    pages_of,
    permissions_count,
    snapshot,
    without_override,
)
from program import DECODE, Answer

BAD = "000000003.page"


@dataclass(frozen=True, slots=True)
class Directory:
    """``scattered-acks`` with a page that cannot be read. ``for_a_moment``: only the first time that it is tried."""

    data: Path
    extra: dict[str, str]
    prepare: Callable[[], None] | None
    reason: str
    for_a_moment: bool = False

    def refuses(self, answer: Answer) -> bool:
        """Return whether the directory is about lack of rights, and assert that the command then refuses.

        It refuses because another user may read elsewhere what this one may not.
        """
        if self.prepare is None:
            return False
        assert answer.status == 2 and not answer.out and "run as a user who may read" in answer.err, answer
        self.tells(answer)
        return True

    def __call__(self, *words: str | Path) -> Answer:
        answer = pagectl(*words, extra=self.extra, prepare=self.prepare)
        no_trace(answer)
        return answer

    def tells(self, answer: Answer) -> None:
        said = " ".join((answer.out + answer.err).split())  # lines may be folded
        assert BAD in said and self.reason in said, answer


def no_permission(data: Path) -> Directory:
    permissions_count()
    page(data).chmod(0)
    return Directory(data, {}, without_override, "Permission denied")


def whole_page_fails(data: Path) -> Directory:
    return Directory(data, faults().reads(BAD), None, "Input/output error")


def one_sector_fails(data: Path) -> Directory:
    """Let reads of a page fail from offset 5000 on, so that earlier records remain readable."""
    return Directory(data, faults().reads(BAD, 5000), None, "Input/output error")


def opening_fails(data: Path) -> Directory:
    return Directory(
        data, faults().reads(BAD) | faults().opens(BAD, 1, 5), None, "Input/output error", for_a_moment=True
    )


WAYS = [no_permission, whole_page_fails, one_sector_fails, opening_fails]


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Directory:
    made: Directory = request.param(golden("scattered-acks").copy(tmp_path))
    return made


def page(data: Path) -> Path:
    (found,) = [path for path in pages_of(data) if path.name == BAD]
    return found


def elsewhere(*words: str) -> list[dict[str, Any]]:
    """Return the lines of ``decode`` about the sound directory, without the page that cannot be read."""
    return [line for line in sound(*words) if line["page"] != 3]


def sound(*words: str) -> list[dict[str, Any]]:
    return pagectl(*DECODE, golden("scattered-acks").data(), "--format", "jsonl", *words).lines()


def positions(lines: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(line["page"], line["number"]) for line in lines if line["page"] != 3]


def test_ls(directory: Directory) -> None:
    answer = directory("pages", "ls", directory.data, "--format", "json")
    (row,) = json_of(answer)["stores"]
    assert answer.status == 1 and row["condition"] not in ("ok", "empty")
    assert row["messages"] >= 40 and row["outstanding"] is None, "what the page holds is not known"
    assert any(BAD in remark and directory.reason in remark for remark in row["remarks"])


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


def test_outstanding(directory: Directory) -> None:
    answer = directory("pages", "outstanding", directory.data, "--format", "json", "--positions")
    assert answer.status == 1, answer
    directory.tells(answer)
    (store,) = json_of(answer)["stores"]
    held = {each["page"]: each["held_by"] for each in store["pages"]}
    assert sorted(held) == [1, 2, 3, 6, 7, 8]
    assert held[3] is None, "nobody knows who holds the page"
    (queue,) = store["queues"]
    waiting = [(number, at) for number, at in queue["positions"] if number != 3]
    assert waiting == positions(elsewhere("--outstanding"))


def test_outstanding_in_words(directory: Directory) -> None:
    answer = directory("pages", "outstanding", directory.data)
    assert answer.status == 1 and "held by nobody" not in answer.out, answer
    directory.tells(answer)


@pytest.mark.parametrize("words", [(), ("--outstanding",)], ids=["all", "outstanding"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "text", "parquet", "arrow"])
def test_decode(directory: Directory, form: str, words: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / f"x.{form}"
    command = DECODE if words else ("pages", "decode")
    answer = directory(*command, directory.data, "--format", form, "--to", out, *words)
    if directory.for_a_moment and form in ("parquet", "arrow"):  # a small page is read together with others, then alone
        assert (answer.status, answer.err.count("\n")) == (0, 1), answer
        assert of_table(out) == [(line["page"], line["number"]) for line in sound(*words)]
        return
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


def test_the_plan_of_compact(directory: Directory) -> None:
    answer = directory("pages", "compact", directory.data, "--format", "json")
    if directory.refuses(answer):
        return
    assert answer.status == 1, answer
    directory.tells(answer)
    (store,) = json_of(answer)["stores"]
    usual = json_of(pagectl("pages", "compact", golden("scattered-acks").data(), "--format", "json"))["stores"][0]
    assert store["steps"] == [step for step in usual["steps"] if step["file"] != BAD]


def test_compact_in_place(directory: Directory) -> None:
    before = snapshot(directory.data)
    answer = directory("pages", "compact", directory.data, "--in-place")
    if directory.refuses(answer):
        assert snapshot(directory.data) == before
        return
    assert answer.status == 1, answer
    directory.tells(answer)
    after = snapshot(directory.data)
    bad = page(directory.data).relative_to(directory.data).as_posix()
    assert after[bad] == before[bad]
    changed = {name for name in before if after.get(name) != before[name]}
    assert len(changed) == 5 and all(name.endswith(".page") for name in changed)


def test_a_compacted_copy_lacks_nothing(directory: Directory, tmp_path: Path) -> None:
    # A copy without the page would lose its messages silently.
    answer = directory("pages", "compact", directory.data, "--out", tmp_path / "out")
    directory.tells(answer)
    if directory.refuses(answer):
        assert not (tmp_path / "out").exists()
    elif directory.for_a_moment:
        assert answer.status == 1, "read in the plan in vain, copied all the same"
        assert (tmp_path / "out" / page(directory.data).relative_to(directory.data)).stat().st_size
    else:
        assert answer.status == 2 and not (tmp_path / "out").exists()
        assert "salvage" in answer.err, answer


def test_salvage(directory: Directory, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = directory("pages", "salvage", directory.data, "--out", out, "--format", "json")
    if directory.refuses(answer):
        return
    (store,) = json_of(answer)["stores"]
    told = any(loss["file"] == BAD and directory.reason in loss["detail"] for loss in store["lost"])
    assert (answer.status, told) == ((0, False) if directory.for_a_moment else (1, True)), answer
    found = pagectl("pages", "decode", out, "--format", "jsonl").lines()
    ids = {line["id"] for line in found}
    assert {line["id"] for line in elsewhere()} <= ids
    if directory.extra.get("FAULT_FROM") == "5000":
        assert any(line["page"] == 3 for line in found), "what lies in front of the bad sector was not read"


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


# ---------------------------------------------------------------- the other files


@pytest.mark.parametrize("folder", ["journal", "bindings"])
@pytest.mark.parametrize(
    "words",
    [
        ("pages", "ls"),
        ("pages", "outstanding"),
        ("pages", "decode"),
        ("pages", "verify"),
        ("pages", "compact"),
        ("messages", "decode", "--in", "pages", "--outstanding"),
        ("disk", "usage"),
    ],
    ids=" ".join,
)
def test_a_file_of_the_journal_that_cannot_be_read(words: tuple[str, ...], folder: str, tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    answer = pagectl(*words[:2], data, *words[2:], extra=faults().reads(f"/{folder}/activemq-"))
    no_trace(answer)
    said = answer.out + answer.err
    if (words, folder) == (("pages", "decode"), "journal"):
        assert answer.status == 0 and not answer.err, "the journal is not read"
        return
    assert "Input/output error" in said and "activemq-" in said, answer
    needed = words[-1] in ("compact", "--outstanding") or (words[-1] == "outstanding" and folder == "journal")
    assert answer.status == 1 or (needed and answer.status == 2), answer
    assert "held by nobody" not in said and "not belong to any message" not in said, answer


@pytest.mark.parametrize("words", [("ls",), ("verify",), ("outstanding",), ("decode",), ("inspect",)], ids=" ".join)
def test_a_store_folder_that_cannot_be_listed(words: tuple[str, ...], tmp_path: Path) -> None:
    permissions_count()
    data = golden("two-addresses").copy(tmp_path)
    folder = pages_of(data)[0].parent
    other = next(path.parent for path in pages_of(data) if path.parent != folder)
    address = (other / "address.txt").read_text().strip()
    folder.chmod(0)
    try:
        answer = pagectl("pages", *words, data, prepare=without_override)
    finally:
        folder.chmod(0o755)
    no_trace(answer)
    assert answer.status == 1, answer
    assert address in answer.out or words[0] in ("decode", "inspect"), "the other store is told"
    told = " ".join((answer.out + answer.err).split())
    assert folder.name in told and "Permission denied" in told, answer


def test_a_page_that_is_a_folder_or_a_pipe_is_passed_over(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    target = page(data)
    target.unlink()
    os.mkfifo(target)
    out = tmp_path / "out"
    answer = pagectl("pages", "salvage", data, "--out", out, seconds=30)
    no_trace(answer)
    shutil.rmtree(out, ignore_errors=True)
    assert pagectl("pages", "outstanding", data, seconds=30).status == 1
