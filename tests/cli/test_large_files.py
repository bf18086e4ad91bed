"""``large ls`` and ``large verify``: nothing invented, and what is missing, cut, left over or foreign is told."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase
from program import call

from pagefmt.storage.files import FileWindow

CORE = GoldenCase("2.56.0", "large-core")


def answer(data: Path) -> tuple[dict[Any, dict[str, Any]], dict[str, dict[str, str]], int]:
    """Run ``large verify``, and return rows by id, findings by check and the status.

    ``large ls`` must agree.
    """
    said = call("large", "verify", data, "--format", "json")
    found = json.loads(said.out)
    listed = call("large", "ls", data, "--format", "jsonl")
    assert listed.lines() == found["files"]
    assert listed.status == said.status
    return {row["id"]: row for row in found["files"]}, {each["check"]: each for each in found["findings"]}, said.status


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_what_brokers_left(version: str) -> None:
    # Brokers delete bodies of messages that are not durable at the next start; nothing else is wrong.
    for case in golden_cases.cases(version):
        if "large" in case.name or case.name == "basic":
            rows, findings, status = answer(case.data())
            assert {row["condition"] for row in rows.values()} <= {"ok", "done", "not durable"}, case
            assert set(findings) <= {"large-body-not-durable"} and status == bool(findings), case
            told = {file["file"]: file["size"] for file in case.manifest()["large_messages"]}
            assert {row["file"]: row["size"] for row in rows.values() if row["file"]} == told, case


@pytest.mark.parametrize("what", ["ls", "verify"])
def test_every_page_is_read_once(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Counter[str] = Counter()

    class Counted(FileWindow):
        def __init__(self, path: Path, *args: Any) -> None:
            opened[str(path)] += 1
            super().__init__(path, *args)

    monkeypatch.setattr("pagefmt.codec.pages.page.FileWindow", Counted)
    jobs = ("--jobs", "1") if what == "verify" else ()
    assert call("large", what, CORE.data(), *jobs).out
    assert set(opened) == {str(path) for path in CORE.data().glob("paging/*/*.page")}
    assert set(opened.values()) == {1}


def test_files_and_messages_are_held_against_one_another(tmp_path: Path) -> None:
    data = CORE.copy(tmp_path)
    folder = data / "large-messages"
    (folder / "35.msg").unlink()
    os.truncate(folder / "34.msg", 100)
    (folder / "999.msg").write_bytes(b"left over")
    (folder / "notes.txt").write_bytes(b"call Fred")
    (folder / "5.msg").mkdir()
    (folder / "5.x.msg").write_bytes(b"a broker takes it for 5")
    rows, findings, status = answer(data)
    wrong = {key: row["condition"] for key, row in rows.items() if row["condition"] not in ("ok", "done")}
    assert wrong == {
        None: "foreign name",
        22: "not durable",
        32: "not durable",
        34: "other size",
        35: "missing",
        999: "unreferenced",
    }
    assert (rows[34]["size"], rows[34]["declared"]) == (100, 16994)
    assert rows[35]["queues"] == {"big": "due"} and rows[35]["file"] is None and rows[35]["where"] == "page"
    assert status == 1
    orphans = call("large", "ls", data, "--orphans", "--format", "jsonl").lines()
    assert sorted(row["file"] for row in orphans) == ["5.x.msg", "999.msg", "notes.txt"]
    assert call("large", "ls", data, "--orphans").out.splitlines()[-1] == "3 files that no message refers to, 41 B"
    shutil.rmtree(folder)
    answered = call("large", "ls", data, "--orphans")
    assert answered.status == 0 and answered.out == "0 files that no message refers to, 0 B\n"
    missing = sum(row["condition"] == "missing" for row in call("large", "ls", data, "--format", "jsonl").lines())
    assert f"warning: {missing} messages without a file: pagectl large ls " in answered.err
    assert {check: each["severity"] for check, each in findings.items()} == {
        "large-body-missing": "error",
        "large-body-size": "error",
        "large-body-not-durable": "warning",
        "large-body-orphan": "notice",
    }


def test_a_broker_of_hornetq_may_fail_at_a_body_that_is_gone(tmp_path: Path) -> None:
    # 2.4.7 failed, 1.5.6 did not.
    data = GoldenCase("hornetq-2.4.7", "large").copy(tmp_path)
    for body in (data / "large-messages").glob("*.msg"):
        body.rename(body.with_suffix(".tmp"))
    for edition, fails in (("hornetq-2.4", True), ("artemis-1.5", False)):
        said = call("large", "verify", data, "--edition", edition, "--format", "json")
        told = {each["broker"] for each in json.loads(said.out)["findings"]}
        assert {each.endswith(", or fails to") for each in told} == {fails}


@pytest.mark.parametrize(
    ("name", "starts"),
    [("notes.msg", False), ("12abc.msg", False), ("5.x.msg", True), ("notes.sync", True), ("notes.tmp", True)],
)
def test_a_name_that_stops_a_broker(name: str, starts: bool, tmp_path: Path) -> None:
    # Recorded on 2.56.0 and 2.44.0.
    data = GoldenCase("2.56.0", "basic").copy(tmp_path)
    (data / "large-messages").mkdir(exist_ok=True)
    (data / "large-messages" / name).write_bytes(b"hi")
    _, findings, status = answer(data)
    assert status == (not starts)
    assert [each["broker"] for check, each in findings.items() if check == "large-file-name"] == (
        [] if starts else ["does not start"]
    )


def test_messages_of_the_journal_have_bodies_as_well() -> None:
    found = [row for case in golden_cases.cases("2.56.0", "2.28.0") for row in answer(case.data())[0].values()]
    assert {row["where"] for row in found} == {"journal", "page"}
    assert all(row["size"] == row["declared"] for row in found if row["condition"] == "ok" and row["declared"])


def test_without_the_journal_nobody_knows_whose_they_are(tmp_path: Path) -> None:
    data = CORE.copy(tmp_path)
    for path in (data / "journal").iterdir():
        path.unlink()
    said = call("large", "verify", data)
    assert said.status == 1 and "journal-missing" in said.out
    assert call("large", "ls", data).status == 1
    alone = tmp_path / "alone"
    (data / "paging").rename(alone)
    assert call("large", "ls", alone).status == 2
