"""Diverts: messages of an address that also, or instead, go to another one (spec/paging-engine.md 3.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.binding import belongs
from pageengine.copies import diverted_copy
from pageengine.filters import compiled
from pageengine.routing import route

if TYPE_CHECKING:
    from pageengine.broker import Broker
    from pageengine.message import Message
    from pageengine.settings import Divert
    from pageengine.transaction import Transaction


def divert(broker: Broker, message: Message, tx: Transaction | None) -> bool:
    """Routes copies along the diverts of its address. True: it goes nowhere else, an exclusive one took it."""
    here = [one for one in broker.diverts if belongs(broker, one.address, message.address) and _matches(one, message)]
    exclusive = [one for one in here if one.exclusive]
    for one in exclusive or here:
        for target in one.forwarding_address.split(","):
            copy = diverted_copy(broker, message, one.name, target.strip())
            route(broker, copy, tx, reject_duplicates=False)
    return bool(exclusive)


def _matches(one: Divert, message: Message) -> bool:
    matches = compiled(one.filter)
    return matches is None or matches(message)
