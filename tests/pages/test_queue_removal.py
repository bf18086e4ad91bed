"""``queue drop`` on directories of real brokers: nothing of the queue is left, everything of the others is."""

from __future__ import annotations

import shutil
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from compactions import due
from golden_cases import GoldenCase, cases_of_each_kind
from harmed import golden, json_of, no_trace, snapshot
from program import call

from pagefmt.change.compaction.copy_out import copy_out
from pagefmt.change.removal.plan import OF_QUEUE, plan_drop, transactions_of
from pagefmt.codec.wire import ByteReader
from pagefmt.directory.bindings import Bindings, load_bindings
from pagefmt.directory.locate import DataLocation, within
from pagefmt.directory.paging import open_paging
from pagefmt.directory.queue_names import NoSuchQueue, named_queue
from pagefmt.journal.message_journal import MessageJournal, load_messages
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.outstanding.message_filter import queue_ids
from pagefmt.vectors import load_place

MOST = 3
ANY = -1
"""In place of the references that a page transaction names: they change with the queue."""


def journals(place: DataLocation) -> tuple[MessageJournal, Bindings]:
    assert place.journal is not None and place.bindings is not None
    return load_messages(place.journal), load_bindings(place.bindings)


def records(journal: MessageJournal, queue: int, gone: frozenset[int]) -> list[Any]:
    """Return all surviving and prepared records in order.

    Page transactions are left out, and so are the records of ``queue`` and of the messages ``gone``.
    """
    columns = journal.loaded.columns
    rows = [("", row) for row in journal.loaded.rows]
    rows += [(branch.xid.hex(), row) for branch in journal.loaded.prepared for row in (*branch.rows, *branch.deletes)]
    found = []
    for xid, row in rows:
        kind, body = columns.types[row], columns.body(row)
        if kind in OF_QUEUE and ByteReader(body).i64("queue") == queue:
            continue
        if columns.ids[row] not in gone and kind != RecordType.PAGE_TRANSACTION:
            found.append((xid, columns.ids[row], kind, bool(columns.updates[row]), body))
    return found


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_what_is_left_is_what_the_others_have(case: GoldenCase, tmp_path: Path) -> None:
    old = within(case.data())
    journal, bindings = journals(old)
    held, acknowledged = due(old), set(journal.references())
    for queue in list(bindings.queues.values())[:MOST]:
        plan = plan_drop(old, f"{queue.address}::{queue.name}")
        copy_out(plan.pages, tmp_path / "new", changed=plan.changes)
        new = within(tmp_path / "new")
        after, left = journals(new)
        assert due(new) == {key: each for key, each in held.items() if key[0] != queue.id}
        assert records(after, queue.id, plan.gone) == records(journal, queue.id, plan.gone)
        others = {each for each in acknowledged if each[1] != queue.id and each[0] not in plan.gone}
        assert set(after.references()) == others
        assert left.queues == {number: each for number, each in bindings.queues.items() if number != queue.id}
        assert (left.addresses, left.id_counter) == (bindings.addresses, bindings.id_counter)
        assert [branch.xid for branch in after.prepared] == [branch.xid for branch in journal.prepared]
        assert after.loaded.dropped == () or len(after.loaded.dropped) == len(journal.loaded.dropped)
        for loaded in (after.loaded, left.loaded):
            assert loaded.damage is None
            assert [file.size for file in loaded.files] == [
                file.size for file in (journal.loaded if loaded is after.loaded else bindings.loaded).files
            ]
        again = {tx: number for tx, number in after.page_transactions.items() if tx in journal.page_transactions}
        assert after.page_transactions == again
        shutil.rmtree(tmp_path / "new")


def test_page_transactions_lose_the_share_of_the_queue() -> None:
    # Five transactions of 5 messages to each of two queues are partly consumed.
    state = load_place(within(golden("tx-across-pages").data()))
    assert state.bindings is not None
    (queue,) = (each for each in state.bindings.queues.values() if not each.flag("internal"))
    shares = transactions_of(state, queue)
    assert shares and set(shares) <= set(state.journal.page_transactions) and not any(shares.values())


