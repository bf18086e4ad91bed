"""``messages trace``: lives of messages, held against the ledgers of recorded histories."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Any

import pytest
from history_ledgers import ledger_of
from program import call
from recorded_histories import HistoryCase, histories

OPTIONS = ("--timezone", "UTC", "--format", "json")
LEAVING = ("acknowledged", "expired", "moved", "removed")
MILLISECOND = 1000


def lives_of(case: HistoryCase, *words: str) -> list[dict[str, Any]]:
    answer = call("messages", "trace", case.root(), *words, *OPTIONS)
    assert answer.status == 0, answer.err
    lives: list[dict[str, Any]] = json.loads(answer.out)["messages"]
    return lives


@pytest.mark.parametrize("case", histories(), ids=str)
def test_events_are_those_of_the_ledger(case: HistoryCase) -> None:
    """Sends, acknowledgements by queue, and copies, each within the times of its file."""
    lives = {life["id"]: life for life in lives_of(case, "--where", "seq > 0 OR seq <= 0 OR seq IS NULL")}
    ledger, lines = ledger_of(case), case.ledger()
    sent_at = {line["id"]: line["t"] for line in lines if line["op"] == "route" and line.get("id")}
    acked_at: dict[tuple[int, str], list[int]] = {}
    for line in lines:
        if line["op"] == "acked":
            acked_at.setdefault((line["id"], line["queue"]), []).append(line["t"])
    assert lives
    for number, life in lives.items():
        if number not in ledger.routed:
            continue
        events = Counter((event["event"], event["queue"]) for event in life["events"])
        assert set(events.values()) == {1} or events["redelivered", None] == 0
        assert events["sent", None] == 1
        for event in life["events"]:
            if event["event"] == "sent":
                assert is_within(event, [sent_at[number]]), (number, event)
            if event["event"] in LEAVING and event["file"] is not None:
                assert is_within(event, acked_at.get((number, event["queue"]), [])), (number, event)
            if event["to"] is not None and event["event"] in ("moved", "expired"):
                copies = [line for line in lines if line["op"] == "route" and line.get("orig_id") == number]
                assert event["to"] in [line["address"] for line in copies]


def is_within(event: dict[str, Any], times: list[int]) -> bool:
    """Return whether one of the times (ms) lies between those of the event. Transactions end later than they begin."""
    earliest, latest = (
        None if text is None else datetime.fromisoformat(text).timestamp() * MILLISECOND
        for text in (event["not_before"], event["not_after"])
    )
    return any((latest is None or time <= latest) for time in times) and (
        earliest is None or event["event"] != "sent" or any(earliest <= time for time in times)
    )


def test_each_event_names_a_record_of_the_message() -> None:
    case = HistoryCase("2.56.0", "expiry-dlq")
    records: dict[tuple[str, int], str] = {}
    for folder in ("history", "data/journal"):
        for line in call("journal", "inspect", case.root() / folder, "--format", "jsonl").lines():
            records[line["file"], line["offset"]] = json.dumps(line)
    checked = 0
    for life in lives_of(case, "--where", "seq > 0"):
        for event in life["events"]:
            if event["where"] in ("history", "journal"):
                checked += 1
                record = records[event["file"], event["offset"]]
                by_position = event["event"] in LEAVING and "ACKNOWLEDGE_CURSOR" in record
                assert by_position or f'"{life["id"]}"' in record, (life["id"], event)
    assert checked > 300


def test_copies_have_lives_of_their_own() -> None:
    """A message that expired, one that was moved, and one that a divert copied."""
    for case, reason in (
        (HistoryCase("2.56.0", "expiry-dlq"), "expired"),
        (HistoryCase("2.56.0", "purge-delete"), "moved"),
    ):
        copied = [pair for pair, expired in ledger_of(case).copies.items() if expired == (reason == "expired")]
        number, queue = copied[0]
        original, *copies = lives_of(case, "--id", str(number))
        assert original["id"] == number
        (event,) = [event for event in original["events"] if event["event"] == reason]
        assert (event["queue"], event["to"]) == (queue, copies[0]["address"])
    case = HistoryCase("2.56.0", "divert-bridge")
    diverted = next(line for line in case.ledger() if line["op"] == "route" and line.get("orig_id"))
    original, *copies = lives_of(case, "--id", str(diverted["orig_id"]))
    assert diverted["id"] in [life["id"] for life in copies]
    assert diverted["address"] in [event["to"] for event in original["events"]]


def test_rolled_back_messages_say_so() -> None:
    case = HistoryCase("2.56.0", "tx")
    for number in sorted(ledger_of(case).rolled_back)[:3]:
        (life,) = lives_of(case, "--id", str(number))
        assert [event["event"] for event in life["events"]][-1] == "rolled-back"


def test_a_message_that_waits_in_a_page_names_it() -> None:
    case = HistoryCase("2.56.0", "paged")
    (first, *_) = call("messages", "decode", case.root(), "--in", "pages", "--outstanding", "--format", "jsonl").lines()
    (life,) = lives_of(case, "--id", str(first["id"]))
    (paged,) = [event for event in life["events"] if event["event"] == "paged"]
    assert (paged["where"], paged["file"], paged["offset"]) == ("page", first["file"], first["offset"])


def test_text_is_a_timeline() -> None:
    case = HistoryCase("2.56.0", "expiry-dlq")
    (number, queue), *_ = ledger_of(case).copies
    answer = call("messages", "trace", case.root(), "--id", str(number))
    assert answer.status == 0
    assert f"message {number} to " in answer.out
    assert "NOT BEFORE" in answer.out
    assert f"{queue}: " in answer.out


def test_nothing_is_made_up() -> None:
    case = HistoryCase("2.56.0", "core")
    answer = call("messages", "trace", case.root(), "--id", "999999")
    assert (answer.status, answer.out) == (0, "no message\n")
    answer = call("messages", "trace", case.root())
    assert (answer.status, answer.out) == (2, "")
    assert "say which message" in answer.err
