"""Diverts: messages of an address that also, or instead, go to another one (spec/paging-engine.md 3.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.copies import diverted_copy
from pageengine.filters import compiled
from pageengine.routing import Routed, route

if TYPE_CHECKING:
    from pageengine.broker import Broker
    from pageengine.message import Message
    from pageengine.transaction import Transaction


def divert(broker: Broker, message: Message, tx: Transaction | None) -> Routed | None:
    """Routes copies along the diverts of the message's address; what an exclusive one took goes nowhere else."""
    taken: Routed | None = None
    for one in broker.diverts:
        if one.address != message.address:
            continue
        matches = compiled(one.filter)
        if matches is not None and not matches(message):
            continue
        routed = route(broker, diverted_copy(broker, message, one.forwarding_address), tx, reject_duplicates=False)
        if one.exclusive:
            taken = routed
    return taken
