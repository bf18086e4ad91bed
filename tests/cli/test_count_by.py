"""``--count-by``: what it prints is what the lines of the same messages add up to."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase
from program import call

LIVES = GoldenCase("lives", "2.56.0")
DIVERT = GoldenCase("2.56.0", "divert")
ORIGIN = "properties._AMQ_ORIG_ADDRESS"
Sums = dict[Any, tuple[int, int]]


def counted(data: Path, by: str, *words: str, command: str = "decode") -> list[dict[str, Any]]:
    answer = call("messages", command, data, "--count-by", by, "--format", "json", *words)
    assert answer.status == 0, answer.err
    found: list[dict[str, Any]] = json.loads(answer.out)["counts"]
    assert [row["messages"] for row in found] == sorted((row["messages"] for row in found), reverse=True)
    return found


def sums(rows: list[dict[str, Any]]) -> Sums:
    return {row["value"]: (row["messages"], row["bytes"]) for row in rows}


def added_up(data: Path, value: Any, *words: str) -> Sums:
    """Sum messages and bytes of the decoded lines by each value that ``value`` returns for a line."""
    messages: Counter[Any] = Counter()
    size: Counter[Any] = Counter()
    for line in call("messages", "decode", data, "--format", "jsonl", *words).lines():
        for each in value(line):
            messages[each] += 1
            size[each] += line["length"]
    return {each: (messages[each], size[each]) for each in messages}


def origin(line: dict[str, Any]) -> list[str | None]:
    """Return the original address from the core property or else the AMQP message annotation."""
    noted = {each["name"]: each["value"] for each in (line.get("amqp") or {}).get("message_annotations") or ()}
    return [line["properties"].get("_AMQ_ORIG_ADDRESS", noted.get("x-opt-ORIG-ADDRESS"))]


@pytest.mark.parametrize("words", [(), ("--where", "color = 'red'"), ("--in", "pages"), ("--queue", "EXPIRY")])
def test_counts_are_those_of_the_lines(words: tuple[str, ...]) -> None:
    data = LIVES.data()
    assert sums(counted(data, "priority", *words)) == added_up(data, lambda line: [line["priority"]], *words)
    assert sums(counted(data, "address", *words)) == added_up(data, lambda line: [line["address"]], *words)
    colors = added_up(data, lambda line: [line["properties"].get("color")], *words)
    assert sums(counted(data, "properties.color", *words)) == colors
    assert sums(counted(data, ORIGIN, *words)) == added_up(data, origin, *words)


def test_dead_letters_of_core_and_amqp_say_where_they_come_from() -> None:
    lines = call("messages", "find", LIVES.data(), "--queue", "EXPIRY", "--format", "jsonl").lines()
    assert {line["protocol"] for line in lines} == {"core", "amqp"}
    found = sums(counted(LIVES.data(), ORIGIN, "--queue", "EXPIRY", command="find"))
    assert None not in found and sum(messages for messages, _ in found.values()) == len(lines)
    diverted = sums(counted(DIVERT.data(), ORIGIN, "--in", "pages"))
    assert {value for value in diverted if value is not None} == {"inbox"}


def test_by_queue_a_message_counts_for_each_queue_that_was_asked_for() -> None:
    def waiting(line: dict[str, Any]) -> list[str]:
        return [name for name, how in line["queues_state"].items() if how["state"] != "acknowledged"]

    data = LIVES.data()
    assert sums(counted(data, "queue", "--outstanding")) == added_up(data, waiting, "--outstanding")
    assert set(sums(counted(data, "queue", "--queue", "news.red", "--queue", "news.all"))) == {"news.red", "news.all"}
    assert set(sums(counted(data, "queue"))) >= {"news.red", "news.few", "orders"}


def test_csv_text_and_lines_say_the_same() -> None:
    rows = counted(DIVERT.data(), ORIGIN)
    words = ("messages", "decode", DIVERT.data(), "--count-by", ORIGIN)
    assert call(*words, "--format", "jsonl").lines() == rows
    table = list(csv.reader(io.StringIO(call(*words, "--format", "csv").out)))
    assert table[0] == ["value", "messages", "bytes"]
    assert table[1:] == [[row["value"] or "", str(row["messages"]), str(row["bytes"])] for row in rows]
    shown = [line.split()[:2] for line in call(*words).out.splitlines()]
    assert shown[0] == ["_AMQ_ORIG_ADDRESS", "MESSAGES"]
    assert shown[1:] == [[row["value"] or "(none)", str(row["messages"])] for row in rows]


def test_to_a_file(tmp_path: Path) -> None:
    call("messages", "decode", DIVERT.data(), "--count-by", ORIGIN, "--to", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().startswith("value,messages,bytes\n")


def test_values_of_other_types_stay_apart(tmp_path: Path) -> None:
    # Python treats a boolean as a number.
    found = counted(GoldenCase("2.56.0", "core-types").data(), "properties.p.boolean")
    assert {type(row["value"]) for row in found} <= {bool, type(None)} and found


def test_a_property_that_no_message_has_is_noted() -> None:
    answer = call("messages", "decode", DIVERT.data(), "--count-by", "properties.nothing")
    assert answer.err == "note: none of these messages has a property nothing\n"
    assert answer.out.splitlines()[1].split()[0] == "(none)"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--count-by", "priorit"), "--count-by priorit: is no field to count by; did you mean 'priority'?"),
        (("--count-by", "properties."), "is no field to count by"),
        (("--count-by", "queue", "--columns", "id"), "--columns does not apply"),
        (("--count-by", "queue", "--body", "text"), "--body does not apply"),
        (("--count-by", "queue", "--limit", "3"), "--limit does not apply"),
        (("--count-by", "queue", "--to", "x.parquet"), "no counts in parquet"),
    ],
)
def test_what_does_not_go_with_counts(words: tuple[str, ...], why: str) -> None:
    answer = call("messages", "decode", DIVERT.data(), *words)
    assert answer.status == 2 and why in answer.err


def test_a_selector_sees_a_broker_annotation_by_both_of_its_names() -> None:
    # AMQPMessage.getMessageAnnotation accepts both names.
    found = [
        call("messages", "find", LIVES.data(), "--where", f"\"m.{name}\" = 'orders'", "--format", "jsonl").lines()
        for name in ("x-opt-ORIG-ADDRESS", "_AMQ_ORIG_ADDRESS")
    ]
    assert found[0] == found[1] and {line["protocol"] for line in found[0]} == {"amqp"}
