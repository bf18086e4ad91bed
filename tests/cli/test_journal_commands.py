"""``journal ls`` and ``journal inspect``: figures and fields add up, damage is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases_of_each_kind
from program import call


def rows(data: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    answer = call("journal", "ls", "--format", "json", data)
    found = json.loads(answer.out)
    return found["files"], found["journals"], answer.status


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_ls_counts_what_compact_keeps(case: GoldenCase) -> None:
    files, journals, status = rows(case.data())
    assert status == 0
    planned = json.loads(call("journal", "compact", "--format", "json", case.data()).out)
    assert sum(one["freeable"] for one in journals) == planned["freed"] > 0
    for one, plan in zip(journals, planned["journals"], strict=True):
        own = [row for row in files if row["journal"] == one["journal"]]
        assert sum(row["live_records"] for row in own) == one["live_records"] == plan["records"] - plan["dead_records"]
        assert sum(row["size"] for row in own) == one["bytes"] == plan["bytes_before"]


@pytest.mark.parametrize("name", ["journal-mix", "tx", "unicode", "large-core"])
def test_the_fields_of_a_record_are_all_of_its_bytes(name: str) -> None:
    data = GoldenCase("2.56.0", name).data()
    content = {path.name: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    lines = call("journal", "inspect", "--hex", "--format", "jsonl", data).lines()
    assert len(lines) == sum(row["records"] for row in rows(data)[0])
    for line in lines:
        at = line["offset"]
        for field in line["fields"]:
            assert field["offset"] == at, line
            assert bytes.fromhex(field["hex"]) == content[line["file"]][at : at + field["size"]]
            at += field["size"]
        assert at == line["offset"] + line["length"]
        assert "not understood" not in [field["name"] for field in line["fields"]], line


def test_what_is_asked_for_alone() -> None:
    data = GoldenCase("2.56.0", "tx").data()
    every = call("journal", "inspect", "--format", "jsonl", data).lines()
    file = every[0]["file"]
    assert {line["file"] for line in call("journal", "inspect", data, "--file", file, "--format", "jsonl").lines()} == {
        file
    }
    queues = call("journal", "inspect", data, "--type", "queue_binding_record", "--format", "jsonl").lines()
    assert queues == call("journal", "inspect", data, "--type", "21", "--format", "jsonl").lines() != []
    number = next(f["text"] for f in queues[0]["fields"] if f["name"] == "record id")
    assert call("journal", "inspect", data, "--record", number, "--format", "jsonl").lines()
    assert "did you mean 'ADD_REF'" in call("journal", "inspect", data, "--type", "ADD_REFF").err
    assert call("journal", "inspect", data, "--file", "nowhere").status == 2
    assert "QUEUE_BINDING_RECORD, " in call("journal", "inspect", data, "--type", "NOPE").err
    assert "did you mean 'QUEUE_BINDING_RECORD'" in call("journal", "inspect", data, "--type", "queue_bindin").err


@pytest.mark.parametrize("number", ["99999999", "-5"])
@pytest.mark.parametrize("what", ["journal", "pages"])
def test_a_record_that_is_not_there(what: str, number: str) -> None:
    data = GoldenCase("2.56.0", "tx").data()
    for form in ("text", "json", "jsonl"):
        answer = call(what, "inspect", data, "--record", number, "--format", form)
        assert answer.status == 2 and f"no record {number}: " in answer.err
        assert form != "json" or json.loads(answer.out) == {"records": []}
        assert form != "jsonl" or answer.out == ""


def test_damage_is_told(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "tx").copy(tmp_path)
    first = sorted((data / "journal").glob("*.amq"))[0]
    content = bytearray(first.read_bytes())
    second = call("journal", "inspect", data, "--file", first.name, "--format", "jsonl").lines()[1]
    content[second["offset"] + second["length"] - 1] ^= 0xFF
    first.write_bytes(content)
    files, _, status = rows(data)
    assert status == 1 and files[0]["conditions"][0] in ("torn records", "records missing")
    (data / "journal" / "x.amq").write_bytes(b"short")
    (data / "journal" / "y.amq").mkdir()
    files, _, _ = rows(data)
    assert {(row["file"], row["condition"], row["records"]) for row in files if row["id"] is None} == {
        ("x.amq", "short file", None),
        ("y.amq", "unreadable", None),
    }


@pytest.mark.parametrize("size", [0, 8, 15])
@pytest.mark.parametrize(
    ("case", "folder", "name", "broker"),
    [
        (GoldenCase("hornetq-2.4.7", "natural"), "journal", "hornetq-data-99.hq", "does-not-start"),
        (GoldenCase("hornetq-2.3.25", "tx"), "journal", "other.hq", "does-not-start"),
        (GoldenCase("hornetq-2.4.7", "natural"), "bindings", "hornetq-bindings-99.bindings", "does-not-start"),
        (GoldenCase("artemis-1.5.6", "natural"), "journal", "activemq-data-99.amq", "deletes"),
        (GoldenCase("2.56.0", "basic"), "bindings", "activemq-bindings-99.bindings", "deletes"),
    ],
)
def test_a_file_without_a_header_stops_hornetq_alone(
    case: GoldenCase, folder: str, name: str, broker: str, size: int, tmp_path: Path
) -> None:
    data = case.copy(tmp_path)
    (data / folder / name).write_bytes(bytes(size))
    answer = call("journal", "verify", data, "--format", "json")
    assert answer.status == 1
    (row,) = [row for row in json.loads(answer.out)["files"] if row["file"] == name]
    assert row["broker"] == broker
    assert ("does not start" in row["broker_text"]) is (broker == "does-not-start")
    assert row["size"] == size
