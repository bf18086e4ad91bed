"""Every golden directory converted to the newest edition, and read again: messages, acknowledgements, states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase
from program import call

from pagefmt.change.conversion.apply import convert
from pagefmt.change.conversion.names import new_property
from pagefmt.change.conversion.plan import ConversionPlan, plan_conversion
from pagefmt.directory.bindings import load_bindings
from pagefmt.directory.locate import within
from pagefmt.editions import NEWEST
from pagefmt.journal.bodies import CounterIncrement, CounterValue, PendingCounter, decode_body
from pagefmt.journal.files import Journal
from pagefmt.journal.load import load_journal

SAME = (
    "where", "page", "number", "tx", "queues", "protocol", "id", "durable", "priority", "timestamp", "expiration",
    "user_id", "type", "large", "body_sha256", "acked_by", "delivered", "scheduled",
)  # fmt: skip


def lines(data: Path) -> list[dict[str, Any]]:
    answer = call("messages", "decode", data, "--format", "jsonl", "--body", "sha256")
    assert answer.status in (0, 1), answer
    return [json.loads(line) for line in answer.out.splitlines()]


def facts(message: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    not_scanned = {"durable", "priority", "timestamp", "user_id", "expiration"} if message["protocol"] == "amqp" else ()
    found = {key: message.get(key) for key in SAME if key not in not_scanned}
    found["state"] = {names.get(name, name): state for name, state in message["queues_state"].items()}
    added = {"_AMQ_ROUTING_TYPE", "JMSReplyTo"}
    found["properties"] = [
        (new_property(name), value) for name, value in message["properties"].items() if name not in added
    ]
    return found


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def converted(case: GoldenCase, to: Path, **how: Any) -> ConversionPlan:
    plan = plan_conversion(within(case.data()), NEWEST, **how)
    convert(plan, to)
    return plan


@pytest.mark.parametrize("case", golden_cases.spread(golden_cases.cases_of_each_kind(), 3), ids=str)
def test_the_messages_are_the_same(case: GoldenCase, tmp_path: Path) -> None:
    before = snapshot(case.data())
    plan = converted(case, tmp_path / "new")
    assert snapshot(case.data()) == before
    names = {old.name: new.name for old, new in plan.bindings.queues if new is not None}
    source = [facts(line, names) for line in lines(case.data())]
    result = [facts(line, names) for line in lines(tmp_path / "new")]
    assert result == source
    assert (tmp_path / "new" / "paging").is_dir()


@pytest.mark.parametrize("case", golden_cases.cases("hornetq-2.4.7", "artemis-1.5.6"), ids=str)
def test_bindings_have_addresses_and_all_fields(case: GoldenCase, tmp_path: Path) -> None:
    plan = converted(case, tmp_path / "new")
    found = load_bindings(tmp_path / "new" / "bindings")
    assert not found.bad
    assert {queue.address for queue in found.queues.values()} <= {each.name for each in found.addresses.values()}
    assert list(found.queues) == [new.id for _, new in plan.bindings.queues if new is not None]
    highest = max([*found.queues, *found.addresses, *plan.messages.columns.ids])
    assert found.id_counter is not None and found.id_counter > highest
    for queue in found.queues.values():
        assert queue.routing == ("ANYCAST" if queue.id in jms_queues(plan) else "MULTICAST")
        assert "internal" in queue.fields and not queue.name.startswith("jms.")


def jms_queues(plan: ConversionPlan) -> set[int]:
    return {old.id for old, _ in plan.bindings.queues if old.address.startswith("jms.queue.")}


@pytest.mark.parametrize("version", ["hornetq-2.4.7", "2.10.1"])
def test_a_broker_that_counts_finds_no_increments(version: str, tmp_path: Path) -> None:
    plan = converted(GoldenCase(version, "tx"), tmp_path / "new")
    loaded = load_journal(tmp_path / "new" / "journal", Journal.MESSAGES)
    rows = [*loaded.rows, *(row for branch in loaded.prepared for row in branch.rows)]
    found = [decode_body(loaded.columns.types[row], loaded.columns.body(row)) for row in rows]
    assert len(loaded.prepared) == len(plan.messages.prepared) == 2
    assert not any(isinstance(each, (CounterIncrement, PendingCounter)) for each in found)
    assert [each.count for each in found if isinstance(each, CounterValue)] == [32]


def test_prefixes_are_kept_when_asked_for(tmp_path: Path) -> None:
    case = GoldenCase("hornetq-2.4.7", "jms")
    converted(case, tmp_path / "new", keep_prefixes=True)
    found = load_bindings(tmp_path / "new" / "bindings")
    assert {(queue.address, queue.name, queue.routing) for queue in found.queues.values()} == {
        ("jms.queue.jmsTypes", "jms.queue.jmsTypes", "ANYCAST"),
        ("jms.queue.reply.to", "jms.queue.reply.to", "ANYCAST"),
    }
    assert {message["address"] for message in lines(tmp_path / "new")} == {"jms.queue.jmsTypes"}


def test_messages_of_jms_say_where_they_are_of(tmp_path: Path) -> None:
    converted(GoldenCase("hornetq-2.4.7", "jms"), tmp_path / "new")
    found = lines(tmp_path / "new")
    properties = [message["properties"] for message in found]
    assert {each["_AMQ_ROUTING_TYPE"] for each in properties} == {1}
    assert {each["JMSReplyTo"] for each in properties if "JMSReplyTo" in each} == {"queue://reply.to"}
    assert {message["address"] for message in found} == {"jmsTypes"}


@pytest.mark.parametrize("case", golden_cases.cases("2.56.0")[::6], ids=str)
def test_a_directory_of_the_same_edition_stays(case: GoldenCase, tmp_path: Path) -> None:
    converted(case, tmp_path / "new")
    for path in case.data().rglob("*.page"):
        assert (tmp_path / "new" / path.relative_to(case.data())).read_bytes() == path.read_bytes()
