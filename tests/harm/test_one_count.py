"""messages ls, top and check and the exporter count the same for each queue, whatever is damaged; or none knows.

What is in a damaged page counts as far as a broker reads it: of 2.10 and later it goes on in a new page behind a torn
end (docs/spec/page-files.md 5.4).
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_directories import BREAKS, NotHere, linked_page
from harmed import golden, no_trace
from pagectl.outputs.page_metrics import WAITING, page_metrics
from program import call

from pagefmt.directory.locate import locate
from pagefmt.vectors import watch_pages

Counts = dict[int, tuple[int | None, int | None]]
"""By id of a queue: messages, and of them in the journal."""


def linked_journal_file(data: Path) -> None:
    """Replace a journal file by a link to it, which a broker follows."""
    path = min((data / "journal").glob("*.amq"))
    path.symlink_to(shutil.move(path, data.parent / "elsewhere.amq"))


def no_paging(data: Path) -> None:
    shutil.rmtree(data / "paging")


def no_pages_and_linked_journal_file(data: Path) -> None:
    """Replace a journal file by a link, and delete all pages but not their folders."""
    linked_journal_file(data)
    for path in data.glob("paging/*/*.page"):
        path.unlink()


DAMAGES: dict[str, Callable[[Path], None]] = {
    **BREAKS, "page is a link": linked_page, "journal file is a link": linked_journal_file, "no paging": no_paging,
    "no pages, journal file is a link": no_pages_and_linked_journal_file,
}  # fmt: skip
del DAMAGES["journal message undecodable"]  # ls decodes messages, the others read heads; no broker starts on it


def rows(words: str, key: str, data: Path) -> list[dict[str, Any]]:
    """Return the rows under ``key`` in an answer, or an empty list if it has none."""
    answer = call(*words.split(), data, "--format", "json")
    no_trace(answer)
    found: list[dict[str, Any]] = json.loads(answer.out).get(key, []) if answer.out else []
    return found


def counts(words: str, key: str, data: Path) -> Counts:
    """Return total and journal count of each queue, except queues without waiting messages."""
    found = rows(words, key, data)
    return {row["id"]: (row["messages"], row["journal"]) for row in found if row["messages"] != 0}


def exported(data: Path) -> dict[str, float]:
    """Return the exporter's waiting messages by queue, for queues with samples of both journal and pages."""
    (gauge,) = (each for each in page_metrics(watch_pages(locate(data)).look(), 1) if each.name == WAITING)
    parts: dict[str, list[float]] = {}
    for labels, value in gauge.samples:
        parts.setdefault(labels["queue"], []).append(value)
    return {queue: sum(found) for queue, found in parts.items() if len(found) == 2}


def agree(data: Path) -> Counts:
    """Return the counts of each queue after asserting that all commands agree on them."""
    listed = counts("messages ls", "queues", data)
    for words, key in (("messages top", "queues"), ("messages check", "backlogs")):
        found = counts(words, key, data)
        assert found == {queue: listed[queue] for queue in found}, (words, found, listed)
        assert {listed[queue] for queue in listed.keys() - found.keys()} <= {(None, None)}, (words, found, listed)
    samples = exported(data)
    names = {row["queue"]: row["messages"] for row in rows("messages ls", "queues", data)}
    assert samples == {queue: names[queue] for queue in samples}
    return listed


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["multicast-acks", "journal-mix", "basic"])
def test_counts_agree(damage: str, name: str, tmp_path: Path) -> None:
    shutil.copytree(golden(name).data(), data := tmp_path / "data")
    try:
        DAMAGES[damage](data)
    except NotHere:
        pytest.skip(f"{name} has nothing that could be broken so")
    agree(data)


def test_a_torn_last_page_counts_as_far_as_it_is_delivered(tmp_path: Path) -> None:
    data = golden("basic").copy(tmp_path)
    BREAKS["last page cut"](data)
    assert agree(data) == {3: (59, 10)}
    assert call("messages", "ls", data).status == 1


@pytest.mark.parametrize("damage", [linked_journal_file, no_paging, no_pages_and_linked_journal_file])
def test_nobody_knows(damage: Callable[[Path], None], tmp_path: Path) -> None:
    damage(data := golden("basic").copy(tmp_path))
    assert set(agree(data).values()) == {(None, None)}
    answer = call("messages", "ls", data)
    assert answer.status == 1 and "it is not known how many messages are to be delivered" in answer.out, answer
    assert not re.search(r"up to \d+ messages", answer.err), answer
