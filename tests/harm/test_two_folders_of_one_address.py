"""Of several folders that name one address a broker delivers from one: the others are not counted with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from harmed import OTHER_FOLDER, golden, json_of, no_trace, stores_of
from program import call

WAITING = 28


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    data = golden("scattered-acks").copy(tmp_path)
    folder = stores_of(data)[0]
    shutil.copytree(folder, folder.parent / OTHER_FOLDER)
    return data


def read_by_the_broker(data: Path) -> str:
    """Return the folder that the system lists last, which is the one that a broker uses."""
    return [entry.name for entry in os.scandir(data / "paging")][-1]


def stores(data: Path, command: str) -> dict[str, dict[str, Any]]:
    answer = call("pages", command, data, "--format", "json")
    no_trace(answer)
    assert answer.status == 1, answer
    return {store["folder"]: store for store in json_of(answer)["stores"]}


def test_outstanding_counts_what_is_delivered(directory: Path) -> None:
    found = stores(directory, "outstanding")
    waiting = {folder: sum(queue["messages"] or 0 for queue in store["queues"]) for folder, store in found.items()}
    assert waiting == {folder: WAITING if folder == read_by_the_broker(directory) else 0 for folder in found}
    assert sum(waiting.values()) == WAITING


def test_nobody_holds_the_pages_of_the_other(directory: Path) -> None:
    # They stay until a salvage: neither "unknown" nor a queue's name would be right.
    found = stores(directory, "outstanding")
    (other,) = set(found) - {read_by_the_broker(directory)}
    assert all(page["held_by"] in ([], None) for page in found[other]["pages"])
    assert any("salvage" in remark for remark in found[other]["remarks"])


def test_the_total_of_ls(directory: Path) -> None:
    rows = stores(directory, "ls")
    assert sum(row["outstanding"] or 0 for row in rows.values()) == WAITING
    text = call("pages", "ls", directory)
    assert f"{2 * WAITING} outstanding" not in text.out


def test_decode_outstanding(directory: Path) -> None:
    answer = call("messages", "decode", "--in", "pages", directory, "--outstanding", "--format", "jsonl")
    assert {line["store"] for line in answer.lines()} == {read_by_the_broker(directory)}
    assert len(answer.lines()) == WAITING


def test_compact_frees_nothing_in_the_other(directory: Path) -> None:
    # The file system decides which of the folders a broker reads next time.
    plan = json_of(call("pages", "compact", directory, "--format", "json"))
    assert all(not store["steps"] for store in plan["stores"])


def test_disk_usage_names_both(directory: Path) -> None:
    answer = call("disk", "usage", directory)
    assert "2 store folders" in answer.out
