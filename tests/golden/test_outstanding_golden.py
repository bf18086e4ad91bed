"""What is outstanding, on every golden directory: the broker's own facts, and what a real broker then delivered.

What a drain does not show is left out by name here: messages whose time has run out, and scheduled ones. A consumer
gets higher priorities first among the messages that are in memory, so order is compared within each priority.
"""

from __future__ import annotations

import time
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase

from pagefmt.codec.messages.values import has_expired
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.state import PagingState
from pagefmt.vectors import load_state

CASES = golden_cases.cases()


def state_of(case: GoldenCase) -> PagingState:
    data = case.data()
    return load_state(data / "paging", data / "journal", data / "bindings")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_acked_by_of_every_message(case: GoldenCase) -> None:
    told = {store["folder"]: store for store in case.manifest()["stores"]}
    for store in state_of(case).stores():
        pages = {page["page"]: page for page in told[store.store.name]["pages"]}
        assert store.store.address == told[store.store.name]["address"]
        for page in store.store.pages:
            rule = store.rule(page.number)
            ours = [
                (route[0], route[5], list(route[6]), list(rule.acked_by(route[0], route[6])))
                for route, _ in store.ack_states(page)
            ]
            assert ours == [
                (message["number"], message["id"], message["queues"], message["acked_by"])
                for message in pages[page.number]["messages"]
            ]


def priority(message: dict[str, Any]) -> int:
    """Return a message's priority; that of an AMQP message comes from its header.

    2.28.0 decodes this header too late for the ``priority`` of the manifest.
    """
    if message.get("amqp") and message["amqp"]["header"]:
        given = message["amqp"]["header"]["priority"]
        return 4 if given is None else int(given)
    return 4 if message.get("amqp") else int(message["priority"])


def delivered_later(message: dict[str, Any]) -> bool:
    names = {each["name"] for each in message["properties"]}
    names |= {each["name"] for each in (message.get("amqp") or {}).get("message_annotations") or []}
    scheduled = names & {"_AMQ_SCHED_DELIVERY", "_HQ_SCHED_DELIVERY", "x-opt-delivery-time", "x-opt-delivery-delay"}
    return bool(scheduled) or has_expired(message["expiration"], int(time.time() * 1000))


def owed(state: PagingState, stored: set[int]) -> dict[int, list[int]]:
    """Return message ids by queue id in the order in which they are due: journal first, then pages."""
    found: dict[int, list[int]] = {}
    held = {pair for branch in state.journal.prepared for pair in branch.references}
    for message, queue, acked in state.journal.references():
        if not acked and message in stored and (message, queue) not in held:
            found.setdefault(queue, []).append(message)
    for store in state.stores():
        for page in store.store.pages:
            for route, ack_states in store.ack_states(page):
                for queue, ack_state in ack_states:
                    if ack_state is AckState.OUTSTANDING:
                        found.setdefault(queue, []).append(route[5])
    return found


def by_priority(ids: list[int], messages: dict[int, dict[str, Any]]) -> list[int]:
    return sorted(ids, key=lambda each: -priority(messages[each]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_outstanding_is_what_a_broker_delivered(case: GoldenCase) -> None:
    manifest, drain = case.manifest(), case.drain()
    assert drain["started"]
    messages = {each["id"]: each for each in manifest["journal"]["messages"]}
    stored = set(messages)
    messages |= {
        each["id"]: each for store in manifest["stores"] for page in store["pages"] for each in page["messages"]
    }
    ours = owed(state_of(case), stored)
    compared = 0
    for queue in drain["queues"]:
        if queue["name"].startswith("$sys."):
            continue
        got = [each["id"] for each in queue["delivered"]]
        due = ours.get(queue["id"], [])
        missing = [each for each in due if each not in set(got)]
        assert all(delivered_later(messages[each]) for each in missing), queue["name"]
        assert by_priority([each for each in due if each in set(got)], messages) == by_priority(got, messages)
        compared += 1
    assert compared == sum(not queue["name"].startswith("$sys.") for queue in drain["queues"])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_summaries_add_up(case: GoldenCase) -> None:
    for store in state_of(case).stores():
        summary = store.summary(positions=True)
        ack_states = [
            (page, route, queue, ack_state)
            for page in store.store.pages
            for route, each in store.ack_states(page)
            for queue, ack_state in each
        ]
        for queue in summary.queues:
            mine = [
                (page.number, route[0])
                for page, route, who, ack_state in ack_states
                if (who, ack_state) == (queue.id, AckState.OUTSTANDING)
            ]
            assert list(queue.positions) == mine
            assert queue.messages == len(mine)
            assert (queue.first, queue.last) == ((mine[0], mine[-1]) if mine else (None, None))
            assert queue.held_alone <= queue.held_bytes
            assert queue.pages == sum(queue.id in page.held_by for page in summary.pages)
        for page_load in summary.pages:
            assert page_load.live_bytes <= page_load.read <= page_load.size
            assert sum(page_load.ack_states.values()) == sum(page.number == page_load.page for page, *_ in ack_states)
            assert bool(page_load.held_by) == bool(page_load.live_records)
