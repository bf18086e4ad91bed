"""``messages decode`` on every golden directory: the broker's own facts of what lies in the journal, and the drains.

Order is compared with the drain message by message. Where paged messages differ in priority the broker's own order
depends on how far it had read ahead: there each priority is compared by itself.
"""

from __future__ import annotations

import json
import time
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase
from pagectl.decoding.sources import AllSources
from pagectl.terminal.streams import json_text
from test_outstanding_golden import priority

from pagefmt.columns.json_lines import LineFormat, message_rows
from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.directory.locate import DataLocation, LocationKind
from pagefmt.messages.large import LargeMessages
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.state import load_place
from pagefmt.pages.chunks import WHOLE_FILE
from pagefmt.pages.frames import Damage

CASES = golden_cases.cases()
NOT_IN_A_LINE = frozenset(("class", "record", "page", "number", "offset", "large_type", "persister", "length", "tx"))
NOT_SCANNED = frozenset(("durable", "priority", "timestamp", "user_id", "expiration"))
"""Of an AMQP message brokers say different things before they look into it."""


def lines(case: GoldenCase, choice: MessageFilter) -> list[dict[str, Any]]:
    data = case.data()
    large = LargeMessages(data / "large-messages")
    place = DataLocation(
        data, LocationKind.DATA, data / "paging", data / "journal", data / "bindings", data / "large-messages"
    )
    forms = frozenset({BodyForm.SIZE, BodyForm.SHA256})
    form = LineFormat(MessageOptions(forms, large), json_text)
    found = []
    for at in AllSources(place, load_place(place), choice, large=large):
        rows = message_rows(at.page, at.known, at.known.store, form, at.choice, at.origin, part=at.part or WHOLE_FILE)
        found += [row for row in rows if not isinstance(row, Damage)]
    return found


def facts(message: dict[str, Any]) -> dict[str, Any]:
    left_out = NOT_IN_A_LINE | (NOT_SCANNED if message["protocol"] == "amqp" else set())
    return {key: value for key, value in message.items() if key not in left_out}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_messages_of_the_journal_are_what_the_broker_reads(case: GoldenCase) -> None:
    told = case.manifest()["journal"]
    mine = [line for line in lines(case, MessageFilter()) if line["page"] is None]
    assert {line["where"] for line in mine} <= {"journal", "large"}
    committed = [line for line in mine if line["tx"] < 0]
    for line, message in zip(committed, told["messages"], strict=True):
        wanted = facts(message)
        assert {key: line.get(key) for key in wanted} == wanted | {
            key: line.get(key) for key in ("properties", "body_text", "body_value", "amqp") if key in wanted
        }
        assert {each["name"]: each for each in line["properties"]} == {
            each["name"]: each for each in message["properties"]
        }
    queues = {(line["id"], queue): queue in line["acked_by"] for line in committed for queue in line["queues"]}
    assert queues == {(each["message"], each["queue"]): each["acked"] for each in told["references"]}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_outstanding_is_what_a_broker_delivered_in_its_order(case: GoldenCase) -> None:
    manifest = case.manifest()
    messages = {each["id"]: each for each in manifest["journal"]["messages"]}
    messages |= {
        each["id"]: each for store in manifest["stores"] for page in store["pages"] for each in page["messages"]
    }
    for queue in case.drain()["queues"]:
        if queue["name"].startswith("$sys."):
            continue
        mine = lines(case, MessageFilter(queues=frozenset((queue["id"],)), outstanding=True))
        due = [
            line["id"] for line in mine
            if line["queues_state"][queue["name"]]["state"] == "due"
            and not 0 < line["expiration"] < time.time() * 1000
        ]  # fmt: skip
        got = [each["id"] for each in queue["delivered"]]
        if due != got:
            paged = {line["id"] for line in mine if line["page"] is not None}
            assert len({priority(messages[each]) for each in due if each in paged}) > 1, queue["name"]
            for each in range(10):
                assert [one for one in due if priority(messages[one]) == each] == [
                    one for one in got if priority(messages[one]) == each
                ]
        assert json.dumps(mine)
