"""``queue purge`` on directories of real brokers: the messages are gone from the queue, everything else is there."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from compactions import due
from golden_cases import GoldenCase, cases_of_each_kind
from harmed import golden, json_of, snapshot
from program import call

from pagefmt.change.compaction.copy_out import copy_out
from pagefmt.change.removal.purge import plan_purge
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.record import PageRecord, encode_record
from pagefmt.directory.bindings import load_bindings
from pagefmt.directory.counters import counters
from pagefmt.directory.locate import within
from pagefmt.editions import Edition
from pagefmt.journal.message_journal import load_messages
from pagefmt.outstanding.ack_state import AckState
from pagefmt.selector import parse
from pagefmt.vectors.routes.route_columns import SMALL

LIVES = GoldenCase("lives", "2.56.0")
MOST = 3


def waiting(data: Path, queue: str, *words: str) -> list[int]:
    answer = call("messages", "decode", data, "--queue", queue, "--outstanding", "--format", "jsonl", *words)
    return sorted(line["id"] for line in answer.lines())


def without(ids: list[int], gone: list[int]) -> list[int]:
    return sorted(set(ids) - set(gone))


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_what_is_left_is_what_the_others_have(case: GoldenCase, tmp_path: Path) -> None:
    old = within(case.data())
    assert old.bindings is not None and old.journal is not None
    bindings, held = load_bindings(old.bindings), due(old)
    before = load_messages(old.journal)
    for queue in list(bindings.queues.values())[:MOST]:
        plan = plan_purge(old, f"{queue.address}::{queue.name}", None)
        copy_out(plan.pages, tmp_path / "new", changed=plan.changes, added=plan.added)
        new = within(tmp_path / "new")
        assert new.journal is not None and new.bindings is not None
        after, left = load_messages(new.journal), load_bindings(new.bindings)
        mine = {(queue.id, AckState.OUTSTANDING)}
        assert due(new) == {key: each for key, each in held.items() if key not in mine}
        assert (left.queues, left.addresses) == (bindings.queues, bindings.addresses)
        live = {each for each in before.references() if not each[2] and each[1] != queue.id}
        assert {each for each in after.references() if not each[2] and each[1] != queue.id} == live
        assert [branch.xid for branch in after.prepared] == [branch.xid for branch in before.prepared]
        for loaded in (after.loaded, left.loaded):
            assert (loaded.damage is None and loaded.dropped == ()) or loaded.damage is None
        shutil.rmtree(tmp_path / "new")


@pytest.mark.parametrize("queue", ["paged", "orders", "news.all", "EXPIRY", "state", "ring"])
def test_a_selector_chooses_in_journal_and_pages(queue: str, tmp_path: Path) -> None:
    data, where = LIVES.data(), "color = 'red'"
    every, red = waiting(data, queue), waiting(data, queue, "--where", where)
    assert red and len(red) < len(every)
    answer = call("queue", "purge", data, queue, "--where", where, "--out", tmp_path / "new", "--format", "json")
    told = json_of(answer)
    assert told["messages"] == len(red)
    assert waiting(tmp_path / "new", queue) == without(every, red)
    others = [row for row in call("messages", "ls", data, "--format", "jsonl").lines() if row["queue"] != queue]
    after = call("messages", "ls", tmp_path / "new", "--format", "jsonl").lines()
    shown = ("address", "queue", "messages", "journal", "pages", "scheduled", "in_doubt", "bytes")
    assert [[row[key] for key in shown] for row in after if row["queue"] != queue] == [
        [row[key] for key in shown] for row in others
    ]
    (mine,) = (row for row in after if row["queue"] == queue)
    assert mine["messages"] == told["left"]


def test_old_messages_alone(tmp_path: Path) -> None:
    # Messages without a time stay.
    data = LIVES.data()
    lines = call("messages", "find", data, "--queue", "orders", "--outstanding", "--format", "jsonl").lines()
    dated = sum(line["timestamp"] > 0 for line in lines)
    assert 0 < dated < len(lines)
    everything = json_of(call("queue", "purge", data, "orders", "--older-than", "0s", "--format", "json"))
    nothing = json_of(call("queue", "purge", data, "orders", "--older-than", "36500d", "--format", "json"))
    assert (everything["messages"], everything["left"]) == (dated, len(lines) - dated)
    assert (nothing["messages"], nothing["left"]) == (0, len(lines))
    apart = timedelta(milliseconds=everything["sent_before"] - nothing["sent_before"])
    assert timedelta(days=36499) < apart <= timedelta(days=36500)
    shown = call("queue", "purge", data, "orders", "--older-than", "2h").out
    (until,) = re.findall(r"^only messages that were sent before (\S+)$", shown, re.MULTILINE)
    assert timedelta(hours=2) <= datetime.now(UTC) - datetime.fromisoformat(until) < timedelta(hours=2, minutes=2)


def test_a_message_that_others_hold_is_acknowledged_and_stays_for_them(tmp_path: Path) -> None:
    data = golden("multicast-acks").data()
    plan = json_of(call("queue", "purge", data, "red.news", "--all", "--format", "json"))
    assert plan["acknowledged"] > 0 and not plan["done"]
    call("queue", "purge", data, "red.news", "--all", "--out", tmp_path / "new")
    for queue in ("none.news", "part.news"):
        assert waiting(tmp_path / "new", queue) == waiting(data, queue) != []
    assert waiting(tmp_path / "new", "red.news") == []
    journal = load_messages(tmp_path / "new" / "journal")
    (queue_id,) = (each.id for each in load_bindings(data / "bindings").queues.values() if each.name == "red.news")
    old, new = load_messages(data / "journal"), journal
    added = len(new.ack_index.numbers(queue_id, 1)) - len(old.ack_index.numbers(queue_id, 1))
    assert added > 0


def test_messages_of_other_queues_alone_are_not_selected(tmp_path: Path) -> None:
    # The page does not name the queue but one with a greater id, and is long enough to be read in columns.
    data = golden("multicast-acks").copy(tmp_path)
    queue = next(each for each in load_bindings(data / "bindings").queues.values() if each.name == "part.news")
    page = next(path for path in data.glob("paging/*/*.page") if int(path.stem) == 11)
    with open_page(page) as opened:
        records = [record for _, record in opened.records() if isinstance(record, PageRecord)]
    others = [tuple(each for each in record.queues if each != queue.id) for record in records]
    assert any(max(queues) > queue.id for queues in others)
    changed = [encode_record(replace(record, queues=queues)) for record, queues in zip(records, others, strict=True)]
    page.write_bytes(b"".join(changed * (1 + SMALL // page.stat().st_size)))
    selected = [each.path.name for each in plan_purge(within(data), "part.news", None).in_pages]
    assert selected and page.name not in selected


def test_ids_of_new_records_are_given_to_nothing_else(tmp_path: Path) -> None:
    data = golden("multicast-acks").data()
    call("queue", "purge", data, "red.news", "--all", "--out", tmp_path / "new")
    old, new = (load_messages(folder / "journal").loaded for folder in (data, tmp_path / "new"))
    counters_of = [load_bindings(folder / "bindings").id_counter or 0 for folder in (data, tmp_path / "new")]
    fresh = set(new.columns.ids) - set(old.columns.ids)
    assert fresh and min(fresh) > counters_of[0] and max(fresh) < counters_of[1]


def test_counters_lose_the_messages(tmp_path: Path) -> None:
    # Brokers up to 2.27 rely on the counters.
    data = GoldenCase("2.10.1", "topic-acks").data()
    place = within(data)
    plan = plan_purge(place, "news.scattered", parse("seq < 40"), Edition.ARTEMIS_2_10)
    copy_out(plan.pages, tmp_path / "new", changed=plan.changes, added=plan.added)
    before, after = (counters(load_messages(folder / "journal"))[plan.queue.id] for folder in (data, tmp_path / "new"))
    assert plan.paged_messages > 0
    assert after.value + after.increments == before.value + before.increments - plan.paged_messages


def test_nothing_is_changed_and_the_plan_is_what_is_done(tmp_path: Path) -> None:
    data = golden("journal-mix").copy(tmp_path)
    bindings = load_bindings(data / "bindings")
    name = next(each.name for each in bindings.queues.values() if not each.flag("internal"))
    before = snapshot(data)
    words = ("queue", "purge", data, name, "--all", "--format", "json")
    plan = json_of(call(*words))
    dry = json_of(call(*words, "--out", tmp_path / "new", "--dry-run"))
    done = json_of(call(*words, "--out", tmp_path / "new"))
    assert plan == dry == done | {"done": False, "wrote": None}
    assert snapshot(data) == before
    assert plan["messages"] == plan["in_journal"]["messages"] + plan["in_pages"]["messages"] > 0
    again = json_of(call("queue", "purge", tmp_path / "new", name, "--all", "--format", "json"))
    assert (again["messages"], again["left"]) == (0, 0)
    assert call(*words, "--out", tmp_path / "new").status == 2


def test_the_steps_name_the_real_folders(tmp_path: Path) -> None:
    data = golden("multicast-acks").copy(tmp_path)
    for words in (("purge", data, "red.news", "--all"), ("drop", data, "red.news")):
        out = tmp_path / words[0]
        shown = call("queue", *words, "--out", out).out
        assert "stop the broker" in shown and "start the broker" in shown
        for root in ("paging", "journal", "bindings"):
            assert f"mv {data / root} {data / root}.old &&\n" in shown
            assert f"mv {out / root} {data / root} &&\n" in shown
        assert "to use the copy" not in call("queue", *words).out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "--all, --where SELECTOR or --older-than AGE"),
        (("--all", "--where", "a = 1"), "--all takes every message"),
        (("--all", "--older-than", "1d"), "--all takes every message"),
        (("--older-than", "soon"), "'soon' is not a length of time"),
        (("--older-than", "30"), "'30' is not a length of time"),
        (("--where", "a ="), "a ="),
    ],
)
def test_what_does_not_say_which_messages_is_refused(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    answer = call("queue", "purge", golden("journal-mix").data(), "anything", *words, "--out", tmp_path / "new")
    assert answer.status == 2 and why in answer.err and not (tmp_path / "new").exists()


@pytest.mark.parametrize("part", ["journal", "bindings"])
def test_what_is_not_known_for_sure_is_refused(part: str, tmp_path: Path) -> None:
    data = golden("multicast-acks").copy(tmp_path)
    path = next(path for path in sorted((data / part).iterdir()) if path.suffix in (".amq", ".bindings"))
    content = bytearray(path.read_bytes())
    content[16:40] = b"\xa5" * 24
    path.write_bytes(content)
    answer = call("queue", "purge", data, "red.news", "--all", "--out", tmp_path / "new")
    assert answer.status == 2 and "damaged" in answer.err and not (tmp_path / "new").exists(), answer


def test_a_damaged_page_stays_as_it_is(tmp_path: Path) -> None:
    data = golden("multicast-acks").copy(tmp_path)
    page = sorted(data.glob("paging/*/*.page"))[2]
    page.write_bytes(page.read_bytes()[:-100])
    answer = call("queue", "purge", data, "red.news", "--all", "--out", tmp_path / "new", "--format", "json")
    assert answer.status == 1 and page.name in json_of(answer)["remarks"][0]
    copied = next((tmp_path / "new").glob(f"paging/*/{page.name}"))
    assert copied.read_bytes() == page.read_bytes()
