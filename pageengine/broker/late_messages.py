"""Messages with a time to live that were made later than the trace says: their producer waited for others before.

The broker's client makes a message when its turn has come, and its time to live counts from then, on the wall clock. A
trace without ``start_ns`` has no wall clock: its ``t`` stands almost still while clients wait. There an operation is
taken to last as long as the recorder of traces stays with one of its kind, to see that the broker rests.
"""

from __future__ import annotations

from dataclasses import dataclass

from pageengine.model.message import Message
from pageengine.trace.operations import Expire, Operation, Send, Wait

SEND_MS = 10
SCAN_MS = 155
OTHER_MS = 45


@dataclass
class LateMessage:
    """A message and how long it still lives, in ms."""

    message: Message
    left_ms: int


def aged(late: list[LateMessage], op: Operation, now: int) -> list[LateMessage]:
    """Age the messages by one operation; those whose time is over expire from the next one on. Returns the others."""
    spent = SEND_MS if isinstance(op, Send) else SCAN_MS if isinstance(op, Expire | Wait) else OTHER_MS
    left = []
    for one in late:
        one.left_ms -= spent
        if one.left_ms > 0:
            left.append(one)
        else:
            one.message.expiration = min(one.message.expiration, now + 1)
    return left
