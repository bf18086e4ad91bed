"""What a queue waits for by ``messages decode --outstanding``, beside what a broker delivered from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pagectl.decoding.sources import AllSources
from pagectl.terminal.streams import json_text

from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.values import has_expired
from pagefmt.codec.pages.frames import Damage
from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.directory.locate import within
from pagefmt.editions import Edition
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.table.json_lines import LineFormat, rows_together
from pagefmt.vectors import load_place

READ_TOGETHER = 30_000
"""Bytes that are sure to be in memory when a drain begins, with the least limit that tests set."""
IN_MEMORY = 600
"""Bytes that a broker counts for a message beside those of its record, about; a large one fills it."""


def message_lines(data: Path, choice: MessageFilter, now: int, edition: Edition | None = None) -> list[dict[str, Any]]:
    """Return the lines of ``messages decode`` about a data directory, as of a broker start at ``now``."""
    large, place = LargeMessages(data / "large-messages"), within(data)
    form = LineFormat(MessageOptions(frozenset({BodyForm.SIZE, BodyForm.SHA256}), large), json_text)
    found = []
    for at in AllSources(place, load_place(place), choice, large=large, edition=edition, now=now):
        rows = (row for _, row in rows_together([at.source()], at.known, at.known.store, form, at.choice))
        found += [row for row in rows if not isinstance(row, Damage)]
    return found


def compared(
    data: Path, queue: Mapping[str, Any], now: int, edition: Edition | None = None, expired: int | None = None
) -> str | None:
    """Compare what a queue waits for with what a broker delivered in a drain that began at ``now``.

    Return None if both agree, ``"order"`` if only the order differs in a permitted way, otherwise a description.

    The order may differ for scheduled messages in pages, and across priorities if the pages hold more than a broker
    reads at once. Messages expired at ``expired`` (default: ``now``) are not expected; messages that the broker itself
    moved to the expiry queue during the drain have new ids and are ignored.
    """
    choice = MessageFilter(queues=frozenset((queue["id"],)), outstanding=True)
    mine = {line["id"]: line for line in message_lines(data, choice, now, edition)}
    state = {each: line["queues_state"][queue["name"]] for each, line in mine.items()}
    gone = {each for each, line in mine.items() if has_expired(line["expiration"], expired or now)}
    due = [each for each in mine if state[each]["state"] == "due" and each not in gone]
    got = [each["id"] for each in queue["delivered"] if queue["name"] != "EXPIRY" or each["id"] in mine]
    if due == got:
        return None
    if set(due) != set(got) or len(due) != len(got):
        missing, more = [each for each in due if each not in got], [each for each in got if each not in due]
        return f"{queue['name']}: {len(due)} due, {len(got)} delivered; not delivered {missing}, not due {more}"
    late = {each for each in due if mine[each]["page"] is not None and state[each]["scheduled"] is not None}
    one, other = ([each for each in ids if each not in late] for ids in (due, got))
    paged = [mine[each] for each in due if mine[each]["page"] is not None]
    size = sum(each["length"] + (READ_TOGETHER if each["large"] else IN_MEMORY) for each in paged)
    by_priority = [sorted(ids, key=lambda each: -mine[each]["priority"]) for ids in (one, other)]
    read_later = size > READ_TOGETHER and by_priority[0] == by_priority[1]
    return "order" if one == other or read_later else f"{queue['name']}: delivered {got}, not {due}"