def test_names() -> None:
    place = within(golden("multicast-acks").data())
    _, bindings = journals(place)
    assert named_queue(bindings, "news::red.news", place) == named_queue(bindings, "red.news", place)
    for wrong, meant in {"red.new": "red.news", "news": "all.news", "news::rad.news": "news::red.news"}.items():
        with pytest.raises(NoSuchQueue, match=f"did you mean {meant}"):
            named_queue(bindings, wrong, place)
    one = named_queue(bindings, "red.news", place)
    bindings.queues[99] = one._replace(id=99)
    assert queue_ids(["news::all.news", "99"], bindings, place) == {named_queue(bindings, "all.news", place).id, 99}
    for find in (named_queue, lambda bindings, name, place: queue_ids([name], bindings, place)):
        with pytest.raises(NoSuchQueue, match="2 queues have this name"):
            find(bindings, "red.news", place)


def test_the_address_goes_with_its_last_queue_alone(tmp_path: Path) -> None:
    data = golden("two-addresses").data()
    place = within(data)
    _, bindings = journals(place)
    queue = next(each for each in bindings.queues.values() if len(bindings.queues_of(each.address)) == 1)
    out = tmp_path / "new"
    answer = call("queue", "drop", data, queue.name, "--out", out, "--with-address", "--format", "json")
    assert answer.status == 0, answer
    told = json_of(answer)
    assert told["address_dropped"] and told["queues_left"] == []
    _, left = journals(within(out))
    assert {each.name for each in left.addresses.values()} == {
        each.name for each in bindings.addresses.values() if each.name != queue.address
    }
    many = call("queue", "drop", golden("multicast-acks").data(), "red.news", "--with-address")
    assert many.status == 2 and "drop them first" in many.err


def test_pages_of_other_addresses_stay_as_they_are(tmp_path: Path) -> None:
    """Also those with records that nobody waits for, which a compaction would remove."""
    data = golden("two-addresses").copy(tmp_path)
    _, bindings = journals(within(data))
    alpha, beta = (named_queue(bindings, name, within(data)) for name in ("alpha", "beta"))
    acknowledged = [
        JournalRecord(
            RecordKind.ADD, 1 << 40 | number, 0, RecordType.ACKNOWLEDGE_CURSOR, pack(">qqi", beta.id, 1, number)
        )
        for number in range(3)
    ]
    write_journal(data / "journal", "activemq-data-{}.amq", acknowledged, first=900)
    assert json_of(call("pages", "compact", data, "--format", "json"))["freed"] > 0
    out = tmp_path / "new"
    assert call("queue", "drop", data, alpha.name, "--out", out).status == 0
    before, after = (
        [
            page.path.read_bytes()
            for store in open_paging(folder).stores()
            if store.address == "beta"
            for page in store.pages
        ]
        for folder in (data / "paging", out / "paging")
    )
    assert before == after != []


def test_nothing_is_changed_and_the_plan_is_what_is_done(tmp_path: Path) -> None:
    data = golden("journal-mix").copy(tmp_path)
    _, bindings = journals(within(data))
    name = next(each.name for each in bindings.queues.values() if not each.flag("internal"))
    before = snapshot(data)
    words = ("queue", "drop", data, name, "--format", "json")
    plan = json_of(call(*words))
    dry = json_of(call(*words, "--out", tmp_path / "new", "--dry-run"))
    done = json_of(call(*words, "--out", tmp_path / "new"))
    assert plan == dry == done | {"done": False, "wrote": None}
    assert snapshot(data) == before
    assert plan["messages"] == plan["in_journal"]["messages"] + plan["in_pages"]["messages"] > 0
    again = call("queue", "drop", tmp_path / "new", name)
    assert again.status == 2 and "no durable queue of this name" in again.err
    assert call("queue", "drop", data, name, "--out", tmp_path / "new").status == 2


@pytest.mark.parametrize("part", ["journal", "bindings"])
def test_what_is_not_known_for_sure_is_refused(part: str, tmp_path: Path) -> None:
    data = golden("multicast-acks").copy(tmp_path)
    path = next(path for path in sorted((data / part).iterdir()) if path.suffix in (".amq", ".bindings"))
    content = bytearray(path.read_bytes())
    content[16:40] = b"\xa5" * 24
    path.write_bytes(content)
    answer = call("queue", "drop", data, "red.news", "--out", tmp_path / "new")
    no_trace(answer)
    assert answer.status == 2 and "damaged" in answer.err and not (tmp_path / "new").exists(), answer
