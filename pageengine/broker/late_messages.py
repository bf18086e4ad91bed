"""Messages with a time to live that were created later than the trace says, because their producer had to wait.

The broker's client creates a message when its turn has come, and its time to live counts from then, on the wall clock.
A trace without ``start_ns`` has no wall clock: its ``t`` almost stops while clients wait. There an operation is assumed
to last as long as the recorder of traces waits after one of its kind until the broker rests.
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
    """Message and its remaining time to live in ms."""

    message: Message
    left_ms: int


def aged(late: list[LateMessage], op: Operation, now: int) -> list[LateMessage]:
    """Age the messages by one operation and return those that do not expire yet.

    A message whose time is over expires from the next operation on.
    """
    spent = SEND_MS if isinstance(op, Send) else SCAN_MS if isinstance(op, Expire | Wait) else OTHER_MS
    left = []
    for message in late:
        message.left_ms -= spent
        if message.left_ms > 0:
            left.append(message)
        else:
            message.message.expiration = min(message.message.expiration, now + 1)
    return left
