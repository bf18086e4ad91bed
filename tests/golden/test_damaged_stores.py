"""Damaged data directories: what we say will be delivered, beside what real brokers delivered from the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import golden_cases
import pytest
from golden_cases import GoldenCase

from pagefmt.codec.pages.frames import PAYLOAD_DAMAGE
from pagefmt.directory.paging import EntryKind
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.state import PagingState, StoreState
from pagefmt.vectors import load_state

ARCHIVES = golden_cases.damage_verdicts("stores")


def items() -> list[Any]:
    return [
        pytest.param(archive, item, id=f"{archive.parent.name}/{item['name']}")
        for archive in ARCHIVES
        for item in json.loads((golden_cases.unpacked(archive) / "verdict.json").read_text("utf-8"))["items"]
    ]


def undecodable(store: StoreState, number: int) -> bool:
    """Return whether the page contains a record that the broker fails to decode."""
    damage = next(page.damage for page in store.summary().pages if page.page == number)
    return damage is not None and damage.kind in PAYLOAD_DAMAGE


def boots(state: PagingState) -> bool:
    """Return whether a broker starts on the stores (docs/spec/page-files.md 2.3, 4.4).

    A foreign file name or an undecodable last page prevents the start.
    """
    for store in state.stores():
        if store.store.address is None:
            continue
        if any(entry.kind is EntryKind.BAD_NAME for entry in store.store.others):
            return False
        if store.store.current_page is not None and undecodable(store, store.store.current_page):
            return False
    return True


def delivered(state: PagingState, messages: dict[int, Any]) -> list[Any]:
    """Return ``seq`` of the due messages, up to the first page that stops a broker."""
    seqs: list[Any] = []
    acked = {(message, queue) for message, queue, done in state.journal.references() if done}
    seqs += [messages[message] for message, queue, _ in state.journal.references() if (message, queue) not in acked]
    last = {folders[-1] for folders in state.same_address.values()}
    twice = {folder for folders in state.same_address.values() for folder in folders}
    for store in state.stores():
        if store.store.name in twice - last or store.unknown is not None:
            continue
        for page in store.store.pages:
            for route, ack_states in store.ack_states(page):
                seqs += [messages[route[5]] for _, ack_state in ack_states if ack_state is AckState.OUTSTANDING]
            if undecodable(store, page.number):
                return seqs
    return seqs


@pytest.mark.parametrize(("archive", "item"), items())
def test_what_a_broker_did_with_it(archive: Path, item: dict[str, Any]) -> None:
    version = archive.parent.name
    manifest = GoldenCase(version, "restarted").manifest()
    messages = {
        message["id"]: next(each["value"] for each in message["properties"] if each["name"] == "seq")
        for store in manifest["stores"]
        for page in store["pages"]
        for message in page["messages"]
    }
    sound = GoldenCase(version, "restarted").data()  # journal and bindings were left alone
    paging = golden_cases.unpacked(archive) / item["name"] / "data" / "paging"
    state = load_state(paging, sound / "journal", sound / "bindings")
    assert boots(state) == item["started"]
    if not item["started"]:
        return
    (queue,) = (queue for queue in item["queues"] if not queue["name"].startswith("$sys."))
    ours = delivered(state, messages)
    if item["stopped_itself"]:
        # messages of the page in question may or may not get out before the broker stops
        assert queue["seq"] == ours[: len(queue["seq"])]
        assert len(ours) - len(queue["seq"]) <= 15
    else:
        assert queue["seq"] == ours


def test_there_are_verdicts() -> None:
    assert len(items()) >= 80
