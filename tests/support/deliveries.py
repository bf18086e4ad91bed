"""What a queue waits for by ``messages decode --outstanding``, beside what a broker delivered from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pagectl.decoding.sources import AllSources
from pagectl.terminal.streams import json_text

from pagefmt.columns.json_lines import LineFormat, message_rows
from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.directory.locate import within
from pagefmt.editions import Edition
from pagefmt.messages.large import LargeMessages
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.state import load_place
from pagefmt.pages.chunks import WHOLE_FILE
from pagefmt.pages.frames import Damage


def message_lines(data: Path, choice: MessageFilter, now: int, edition: Edition | None = None) -> list[dict[str, Any]]:
    """The lines of ``messages decode`` about a data directory, for a broker that starts at ``now``."""
    large, place = LargeMessages(data / "large-messages"), within(data)
    form = LineFormat(MessageOptions(frozenset({BodyForm.SIZE, BodyForm.SHA256}), large), json_text)
    found = []
    for at in AllSources(place, load_place(place), choice, large=large, edition=edition, now=now):
        rows = message_rows(at.page, at.known, at.known.store, form, at.choice, at.origin, part=at.part or WHOLE_FILE)
        found += [row for row in rows if not isinstance(row, Damage)]
    return found


def compared(
    data: Path, queue: Mapping[str, Any], now: int, edition: Edition | None = None, expired: int | None = None
) -> str | None:
    """``"order"``: the queue waits for what the broker delivered, and where the order is another, it is so among paged
    messages of several priorities alone. A longer text says what differs, None: nothing does.

    ``queue``: of a drain that began at ``now``. What is expired by then (or at ``expired``) is expected elsewhere;
    where it went, what the broker sent there while it was drained has ids of its own.
    """
    choice = MessageFilter(queues=frozenset((queue["id"],)), outstanding=True)
    mine = {line["id"]: line for line in message_lines(data, choice, now, edition)}
    state = {each: line["queues_state"][queue["name"]] for each, line in mine.items()}
    gone = {each for each, line in mine.items() if 0 < line["expiration"] < (expired or now)}
    due = [each for each in mine if state[each]["state"] == "due" and each not in gone]
    got = [each["id"] for each in queue["delivered"] if queue["name"] != "EXPIRY" or each["id"] in mine]
    if due == got:
        return None
    if set(due) != set(got) or len(due) != len(got):
        missing, more = [each for each in due if each not in got], [each for each in got if each not in due]
        return f"{queue['name']}: {len(due)} due, {len(got)} delivered; not delivered {missing}, not due {more}"
    priority = {each["id"]: each["priority"] for each in queue["delivered"]}
    late = {each for each in due if mine[each]["page"] is not None and state[each]["scheduled"] is not None}
    for each in sorted(set(priority.values())):
        own = {number for number in due if priority[number] == each and number not in late}
        one, other = ([number for number in ids if number in own] for ids in (due, got))
        if one != other:
            return f"{queue['name']}: of priority {each} delivered {other}, not {one}"
    paged = {each for each in due if mine[each]["page"] is not None}
    if not late and len({priority[each] for each in paged}) < 2:
        return f"{queue['name']}: delivered {got}, not {due}"
    return "order"
