"""``messages top`` and the sorted ``pages ls``: who fills the disk."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases_of_each_kind, spread
from made_pages import message, store
from pagectl.running.backlogs import QueueReading, RankedQueue, TopOrder, WatchedQueues, look
from program import Answer, call
from test_messages_counts import sent

from pagefmt.directory.locate import within
from pagefmt.outstanding.backlog import Backlog
from pagefmt.table.state_tables import page_row
from pagefmt.table.table_content import StoredIn
from pagefmt.vectors import load_place


def top(*words: str | Path) -> tuple[list[dict[str, Any]], Answer]:
    answer = call("messages", "top", "--format", "json", *words)
    return json.loads(answer.out)["queues"], answer


def holders(data: Path) -> dict[int, Any]:
    (found,) = json.loads(call("pages", "outstanding", data, "--format", "json").out)["stores"]
    return {each["page"]: each["held_by"] for each in found["pages"]}


@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 2), ids=str)
def test_it_says_what_outstanding_and_decode_say(case: GoldenCase) -> None:
    rows, answer = top(case.data(), "--in", "pages")
    said = call("pages", "outstanding", "--format", "json", case.data())
    assert answer.status == said.status
    numbers = ("queue", "messages", "bytes", "pages_held", "bytes_held_alone")
    wanted = {
        (one["address"], queue["id"]): [queue[key] for key in numbers]
        for one in json.loads(said.out)["stores"]
        for queue in one["queues"]
        if queue["bytes_held"] != 0
    }
    assert {(row["address"], row["id"]): [row[key] for key in numbers] for row in rows} == wanted
    held = [row["bytes_held"] or 0 for row in rows]
    assert held == sorted(held, reverse=True)
    choice = ("--outstanding", "--in", "pages", "--format", "jsonl")
    lines = call("messages", "decode", case.data(), *choice).lines()
    for row in rows:
        mine = [
            line
            for line in lines
            if line["store_address"] == row["address"]
            and row["id"] in line["queues"]
            and row["id"] not in (line["acked_by"] or ())
        ]
        stamps = [time for line in mine[:64] if (time := sent(line))]
        if len(mine) == row["messages"]:
            assert row["oldest"] == (stamps[0] if stamps else None), row


@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 2), ids=str)
def test_the_journal_counts(case: GoldenCase) -> None:
    rows, _ = top(case.data())
    seen = {row["id"]: (row["messages"], row["journal"]) for row in rows}
    for queue in json.loads(call("messages", "ls", case.data(), "--format", "json").out)["queues"]:
        if queue["messages"]:
            assert seen[queue["id"]] == (queue["messages"], queue["journal"]), queue
    assert [row["journal"] for row in top(case.data(), "--in", "pages")[0] if row["journal"]] == []
    in_journal, _ = top(case.data(), "--in", "journal")
    assert all(row["messages"] == row["journal"] and row["pages_held"] == 0 for row in in_journal)


def test_queues_that_hold_pages_together_are_a_group() -> None:
    data = GoldenCase("2.56.0", "multicast-acks").data()
    answer = call("messages", "top", "--format", "json", data)
    together: dict[tuple[str, ...], int] = {}
    for held in holders(data).values():
        if len(held) > 1:
            together[tuple(sorted(held))] = together.get(tuple(sorted(held)), 0) + 1
    groups = json.loads(answer.out)["groups"]
    assert {tuple(sorted(each["queues"])): each["pages_held"] for each in groups} == together
    assert [each["bytes_held"] for each in groups] == sorted((each["bytes_held"] for each in groups), reverse=True)
    text = call("messages", "top", data).out
    assert "held by none.news, part.news and red.news together" in text


def ranked(*rows: tuple[str, int | None, int, int, int | None, float | None]) -> QueueReading:
    queues = [
        RankedQueue("b", Path("s"), Backlog("a", "s", name, n, waiting, 1, 0, 1, held, alone, oldest), growth)
        for n, (name, alone, held, waiting, oldest, growth) in enumerate(rows)
    ]
    return QueueReading(queues, [], 0, 0, 0, 0, 0, [], False, [], 0)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (TopOrder.alone, "b a c d"),
        (TopOrder.held, "d a c b"),
        (TopOrder.waiting, "c a b d"),
        (TopOrder.oldest, "d b a c"),
        (TopOrder.growth, "a d b c"),
    ],
)
def test_orders(order: TopOrder, names: str) -> None:
    # The largest queue is first, unknown ones last; of equal ones the one that holds more.
    look = ranked(
        ("a", 5, 9, 7, 20, 3.0), ("b", 6, 6, 7, 10, -1.0), ("c", 5, 7, 8, None, None), ("d", None, 10, 1, 9, 0.0)
    )
    assert " ".join(queue.backlog.queue or "" for queue in look.ranked(order)) == names


def test_growth_is_between_two_looks() -> None:
    before = ranked(("a", 5, 9, 7, 20, None), ("b", 6, 6, 7, 10, None))
    after = ranked(("a", 5, 19, 7, 20, None), ("b", 6, 4, 7, 10, None), ("new", 5, 8, 1, 1, None))._replace(moment=2)
    assert [queue.growth for queue in after.since(before).queues] == [5, -1, 4]
    assert [queue.growth for queue in after.since(after).queues] == [None] * 3


def test_growth_is_unknown_with_a_single_look(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    assert {row["growth"] for row in top(data)[0]} == {None}
    assert {row["growth"] for row in top(data, "--every", "0.2")[0]} == {0}
    assert call("messages", "top", data).out.splitlines()[1].endswith(" ?")


def test_several_brokers_and_one_that_is_not_there(tmp_path: Path) -> None:
    one, two = (GoldenCase("2.56.0", "scattered-acks").copy(tmp_path / name) for name in "ab")
    rows, answer = top(one, two)
    assert answer.status == 0 and {row["broker"] for row in rows} == {str(one), str(two)}
    assert call("messages", "top", one, two, "--limit", "1").out.splitlines()[0].endswith("BROKER")
    rows, answer = top(one, tmp_path / "nowhere")
    assert answer.status == 2 and {row["broker"] for row in rows} == {str(one)} and "nowhere" in answer.err
    nothing = call("messages", "top", tmp_path / "nowhere", tmp_path / "neither")
    assert (nothing.status, nothing.out) == (2, "") and "neither" in nothing.err
    for name in ("journal", "bindings"):
        (two / name).rename(tmp_path / f"{name}-away")
    rows, answer = top(one, two)
    assert answer.status == 2 and {row["broker"] for row in rows} == {str(one)}
    assert any("journal" in remark for remark in json.loads(answer.out)["remarks"])
    assert call("messages", "top", two).status == 2
    assert call("messages", "top", one, two, "--config", tmp_path / "x.xml").status == 2


def test_what_is_not_known_is_no_number(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    (data / "bindings").rename(data / "away")
    rows, answer = top(data)
    assert answer.status == 1 and rows and json.loads(answer.out)["remarks"]
    assert all(row[key] is None for row in rows for key in ("messages", "bytes_held", "bytes_held_alone", "oldest"))
    text = call("messages", "top", data)
    assert text.status == 1 and "by ?" in text.out and "bindings" in text.err
    assert text.out.splitlines()[1].split()[-7:] == ["?"] * 7


def test_a_damaged_page_that_nobody_is_seen_to_hold_is_not_free(tmp_path: Path) -> None:
    # A damaged page does not show whose messages it had; holders of its readable part are known.
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    pages = sorted(data.rglob("*.page"))
    before = holders(data)
    spoilt = next(page for page in pages if before[int(page.stem)])
    size = spoilt.stat().st_size
    spoilt.write_bytes(b"x" * size)
    held = holders(data)
    assert held == before | {int(spoilt.stem): None}
    assert f"page {int(spoilt.stem)} (" in (told := call("pages", "outstanding", data).out) and "held by ?" in told
    free = sum(page.stat().st_size for page in pages if held[int(page.stem)] == [])
    for seen in (look([within(data)], StoredIn.LIVE), WatchedQueues([within(data)]).look()):
        assert (seen.unknown, seen.free) == (size, free)
    for known in load_place(within(data)).stores():
        for page in known.store.pages:
            row = page_row(known, page, {})
            assert (row["held_by"] is None) is bool(row["damage"]) is (page.path == spoilt)


def test_limit_and_hostile_names(tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    assert len(top(data, "--limit", "1")[0]) == 1
    next(data.rglob("address.txt")).write_text("evil\x1b]0;x\x07\n")
    answer = call("messages", "top", data)
    assert "\x1b" not in answer.out + answer.err and answer.status in (0, 1)


def test_folder_of_ls_is_a_dir_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n, size in enumerate((3, 1, 2)):
        content = b"".join(message(k, f"a b{n}", "x") for k in range(size))
        store(tmp_path / "data" / "paging", f"a b{n}", {1: content}, f"f older {n}")
    monkeypatch.setenv("COLUMNS", "300")
    for where in ("/", tmp_path):
        monkeypatch.chdir(where)
        shown = call("pages", "ls", tmp_path / "data", "--sort", "bytes", "--limit", "2", "--long")
        rows = shown.out.splitlines()[1:3]
        assert [re.split(r"\s{2,}", row)[0] for row in rows] == ["a b0", "a b2"]
        folder = re.split(r"\s{2,}", rows[0])[-1].strip("'")
        assert call("pages", "decode", folder, "--format", "jsonl").out.count("\n") == 3
    assert "3 addresses" in shown.out and shown.status == 1


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_ls_sorts_and_limits_in_every_format(tmp_path: Path, form: str) -> None:
    for n, size in enumerate((1, 3, 2)):
        content = b"".join(message(k, f"a{n}", "x") for k in range(size))
        store(tmp_path / "paging", f"a{n}", {1: content}, f"f{n}")
    answer = call("pages", "ls", tmp_path, "--sort", "messages", "--limit", "2", "--format", form)
    assert answer.out.find("a1") < answer.out.find("a2") and "a0" not in answer.out
    assert call("pages", "ls", tmp_path, "--limit", "1", "--format", form).out.count("a0") == 1


def test_who_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    data = GoldenCase("2.56.0", "scattered-acks").copy(tmp_path)
    first = call("messages", "top", data, "--limit", "1")
    assert first.status == 0, first
    queue = first.out.splitlines()[1].split()[0]
    row = top(data)[0][0]
    assert row["queue"] == queue
    folder = call("pages", "ls", data, "--sort", "bytes", "--limit", "1", "--long").out.splitlines()[1].split()[-1]
    assert queue in call("pages", "outstanding", folder).out
    waiting = call("messages", "decode", data, "--queue", queue, "--outstanding", "--format", "jsonl").lines()
    assert len(waiting) == row["messages"]
    dropped = call("queue", "drop", data, queue, "--out", tmp_path / "new")
    assert dropped.status in (0, 1), dropped
    left = {each["queue"] for each in top(tmp_path / "new")[0]}
    assert queue not in left
