"""``messages decode`` on every golden directory: the broker's own facts of what lies in the journal, and the drains.

Order is compared with the drain message by message. Where paged messages differ in priority the broker's own order
depends on how far it had read ahead: there each priority is compared by itself.
"""

from __future__ import annotations

import time
from typing import Any

import golden_cases
import pytest
from broker_jars import CURRENT
from broker_messages import as_lines_have_it
from deliveries import compared, message_lines
from editions_of import EDITION_OF
from golden_cases import GoldenCase

from pagefmt.outstanding.message_filter import MessageFilter

CASES = golden_cases.cases()
NOT_IN_A_LINE = frozenset(("class", "record", "page", "number", "offset", "large_type", "persister", "length", "tx"))
NOT_SCANNED = frozenset(("durable", "priority", "timestamp", "user_id", "expiration"))
"""Of an AMQP message brokers say different things before they look into it."""


def facts(message: dict[str, Any]) -> dict[str, Any]:
    left_out = NOT_IN_A_LINE | (NOT_SCANNED if message["protocol"] == "amqp" else set())
    return {key: value for key, value in message.items() if key not in left_out}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_messages_of_the_journal_are_what_the_broker_reads(case: GoldenCase) -> None:
    told = case.manifest()["journal"]
    mine = [line for line in message_lines(case.data(), MessageFilter(), 0) if line["page"] is None]
    assert {line["where"] for line in mine} <= {"journal", "large"}
    committed = [line for line in mine if line["tx"] < 0]
    for line, message in zip(committed, told["messages"], strict=True):
        wanted = facts(as_lines_have_it(message))
        assert {key: line.get(key) for key in wanted} == wanted | {
            key: line.get(key) for key in ("body_text", "body_value", "amqp") if key in wanted
        }
        assert line["properties"] == as_lines_have_it(message)["properties"]
    queues = {(line["id"], queue): queue in line["acked_by"] for line in committed for queue in line["queues"]}
    assert queues == {(each["message"], each["queue"]): each["acked"] for each in told["references"]}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_outstanding_is_what_a_broker_delivered_in_its_order(case: GoldenCase) -> None:
    # No message of these cases expired before the drain.
    for queue in case.drain()["queues"]:
        if not queue["name"].startswith("$sys."):
            found = compared(case.data(), queue, 0, EDITION_OF[case.version], int(time.time() * 1000))
            assert found in (None, "order")


@pytest.mark.parametrize("version", CURRENT)
def test_lives_with_compaction_and_kills(version: str) -> None:
    # ``journal_lives`` made the cases. ``at``: time of the drain.
    case = GoldenCase("lives", version)
    drain = case.drain()
    found = [compared(case.data(), queue, drain["at"], EDITION_OF[version]) for queue in drain["queues"]]
    assert set(found) <= {None, "order"}
    assert found.count("order") <= 1
