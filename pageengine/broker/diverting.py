"""Diverts: messages of an address that also, or instead, go to another one (spec/paging-engine.md 3.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.broker.binding import belongs
from pageengine.broker.copies import diverted_copy
from pageengine.broker.routing import route
from pageengine.queues.filters import compiled

if TYPE_CHECKING:
    from pageengine.broker.broker import Broker
    from pageengine.broker.transaction import Transaction
    from pageengine.model.message import Message
    from pageengine.settings.settings import Divert


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
