"""Kinds of damage done to one record of a sound page, and what salvage gets back of it."""

from __future__ import annotations

from pathlib import Path

from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.record import FRAME


def spans(path: Path) -> list[tuple[int, int, int]]:
    """Return (start, end, message id) of each record."""
    with open_page(path) as page:
        return [(route[1], route[1] + route[2] + FRAME, route[5]) for route in page.routes()]


def queues_of(record: bytes) -> int:
    """Return how many queue ids a record has."""
    (route,) = Page(record).routes()
    return len(route[6])


def body_at(content: bytes, start: int) -> int:
    """Return where an ordinary record states the length of its body, or for AMQP of the encoded message."""
    persister = content[start + 14]
    if persister == 0:  # the old layout has the length of the message there
        return start + 18
    address = start + (23 if persister == 1 else 31)
    return address + 5 + (4 + int.from_bytes(content[address + 1 : address + 5], "big") if content[address] else 0)


def damaged(content: bytes, records: list[tuple[int, int, int]], kind: str, at: int) -> bytes:
    start, end, _ = records[at]
    changed = bytearray(content)
    match kind:
        case "start mark":
            changed[start] ^= 4
        case "end mark":
            changed[end - 1] ^= 4
        case "length over the next":
            changed[start + 1 : start + 5] = (records[at + 1][1] - start - FRAME).to_bytes(4, "big")
        case "payload":
            count = end - 5 - 8 * queues_of(content[start:end])
            changed[count : count + 4] = b"\xff" * 4
        case "size of the body":
            changed[body_at(content, start) : body_at(content, start) + 4] = b"\x80\0\0\0"
        case "cut":
            del changed[end - 7 :]
        case "hole":
            changed[start + 10 : end - 10] = b"\0" * (end - start - 20)
            changed[start : start + 5] = b"\0" * 5
        case "bytes lost":
            del changed[start + 20 : start + 30]
        case "bytes between":
            changed[start:start] = b"??"
        case "zero tail":
            changed += bytes(4096)
    return bytes(changed)


# kind → (records that come back of those hit, is every number sure)
KINDS = {
    "start mark": (1, True),
    "end mark": (1, True),
    "length over the next": (2, True),
    "payload": (0, True),
    "size of the body": (0, True),
    "hole": (0, False),
    "bytes lost": (0, False),
    "bytes between": (1, False),
    "zero tail": (1, True),
}
