"""Whatever lists takes ``json`` and ``jsonl``, and says the same with both."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from program import ROOT, call

# command, the words behind it; of the document the lists whose items are the lines, in their order
LISTS = [
    ("pages ls", "torn", ["stores"]),
    ("pages outstanding", "news", ["stores"]),
    ("pages verify", "torn", ["pages", "findings"]),
    ("pages verify", "news", ["pages", "findings"]),
    ("pages inspect", "torn", ["records"]),
    ("pages decode", "news", ["messages"]),
    ("messages decode", "news", ["messages"]),
    ("config rules", None, ["rules", "checks"]),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("examples")
    subprocess.run(["sh", str(ROOT / "examples" / "unpack.sh"), str(where)], check=True)
    return where


def _items(document: dict[str, Any], keys: list[str]) -> list[Any]:
    assert list(document) == keys
    return [item for key in keys for item in document[key]]


@pytest.mark.parametrize(("command", "directory", "keys"), LISTS)
def test_lines_are_the_items_of_the_document(command: str, directory: str | None, keys: list[str], place: Path) -> None:
    words = [*command.split(), *([place / directory] if directory else [])]
    document, lines = call(*words, "--format", "json"), call(*words, "--format", "jsonl")
    assert document.status == lines.status < 2
    assert _items(json.loads(document.out), keys) == lines.lines() != []


def test_rules_are_chosen_sorted_and_limited() -> None:
    rules = json.loads(call("config", "rules", "--format", "json").out)["rules"]
    words = ("config", "rules", "--columns", "severity,rule", "--sort", "severity", "--limit", "5", "--format")
    first = [
        {"severity": row["severity"], "rule": row["rule"]} for row in sorted(rules, key=lambda row: row["severity"])
    ]
    assert call(*words, "jsonl").lines() == first[:5]
    assert call(*words, "csv").out.splitlines() == ["severity,rule", *(",".join(row.values()) for row in first[:5])]
    assert [line.split()[-1] for line in call(*words, "text").out.splitlines()[1:]] == [
        row["rule"] for row in first[:5]
    ]
    assert "there are rule, severity" in call("config", "rules", "--columns", "name").err


def test_an_empty_list_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "paging").mkdir()
    assert json.loads(call("pages", "ls", tmp_path / "paging", "--format", "json").out) == {"stores": []}


def test_lines_of_disk_usage_are_its_rows(place: Path) -> None:
    lines = call("disk", "usage", place / "news", "--format", "jsonl").lines()
    document = json.loads(call("disk", "usage", place / "news", "--format", "json").out)
    assert {row["part"]: row["bytes"] for row in lines if row["part"] != "address"}["paging"] == document["paging"][
        "bytes"
    ]
    assert [row["address"] for row in lines if row["part"] == "address"] == [
        row["address"] for row in document["addresses"]
    ]
