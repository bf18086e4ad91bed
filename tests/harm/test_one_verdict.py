"""``ls`` and ``verify`` give one verdict, and it is the broker's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases, damage_verdicts, unpacked
from harmed import data_directory, golden, json_of, no_trace, stores_of
from program import call


def damaged() -> Iterator[Any]:
    for archive in damage_verdicts("stores"):
        verdict = json.loads((unpacked(archive) / "verdict.json").read_text("utf-8"))
        for item in verdict["items"]:
            path = unpacked(archive) / item["name"]
            yield pytest.param(path, id=f"{archive.parent.name}/{item['name']}")


def verdicts(directory: Path) -> tuple[int, int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the statuses of ``ls`` and ``verify``, the stores of ``ls``, and the lines of ``verify``."""
    ls, verify = (
        call("pages", "ls", directory, "--format", "json"),
        call("pages", "verify", directory, "--format", "jsonl"),
    )
    no_trace(ls)
    no_trace(verify)
    return ls.status, verify.status, json_of(ls)["stores"], verify.lines()


@pytest.mark.parametrize("directory", list(damaged()))
def test_one_status_for_damaged_directories(directory: Path) -> None:
    ls, verify, rows, found = verdicts(directory)
    assert ls == verify, ([(row["condition"], row["remarks"]) for row in rows], findings_above_notice(found))


@pytest.mark.parametrize("case", cases(), ids=str)
def test_one_status_for_what_brokers_left(case: GoldenCase) -> None:
    ls, verify, rows, found = verdicts(case.data())
    grave = [line for line in found if line.get("severity", "notice") != "notice"]
    if ls == 0 and grave and all(line["check"] in ELSEWHERE for line in grave):
        return
    assert ls == verify, ([(row["condition"], row["remarks"]) for row in rows], findings_above_notice(found))


ELSEWHERE = ("prepared-transaction", "counter-drift", "large-body-not-durable", "large-body-missing")
"""Checks of ``verify`` that are not about the folders and pages that ``ls`` has a row for."""


def findings_above_notice(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(line["check"], line["detail"]) for line in found if line.get("severity", "notice") != "notice"]


def test_a_folder_named_as_a_page_keeps_the_broker_from_starting(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    (stores_of(data)[0] / "000000888.page").mkdir()
    ls, verify, (row,), _ = verdicts(data)
    assert (ls, verify) == (1, 1) and row["condition"] != "ok"
    assert any("does not start" in remark for remark in row["remarks"]), row
    assert any("000000888.page" in remark for remark in row["remarks"]), row


def test_a_page_without_its_zeros_holds_messages_that_nobody_gets(tmp_path: Path) -> None:
    data = golden("scattered-acks").copy(tmp_path)
    last = sorted(stores_of(data)[0].glob("*.page"))[-1]
    messages = sum(line["page"] == 8 for line in call("pages", "decode", data, "--format", "jsonl").lines())
    last.rename(last.with_name("8.page"))
    ls, verify, (row,), found = verdicts(data)
    assert (ls, verify) == (1, 1) and row["condition"] != "ok"
    assert any("8.page" in remark and str(messages) in remark and "delivered" in remark for remark in row["remarks"]), (
        row
    )
    assert any(str(messages) in line["detail"] for line in found if line.get("check") == "overlooked-page")


@pytest.mark.parametrize("version", ["2.28.0", "2.44.0", "2.56.0"])
def test_empty_stores_of_mqtt_are_well(version: str) -> None:
    # A broker makes a folder for each address that paged once.
    ls, verify, rows, _ = verdicts(golden("mqtt", version).data())
    assert (ls, verify) == (0, 0), rows
    assert {row["condition"] for row in rows} <= {"ok", "empty"}


def test_an_orphan_with_messages_is_one(tmp_path: Path) -> None:
    ls, verify, (row,), _ = verdicts(data_directory(tmp_path, address="nobody.listens"))
    assert (ls, verify, row["condition"]) == (1, 1, "orphan")
    assert any("3 " in remark for remark in row["remarks"]), "how many messages that are"


@pytest.mark.parametrize("address", ["what?", "really??", "a?b.c"])
def test_a_question_mark_may_be_one(address: str, tmp_path: Path) -> None:
    # The question mark is in the bindings or records as well, so nothing was lost.
    from harmed import record

    data = data_directory(tmp_path, {1: record(1, address=address)}, address=address)
    found = [line["check"] for line in call("pages", "verify", data, "--format", "jsonl").lines() if "check" in line]
    assert "address-lossy" not in found


def test_a_lost_character_is_told(tmp_path: Path) -> None:
    # The records name another address that fits, so a broker without UTF-8 wrote this one.
    from harmed import record

    data = data_directory(tmp_path, {1: record(1, address="été")}, address="?t?")
    found = [line["check"] for line in call("pages", "verify", data, "--format", "jsonl").lines() if "check" in line]
    assert "address-lossy" in found
    ls = call("pages", "ls", data, "--format", "json")
    (row,) = json_of(ls)["stores"]
    assert ls.status == 1 and any("été" in remark for remark in row["remarks"]), row


def test_findings_are_the_remarks(tmp_path: Path) -> None:
    for name in ("no", "several"):
        (tmp_path / name).mkdir()
    data = golden("two-addresses").copy(tmp_path / "several")
    folder = stores_of(data)[0]
    (folder / "extra.page").write_bytes(b"")
    (folder / "000000002.page").rename(folder / "2.page")
    *_, rows, found = verdicts(data)
    remarks = " ".join(remark for row in rows for remark in row["remarks"])
    grave = [line for line in found if line.get("severity", "notice") != "notice"]
    assert len(grave) >= 2 and all(line["detail"].split(":")[0] in remarks for line in grave), (remarks, grave)
