"""``convert`` on directories made here: destinations of JMS, settings, clashes, damage, what is refused."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from golden_cases import GoldenCase
from program import call

from pagefmt.change.conversion.apply import convert
from pagefmt.change.conversion.bindings import CannotName
from pagefmt.change.conversion.names import NewNames, new_filter, new_property
from pagefmt.change.conversion.plan import CannotConvert, ConversionPlan, plan_conversion
from pagefmt.codec.messages.core_message import HeaderBlock
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.persisted import decode_persisted
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, string
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteReader, ByteWriter
from pagefmt.directory.bindings import QueueBinding, encode_queue, load_bindings
from pagefmt.directory.locate import within
from pagefmt.directory.paging import page_name
from pagefmt.editions import Edition
from pagefmt.journal.bodies import DuplicateId, QueueRef, ScheduledDelivery, encode_body
from pagefmt.journal.files import Journal
from pagefmt.journal.load import load_journal
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.storage.file_snapshot import SourceChanged

NEWEST = Edition.ARTEMIS_2_56


def message(number: int, address: str, **properties: str) -> OldCoreMessage:
    entries = tuple(Property(name, string(value)) for name, value in properties.items())
    header = HeaderBlock(number, 1, address, 0, None, 3, 0xFF, 0, 0, 4, properties_bytes(entries))
    return OldCoreMessage(b"\1" + struct.pack(">i", 2) + b"x\0", header)


def encoded(each: OldCoreMessage) -> bytes:
    out = ByteWriter()
    each.encode(out)
    return out.done()


def add(number: int, kind: RecordType, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.ADD, number, 0, kind, body)


def update(number: int, kind: RecordType, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.UPDATE, number, 0, kind, body)


def queue(number: int, name: str, address: str, selector: str | None = None) -> JournalRecord:
    fields = {"name": name, "address": address, "filter": selector}
    return add(number, RecordType.QUEUE_BINDING_RECORD, encode_queue(QueueBinding(number, fields)))


def texts(*values: str | None) -> bytes:
    """Encode a mandatory string followed by nullable strings."""
    out = ByteWriter()
    out.sstr(values[0] or "")
    for value in values[1:]:
        out.nsstr(value)
    return out.done()


DEFINITIONS = (
    queue(1, "jms.queue.x", "jms.queue.x"),
    queue(2, "jms.topic.t", "jms.topic.t", "__HQX=-1"),
    queue(3, "me.sub", "jms.topic.t", "HQPriority > 3 AND name='HQPriority'"),
    queue(4, "plain", "core"),
)


def directory(
    where: Path, definitions: Iterable[JournalRecord] = DEFINITIONS, messages: Iterable[JournalRecord] = ()
) -> Path:
    """Write a data directory with the file names of HornetQ."""
    for name in ("journal", "bindings", "paging"):
        (where / name).mkdir(parents=True)
    write_journal(where / "bindings", "hornetq-bindings-{}.bindings", definitions)
    write_journal(where / "journal", "hornetq-data-{}.hq", messages)
    return where


def store(data: Path, name: str, address: str, *messages: OldCoreMessage, queues: tuple[int, ...] = (1,)) -> Path:
    folder = data / "paging" / name
    folder.mkdir()
    (folder / "address.txt").write_text(f"{address}\n")
    records = [PageRecord(0, 0, -1, 0, Layout.OLD, None, each, queues, len(encoded(each))) for each in messages]
    (folder / page_name(1)).write_bytes(b"".join(map(encode_record, records)))
    return folder


def plan_of(data: Path, edition: Edition = NEWEST, *, keep: bool = False) -> ConversionPlan:
    return plan_conversion(within(data), edition, keep_prefixes=keep)


def written(data: Path, keep: bool = False) -> Path:
    new = data.parent / "new"
    convert(plan_of(data, keep=keep), new)
    return new


def test_destinations_of_jms(tmp_path: Path) -> None:
    data = directory(tmp_path / "old")
    plan = plan_of(data)
    found = load_bindings(written(data) / "bindings")
    assert {(one.address, one.name, one.routing, one.filter) for one in found.queues.values()} == {
        ("x", "x", "ANYCAST", None),
        ("t", "me.sub", "MULTICAST", "AMQPriority > 3 AND name='HQPriority'"),
        ("core", "plain", "MULTICAST", None),
    }
    assert {(one.name, one.routing) for one in found.addresses.values()} == {
        ("x", ("ANYCAST",)),
        ("t", ("MULTICAST",)),
        ("core", ("MULTICAST",)),
    }
    assert plan.dropped == ("queue jms.topic.t: represented the topic itself and received no messages",)
    assert not plan.lost and found.queues[3].fields["metadata"] == ""


def test_a_queue_and_a_topic_of_one_name_share_an_address(tmp_path: Path) -> None:
    both = (queue(1, "jms.queue.x", "jms.queue.x"), queue(2, "me.sub", "jms.topic.x"))
    data = directory(tmp_path / "old", both)
    (address,) = load_bindings(written(data) / "bindings").addresses.values()
    assert (address.name, address.routing) == ("x", ("MULTICAST", "ANYCAST"))
    one = store(data, "a", "jms.queue.x", message(9, "jms.queue.x"))
    store(data, "b", "jms.topic.x")
    (data / "paging" / "b" / page_name(1)).unlink()
    assert [each.folder for each in plan_of(data).stores] == [one]
    (data / "paging" / "b" / page_name(1)).write_bytes(b"")
    with pytest.raises(CannotConvert, match=r"jms.queue.x and jms.topic.x would both become x.*--keep-prefixes"):
        plan_of(data)
    assert len(plan_of(data, keep=True).stores) == 2


def test_two_queues_of_one_name_are_refused(tmp_path: Path) -> None:
    data = directory(tmp_path / "old", (*DEFINITIONS, queue(5, "x", "x")))
    with pytest.raises(CannotName, match=r"jms.queue.x, x would all be named x; --keep-prefixes"):
        plan_of(data)
    plan_of(data, keep=True)


def test_messages_of_the_journal_and_what_is_said_of_them(tmp_path: Path) -> None:
    old = message(7, "jms.queue.x", _HQ_GROUP_ID="g", _HQ_ORIG_ADDRESS="jms.topic.t", JMSReplyTo="jms.topic.t", own="v")
    data = directory(
        tmp_path / "old",
        messages=(
            add(7, RecordType.ADD_MESSAGE, encoded(old)),
            update(7, RecordType.ADD_REF, encode_body(QueueRef(1))),
            update(7, RecordType.SET_SCHEDULED_DELIVERY_TIME, encode_body(ScheduledDelivery(1, 1 << 42))),
            add(8, RecordType.DUPLICATE_ID, encode_body(DuplicateId("BRIDGE.jms.queue.x", b"id"))),
        ),
    )
    loaded = load_journal(written(data) / "journal", Journal.MESSAGES)
    first, *others, last = ((row.user_type, loaded.columns.body(row.row)) for row in loaded.records())
    new = decode_persisted(ByteReader(first[1]))
    assert first[0] == RecordType.ADD_MESSAGE_PROTOCOL and (new.id, new.address) == (7, "x")
    assert new.durable and {name: value.value for name, value in new.properties().items()} == {
        "_AMQ_GROUP_ID": "g",
        "_AMQ_ORIG_ADDRESS": "t",
        "JMSReplyTo": "topic://t",
        "own": "v",
        "_AMQ_ROUTING_TYPE": 1,
    }
    assert [kind for kind, _ in others] == [RecordType.ADD_REF, RecordType.SET_SCHEDULED_DELIVERY_TIME]
    assert last == (RecordType.DUPLICATE_ID, encode_body(DuplicateId("BRIDGE.x", b"id")))


def test_a_message_that_cannot_be_read_is_told_and_its_references_go(tmp_path: Path) -> None:
    torn = encoded(message(7, "core"))[:-3]
    records = [
        add(7, RecordType.ADD_MESSAGE, torn),
        update(7, RecordType.ADD_REF, encode_body(QueueRef(4))),
        add(9, RecordType.DUPLICATE_ID, b"\0"),
        JournalRecord(RecordKind.ADD, 10, 0, 99, b"?"),
    ]
    data = directory(tmp_path / "old", messages=records)
    lost = plan_of(data).lost
    assert [line.split(":")[1].split(",")[0] for line in lost] == [" record 7", " record 9", " 1 record of type 99"]
    assert list(load_journal(written(data) / "journal", Journal.MESSAGES).records()) == []


def test_prepared_transactions_span_files(tmp_path: Path) -> None:
    body = encoded(message(1, "core", filling="x" * 400_000))
    sends = [JournalRecord(RecordKind.ADD_TX, 20 + n, 5, RecordType.ADD_MESSAGE, body) for n in range(4)]
    data = directory(tmp_path / "old", messages=[*sends, JournalRecord(RecordKind.PREPARE, tx=5, body=bytes(12))])
    new = written(data)
    (branch,) = load_journal(new / "journal", Journal.MESSAGES).prepared
    assert (branch.tx, len(branch.rows), branch.xid) == (5, 4, bytes(12))
    assert len(list((new / "journal").iterdir())) > 1


def test_settings_of_management(tmp_path: Path) -> None:
    out = ByteWriter()
    out.sstr("jms.queue.#")
    for value in ("PAGE", 1000, 500):
        out.u8(1)
        out.sstr(value) if isinstance(value, str) else out.i64(value)
    out.raw(bytes(7))
    out.u8(0xFF)
    out.sstr("jms.queue.DLQ")
    out.raw(bytes(8))
    roles = texts("jms.queue.#", "s", "c", "create", "drop", None, None, "m")
    records = (
        *DEFINITIONS,
        add(8, RecordType.ADDRESS_SETTING_RECORD, out.done()),
        add(9, RecordType.SECURITY_SETTING_RECORD, roles),
        add(10, RecordType.SECURITY_SETTING_RECORD, texts("jms.topic.#", *[None] * 7)),
    )
    data = directory(tmp_path / "old", records)
    plan = plan_of(data)
    assert [line.partition(",")[0] for line in plan.lost] == ["bindings: record 10"]
    found = {row.user_type: body for row, body in bodies(written(data))}
    reader = ByteReader(found[RecordType.ADDRESS_SETTING_RECORD_JSON])
    assert reader.sstr() == "#"
    assert json.loads(reader.sstr()) == {
        "addressFullMessagePolicy": "PAGE",
        "maxSizeBytes": 1000,
        "pageSizeBytes": 500,
        "deadLetterAddress": "DLQ",
    }
    wanted = texts("#", "s", "c", "create", "drop", None, None, "m", "c", "create", "drop")
    assert found[RecordType.SECURITY_SETTING_RECORD] == wanted
    assert "set them again" in plan_of(data, Edition.ARTEMIS_2_28).lost[0]


def bodies(new: Path) -> list[tuple[JournalRecord, bytes]]:
    loaded = load_journal(new / "bindings", Journal.BINDINGS)
    return [(add(row.id, RecordType(row.user_type), b""), loaded.columns.body(row.row)) for row in loaded.records()]


def test_a_record_that_cannot_be_read_leaves_the_numbers_of_the_others(tmp_path: Path) -> None:
    data = directory(tmp_path / "old")
    folder = store(data, "a", "core", *(message(n, "core") for n in range(10, 13)), queues=(4,))
    page = folder / page_name(1)
    content = page.read_bytes()
    at = content.index(b"\1" + struct.pack(">i", 8) + "core".encode("utf-16-le"), len(content) // 3)
    page.write_bytes(content[: at + 1] + struct.pack(">i", 1 << 20) + content[at + 5 :])
    plan = plan_of(data)
    assert len(plan.lost) == 1 and "record 1: cannot be read" in plan.lost[0]
    answer = call("messages", "decode", written(data), "--format", "jsonl")
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert [(each["number"], each["id"], each["queues"]) for each in found] == [(0, 10, [4]), (1, 11, []), (2, 12, [4])]


def test_what_is_refused(tmp_path: Path) -> None:
    data = directory(tmp_path / "old")
    with pytest.raises(CannotConvert, match=r"artemis-1.5: directories of that edition cannot be written; choose one"):
        plan_of(data, Edition.ARTEMIS_1_5)
    with pytest.raises(CannotConvert, match=r"artemis-2.44 or later, and artemis-2.28 cannot read"):
        plan_of(GoldenCase("2.56.0", "basic").data(), Edition.ARTEMIS_2_28)
    (file,) = (data / "bindings").iterdir()
    file.rename(tmp_path / file.name)
    with pytest.raises(CannotConvert, match="bindings folder contains no journal file"):
        plan_of(data)


def test_a_source_that_moves_is_noticed(tmp_path: Path) -> None:
    data = directory(tmp_path / "old")
    plan = plan_of(data)
    (file,) = (data / "journal").iterdir()
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(SourceChanged, match="changed while it was copied"):
        convert(plan, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_links_lead_to_is_not_left_out(tmp_path: Path) -> None:
    data = directory(tmp_path / "old")
    (data / "large-messages").mkdir()
    (data / "large-messages" / "7.msg").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CannotConvert, match=r"7.msg: is a symbolic link, and its target would be missing"):
        plan_of(data)


def test_ids_have_to_go_on(tmp_path: Path) -> None:
    data = directory(tmp_path / "old", messages=[add((1 << 63) - 1, RecordType.PAGE_TRANSACTION, bytes(12))])
    with pytest.raises(CannotConvert, match="no id can follow"):
        plan_of(data)


def test_a_directory_without_pages(tmp_path: Path) -> None:
    data = directory(tmp_path / "old")
    (data / "paging").rmdir()
    assert sorted(path.name for path in written(data).iterdir()) == ["bindings", "journal", "large-messages", "paging"]


def test_folders_that_brokers_pass_over_are_told(tmp_path: Path) -> None:
    data = directory(tmp_path / "old")
    (store(data, "a", "core", message(9, "core")) / "address.txt").unlink()
    (data / "paging" / "stray").write_bytes(b"")
    store(data, "b", "core", message(9, "core"))
    (data / "paging" / "b" / "note.txt").write_bytes(b"")
    plan = plan_of(data)
    assert [line.split(":")[0] for line in plan.lost] == ["paging/a"]
    assert {line.split(":")[0] for line in plan.dropped} >= {"paging/stray", "paging/b/note.txt"}


def test_names() -> None:
    names, kept = NewNames(), NewNames(keep=True)
    assert names.cache("BRIDGE.jms.queue.x") == "BRIDGE.x" and names.cache("jms.topic.t") == "t"
    assert (
        names.reply_to("jms.tempqueue.1") == "temp-queue://1" and kept.reply_to("jms.queue.x") == "queue://jms.queue.x"
    )
    assert names.reply_to("queue://x") == "queue://x"
    assert new_property("__HQ_CID") == "__AMQ_CID" and new_property("my_HQ_x") == "my_HQ_x"
    assert new_filter("__HQ_CID <> '_HQ_X' AND _HQ_ORIG_QUEUE='HQSize' OR HQSize > 1 OR aHQSize = 2") == (
        "__AMQ_CID <> '_HQ_X' AND _AMQ_ORIG_QUEUE='HQSize' OR AMQSize > 1 OR aHQSize = 2"
    )
