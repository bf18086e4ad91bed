"""Journals that real brokers wrote: our facts equal those of the broker's own journal reader, record by record."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase

from pagefmt.directory.bindings import (
    ROUTING,
    Bindings,
    decode_address,
    decode_queue,
    encode_address,
    encode_queue,
    load_bindings,
)
from pagefmt.journal.bodies import (
    CounterIncrement,
    CounterValue,
    CursorAck,
    DuplicateId,
    PageTransaction,
    PendingCounter,
    ScheduledDelivery,
    decode_body,
    decode_xid,
    encode_body,
)
from pagefmt.journal.files import Journal
from pagefmt.journal.listing import list_files
from pagefmt.journal.load import LoadedJournal, load_journal
from pagefmt.journal.message_journal import MessageJournal, load_messages
from pagefmt.journal.record_types import RecordType, type_name
from pagefmt.journal.records import encode, record_of
from pagefmt.journal.scan import TornRecords, scan

CASES = golden_cases.cases()


def facts(loaded: LoadedJournal, rows: Any) -> list[dict[str, Any]]:
    out = []
    for row in rows:
        record = loaded.record(row)
        body = loaded.columns.body(row)
        out.append(
            {
                "id": record.id,
                "type": record.user_type,
                "type_name": type_name(record.user_type),
                "update": record.update,
                "compact": record.compact,
                "size": len(body),
                "sha256": hashlib.sha256(body).hexdigest(),
            }
        )
    return out


def same_keys(record: dict[str, Any]) -> dict[str, Any]:
    return {key: record[key] for key in ("id", "type", "type_name", "update", "compact", "size", "sha256")}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_record_in_load_order(case: GoldenCase) -> None:
    manifest = case.manifest()
    messages, bindings = load_messages(case.data() / "journal"), load_bindings(case.data() / "bindings")
    assert messages.bad == [] and bindings.bad == []
    every = load_journal(case.data() / "journal")
    for loaded, told in ((every, manifest["journal"]), (bindings.loaded, manifest["bindings"])):
        assert facts(loaded, loaded.rows) == [same_keys(record) for record in told["records"]]
        assert loaded.notes == ()
        assert sum(torn.count for _, torn in loaded.torn) == 0
    assert facts(messages.loaded, messages.loaded.rows) == [
        same_keys(record)
        for record in manifest["journal"]["records"]
        if record["type"] != RecordType.ACKNOWLEDGE_CURSOR
    ]
    for branch, told_branch in zip(messages.loaded.prepared, manifest["journal"]["prepared"], strict=True):
        assert branch.tx == told_branch["tx"]
        assert str(decode_xid(branch.xid)) == told_branch["xid"]
        assert facts(messages.loaded, branch.rows) == [same_keys(record) for record in told_branch["records"]]
        assert [messages.loaded.columns.ids[row] for row in branch.deletes] == [
            record["id"] for record in told_branch["deletes"]
        ]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_message_journal_facts(case: GoldenCase) -> None:
    told = case.manifest()["journal"]
    ours = load_messages(case.data() / "journal")
    assert acks(case) == told["acks"]
    named = {(ack["queue"], ack["page"]) for ack in told["acks"]}
    assert {key: list(ours.ack_index.numbers(*key)) for key in ours.ack_index.pages()} == {
        key: sorted({ack["message"] for ack in told["acks"] if (ack["queue"], ack["page"]) == key}) for key in named
    }
    assert [{"record": record, "queue": queue, "page": page} for record, queue, page, _ in ours.completes] == told[
        "page_completes"
    ]
    assert page_transactions(ours) == [
        {key: tx[key] for key in ("record", "tx", "messages", "update")} for tx in told["page_transactions"]
    ]
    assert counters(ours) == [
        {key: value for key, value in counter.items() if key != "page"} for counter in told["counters"]
    ]
    assert [
        {"message": message, "queue": queue, "acked": acked} for message, queue, acked in ours.references()
    ] == told["references"]
    assert [row.id for row, _ in ours.messages()] == [message["id"] for message in told["messages"]]
    assert [
        {"record": row.id, "address": body.address, "hex": body.id.hex()}
        for row, body in ours.decoded(RecordType.DUPLICATE_ID)
        if isinstance(body, DuplicateId)
    ] == told["duplicate_ids"]
    assert [
        {"message": row.id, "queue": body.queue, "time": body.time}
        for row, body in ours.decoded(RecordType.SET_SCHEDULED_DELIVERY_TIME)
        if isinstance(body, ScheduledDelivery)
    ] == told["scheduled"]


def acks(case: GoldenCase) -> list[dict[str, int]]:
    loaded = load_journal(case.data() / "journal")
    found = []
    for row in loaded.rows_of(RecordType.ACKNOWLEDGE_CURSOR):
        body = decode_body(loaded.columns.types[row], loaded.columns.body(row))
        assert isinstance(body, CursorAck)
        found.append(
            {"record": loaded.columns.ids[row], "queue": body.queue, "page": body.page, "message": body.number}
        )
    return found


def page_transactions(ours: MessageJournal) -> list[dict[str, Any]]:
    return [
        {"record": row.id, "tx": body.tx, "messages": None if row.update else body.references, "update": row.update}
        for row, body in ours.decoded(RecordType.PAGE_TRANSACTION)
        if isinstance(body, PageTransaction)
    ]


def counters(ours: MessageJournal) -> list[dict[str, Any]]:
    out = []
    for row, body in ours.decoded(
        RecordType.PAGE_CURSOR_COUNTER_VALUE, RecordType.PAGE_CURSOR_COUNTER_INC, RecordType.PAGE_CURSOR_PENDING_COUNTER
    ):
        match body:
            case CounterValue(queue, count, size):
                out.append({"record": row.id, "queue": queue, "kind": "value", "count": count, "size": size})
            case CounterIncrement(queue, count, size):
                out.append({"record": row.id, "queue": queue, "kind": "inc", "count": count, "size": size})
            case PendingCounter(queue, _):
                out.append({"record": row.id, "queue": queue, "kind": "pending", "count": None, "size": None})
    return out


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bindings_facts(case: GoldenCase) -> None:
    told = case.manifest()["bindings"]
    ours = load_bindings(case.data() / "bindings")
    assert queues(ours, told) == [
        {
            key: queue[key]
            for key in ("id", "name", "address", "filter", "routing", "auto_created", "user")
            if key in queue
        }
        for queue in told["queues"]
    ]
    assert [
        {
            "id": address.id,
            "name": address.name,
            "routing": f"[{', '.join(ROUTING[value] for value in sorted(address.routing_types))}]",
            "auto_created": bool(address.auto_created),
        }
        for _, address in sorted(ours.addresses.items())
    ] == sorted(told.get("addresses", []), key=lambda address: address["id"])
    for queue, expected in zip((ours.queues[q["id"]] for q in told["queues"]), told["queues"], strict=True):
        config = expected.get("config", {})
        for ours_name, java_name in (
            ("non_destructive", "nonDestructive"),
            ("last_value", "lastValue"),
            ("enabled", "enabled"),
            ("internal", "internal"),
            ("purge_on_no_consumers", "purgeOnNoConsumers"),
        ):
            if java_name in config and ours_name in queue.fields:
                assert queue.flag(ours_name) == config[java_name]
        for ours_name, java_name in (("ring_size", "ringSize"), ("max_consumers", "maxConsumers")):
            if java_name in config:
                assert queue.fields[ours_name] == config[java_name]


def queues(ours: Bindings, told: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for (_, queue), expected in zip(sorted(ours.queues.items()), told["queues"], strict=True):
        every = {
            "id": queue.id,
            "name": queue.name,
            "address": queue.address,
            "filter": queue.filter or None,
            "routing": queue.routing,
            "auto_created": queue.flag("auto_created"),
            "user": queue.user,
        }
        out.append({key: value for key, value in every.items() if key in expected})
    return out


@pytest.mark.parametrize("case", CASES, ids=str)
def test_encode_of_decode_is_the_same_bytes(case: GoldenCase) -> None:
    for folder, journal in (("journal", Journal.MESSAGES), ("bindings", Journal.BINDINGS)):
        for file in list_files(case.data() / folder, journal).files:
            buf = file.path.read_bytes()
            for frame in scan(buf, file.header, TornRecords()):
                record = record_of(frame, buf)
                assert encode(record, file.header.file_id) == buf[frame.at : frame.at + frame.total]
                same_body(record.user_type, record.id, record.body)


def same_body(user_type: int, record: int, body: bytes) -> None:
    match user_type:
        case RecordType.QUEUE_BINDING_RECORD:
            queue = decode_queue(record, body)
            assert encode_queue(queue) == body and queue.rest == b""
        case RecordType.ADDRESS_BINDING_RECORD:
            assert encode_address(decode_address(record, body)) == body
        case _:
            decoded = decode_body(user_type, body)
            assert decoded is None or encode_body(decoded) == body


def test_the_corpus_holds_what_these_tests_are_about() -> None:
    assert len(CASES) > 190
    assert {case.version for case in CASES} == set(golden_cases.VERSIONS)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    case = next(case for case in CASES if str(case) == "2.56.0/tx")
    journal = case.copy(tmp_path) / "journal"
    before = load_messages(journal)
    real = journal / "activemq-data-1.amq"
    real.rename(tmp_path / "elsewhere")
    real.symlink_to(tmp_path / "elsewhere")
    os.mkfifo(journal / "activemq-data-9.amq")
    after = load_messages(journal)
    assert len(after.loaded.rows) < len(before.loaded.rows)
    assert [(note.file, note.kind.name) for note in after.loaded.notes] == [
        ("activemq-data-1.amq", "NOT_REGULAR"),
        ("activemq-data-9.amq", "NOT_REGULAR"),
    ]
