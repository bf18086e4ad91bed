"""Addresses and queues that the configuration names: made at start where they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.queues.queue import Queue
from pageengine.settings.queue_traits import configured
from pageengine.trace.operations import CreateQueue

if TYPE_CHECKING:
    from pageengine.running.engine import Engine


def configure(engine: Engine) -> None:
    broker = engine.broker
    for address in engine.settings.addresses:
        broker.addresses.setdefault(address.name, set()).update(address.routing)
        for one in address.queues:
            if one.name in broker.queues:
                continue
            made = CreateQueue(
                -1, 0, one.name, one.address, one.routing, one.filter, one.durable,
                -1 if one.max_consumers is None else one.max_consumers,
                bool(one.purge_on_no_consumers), bool(one.exclusive),
            )  # fmt: skip
            traits = configured(one, broker.settings.address_settings.effective(one.address))
            broker.queues[one.name] = Queue(broker, broker.next_id(), made, traits, broker.store(one.address))
    broker.routes.clear()
    engine.parts_changed = True
