"""Every record that a broker hands out is shown, and what is shown as outstanding is what is counted so.

``tests/golden/damage`` holds what the page readers of real brokers made of damaged copies of pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from golden_cases import GoldenCase, damage_verdicts, unpacked
from harmed import json_of, no_trace, stores_of
from program import call

READ_EARLY = (
    "flip-large-type-", "large-type-", "length-first-", "length-middle-", "queue-count-zero", "persister-",
    "flip-persister-", "flip-id-",
)  # fmt: skip
"""Kinds of damage to what a broker reads with the page, not when it delivers: it hands these records out as they are."""  # noqa: E501
EDITION = {
    "2.56.0": "artemis-2.56", "2.44.0": "artemis-2.44", "2.28.0": "artemis-2.28", "2.17.0": "artemis-2.17",
    "2.10.1": "artemis-2.10", "artemis-1.5.6": "artemis-1.5", "hornetq-2.4.7": "hornetq-2.4",
}  # fmt: skip
ARCHIVES = damage_verdicts("pages")
EACH = pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: f"{path.parent.name}/{path.name[6:-8]}")


@dataclass(frozen=True, slots=True)
class Damaged:
    """A page that a broker read without an exception, with the number of records that it handed out."""

    name: str
    page: Path
    records: int

    @property
    def early(self) -> bool:
        return self.name.startswith(READ_EARLY)


def items(archive: Path) -> list[Damaged]:
    root = unpacked(archive)
    verdict = json.loads((root / "verdict.json").read_text("utf-8"))
    return [
        Damaged(item["name"], root / f"{item['name']}.page", item["records"])
        for item in verdict["items"]
        if item["error"] is None and item["records"] is not None
    ]


@dataclass(frozen=True, slots=True)
class Directory:
    """The case that the pages are of, with one page in its first store, under the number that it had."""

    data: Path
    store: Path
    page: Path

    def holding(self, damaged: list[Damaged]) -> Iterator[Damaged]:
        for each in damaged:
            self.page.write_bytes(each.page.read_bytes())
            yield each


@pytest.fixture
def directory(archive: Path, tmp_path: Path) -> Directory:
    name = archive.name.removesuffix(".tar.zst").removeprefix("pages-")
    data = GoldenCase(archive.parent.name, name).copy(tmp_path)
    store = stores_of(data)[0]
    first, *others = sorted(store.glob("*.page"))
    for path in others:
        path.unlink()
    return Directory(data, store, first)


@EACH
@pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_every_record_that_the_broker_hands_out_is_shown(archive: Path, step: int, directory: Directory) -> None:
    wrong = {}
    damaged = [each for each in items(archive) if each.early][::step]
    assert damaged
    for each in directory.holding(damaged):
        edition = EDITION[archive.parent.name]
        answer = call("pages", "decode", directory.store, "--format", "jsonl", "--body", "none", "--edition", edition)
        no_trace(answer)
        numbers = [line["number"] for line in answer.lines()]
        if numbers != list(range(each.records)):
            wrong[each.name] = (len(numbers), each.records, answer.err.strip().rpartition(": offset")[2])
    assert wrong == {}, f"{len(wrong)} of {len(damaged)} damaged pages: shown, handed out"


@EACH
@pytest.mark.parametrize("step", [19, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_decode_shows_what_is_outstanding(archive: Path, step: int, directory: Directory) -> None:
    # This also holds if bodies or properties make no sense.
    wrong = {}
    for each in directory.holding(items(archive)[::step]):
        answer = call("pages", "outstanding", directory.data, "--format", "json", "--positions")
        no_trace(answer)
        counted = {
            (store["folder"], *position)
            for store in json_of(answer)["stores"]
            for queue in store["queues"]
            for position in queue["positions"]
        }
        answer = call(
            "messages",
            "decode",
            "--in",
            "pages",
            directory.data,
            "--outstanding",
            "--format",
            "jsonl",
            "--body",
            "none",
        )
        no_trace(answer)
        shown = {(line["store"], line["page"], line["number"]) for line in answer.lines()}
        if shown != counted:
            wrong[each.name] = (len(shown), len(counted))
    assert wrong == {}, f"{len(wrong)} damaged pages: shown, outstanding"


@EACH
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_form_has_them(archive: Path, form: str, directory: Directory, tmp_path: Path) -> None:
    from csv import DictReader

    from pyarrow import parquet

    wrong, out = {}, tmp_path / f"x.{form}"
    edition = EDITION[archive.parent.name]
    for each in directory.holding([each for each in items(archive) if each.early][::9]):
        answer = call("pages", "decode", directory.store, "--to", out, "--edition", edition, "--body", "none")
        no_trace(answer)
        if form == "parquet":
            rows = parquet.read_metadata(out).num_rows
        else:
            rows = len(list(DictReader(out.read_text("utf-8").splitlines())))
        if rows != each.records:
            wrong[each.name] = (rows, each.records)
    assert wrong == {}


def test_how_many_pages_there_are() -> None:
    found = [each for archive in ARCHIVES for each in items(archive)]
    assert len(found) > 700 and sum(each.early for each in found) > 150, len(found)
