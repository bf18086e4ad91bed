"""``messages decode`` and ``messages find``: journal and pages in one list."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import golden_cases
import pyarrow.parquet as pq
import pytest
from program import call


def root(name: str = "journal-mix", version: str = "2.56.0") -> Path:
    return golden_cases.GoldenCase(version, name).root()


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_every_message_wherever_it_lies() -> None:
    done = call("messages", "decode", root(), "--format", "jsonl")
    found = lines(done.out)
    assert done.status == 0
    assert [line["where"] for line in found] == sorted((line["where"] for line in found), key=["journal", "page"].index)
    in_pages = lines(call("pages", "decode", root(), "--format", "jsonl").out)
    mine = [line for line in found if line["where"] == "page"]
    assert [{key: line[key] for key in page} for line, page in zip(mine, in_pages, strict=True)] == in_pages
    assert {line["file"] for line in mine} == {f"{line['store']}/{line['page']:09d}.page" for line in in_pages}


def test_place_in_the_journal_file() -> None:
    for line in lines(call("messages", "decode", root(), "--format", "jsonl").out):
        if line["where"] == "journal":
            raw = (root() / "data/journal" / line["file"]).read_bytes()
            encoded = raw[line["offset"] : line["offset"] + line["length"]]
            assert int.from_bytes(encoded[1:9], "big") == line["id"]


def test_states_of_queues() -> None:
    found = lines(call("messages", "decode", root("tx"), "--format", "jsonl").out)
    states = {how["state"] for line in found for how in line["queues_state"].values()}
    assert states == {"due", "in-doubt", None}
    for line in found:
        for how in line["queues_state"].values():
            assert (how["state"] is None) == ("why" in how)


def test_scheduled_messages_come_last() -> None:
    found = lines(
        call("messages", "decode", root("core-headers"), "--queue", "headers", "--outstanding", "--format", "jsonl").out
    )
    states = [line["queues_state"]["headers"] for line in found]
    times = [state["scheduled"] for state in states if state["state"] == "scheduled"]
    assert [state["state"] for state in states[-len(times) :]] == ["scheduled"] * len(times)
    assert len(times) == 5
    assert times == sorted(times)


def test_large_messages_name_their_file() -> None:
    found = lines(call("messages", "decode", root("large-core"), "--format", "jsonl").out)
    large = [line for line in found if line["large"]]
    assert large
    assert all(line["where"] == "large" and line["file"] == line["large_file"] for line in large)


def test_tables_and_text(tmp_path: Path) -> None:
    found = lines(call("messages", "decode", root(), "--format", "jsonl").out)
    table, sheet = tmp_path / "all.parquet", tmp_path / "all.csv"
    assert call("messages", "decode", root(), "--to", table).status == 0
    assert call("messages", "decode", root(), "--to", sheet).status == 0
    rows = pq.read_table(table).to_pylist()  # type: ignore[no-untyped-call]
    keys = ("id", "page", "number", "offset", "where", "file")
    assert [[row[key] for key in keys] for row in rows] == [[line[key] for key in keys] for line in found]
    with sheet.open() as stream:
        cells = list(csv.DictReader(stream))
    assert [int(cell["id"]) for cell in cells] == [line["id"] for line in found]
    assert json.loads(cells[0]["queues_state"]) == found[0]["queues_state"]
    text = call("messages", "decode", root()).out
    assert f"journal  {found[0]['file']}" in text
    assert "a.mixed (acknowledged), b.mixed" in text


def test_selection() -> None:
    found = lines(call("messages", "decode", root(), "--format", "jsonl").out)
    first = found[0]
    (one,) = lines(call("messages", "find", root(), "--id", first["id"], "--format", "jsonl").out)
    assert one == first
    red = lines(call("messages", "find", root(), "--where", "color = 'red'", "--format", "jsonl").out)
    assert [line["id"] for line in red] == [line["id"] for line in found if line["properties"].get("color") == "red"]
    assert {line["where"] for line in red} == {"journal", "page"}
    assert len(lines(call("messages", "decode", root(), "--page", "1:1", "--format", "jsonl").out)) < len(found)
    assert lines(call("messages", "decode", root(), "--address", "mixed", "--format", "jsonl").out) == found
    refused = call("messages", "decode", root(), "--address", "mixes")
    assert refused.status == 2
    assert "did you mean mixed" in refused.err


@pytest.mark.parametrize("version", golden_cases.VERSIONS)
def test_every_edition(version: str) -> None:
    for case in golden_cases.cases(version)[:3]:
        assert call("messages", "decode", case.data(), "--format", "jsonl").status in (0, 1)


def test_without_a_journal(tmp_path: Path) -> None:
    data = golden_cases.GoldenCase("2.56.0", "journal-mix").copy(tmp_path)
    for file in (data / "journal").iterdir():
        file.unlink()
    (data / "journal").rmdir()
    done = call("messages", "decode", data, "--format", "jsonl")
    assert all(how["state"] is None and how["why"] for line in lines(done.out) for how in line["queues_state"].values())
    assert call("messages", "decode", data, "--outstanding").status == 2


def test_a_torn_journal_is_told(tmp_path: Path) -> None:
    data = golden_cases.GoldenCase("2.56.0", "journal-mix").copy(tmp_path)
    (line, *_) = lines(call("messages", "decode", data, "--limit", "1", "--format", "jsonl").out)
    path = data / "journal" / line["file"]
    raw = bytearray(path.read_bytes())
    raw[line["offset"] + line["length"] : line["offset"] + line["length"] + 4] = bytes(4)
    path.write_bytes(raw)
    done = call("messages", "decode", data, "--format", "jsonl")
    assert done.status == 1
    assert "the journal is damaged" in done.err
    assert line["id"] not in [each["id"] for each in lines(done.out)]


def test_a_message_that_cannot_be_read_costs_itself_alone(tmp_path: Path) -> None:
    data = golden_cases.GoldenCase("2.56.0", "journal-mix").copy(tmp_path)
    every = lines(call("messages", "decode", data, "--format", "jsonl").out)
    line = every[0]
    path = data / "journal" / line["file"]
    raw = bytearray(path.read_bytes())
    raw[line["offset"]] = 99
    path.write_bytes(raw)
    done = call("messages", "decode", data, "--format", "jsonl")
    assert done.status == 1
    assert f"{line['file']}: offset {line['offset']}: undecodable" in done.err
    assert [each["id"] for each in lines(done.out)][-len(every) + 1 :] == [each["id"] for each in every[1:]]


def test_what_a_queue_has_acknowledged_is_said_and_how_to_leave_it_out() -> None:
    data = golden_cases.GoldenCase("2.56.0", "scattered-acks").data()
    every = call("messages", "decode", data, "--queue", "scatter", "--format", "jsonl")
    waiting = call("messages", "decode", data, "--queue", "scatter", "--format", "jsonl", "--outstanding")
    acknowledged = len(lines(every.out)) - len(lines(waiting.out))
    assert acknowledged > 0
    assert f"acknowledged already: scatter: {acknowledged}; --outstanding leaves out" in every.err
    assert "acknowledged already" not in waiting.err
    some = call("messages", "decode", data, "--queue", "scatter", "--format", "jsonl", "--limit", "3")
    assert "can be among these; --outstanding" in some.err
