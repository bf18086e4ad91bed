"""Addresses and queues that the configuration names: made at start where they are missing."""

from __future__ import annotations

from pageengine.clients.run import Run
from pageengine.settings.queue_traits import configured
from pageengine.trace.operations import CreateQueue


def configure(run: Run) -> None:
    """Make the addresses and queues of the configuration that do not exist."""
    broker = run.broker
    for address, routing in run.settings.addresses.items():
        broker.addresses.setdefault(address, set()).update(routing)
    for one in run.settings.queues:
        if one.name in broker.queues:
            continue
        made = CreateQueue(
            one.name, one.address, one.routing, one.filter, one.durable,
            -1 if one.max_consumers is None else one.max_consumers,
            bool(one.purge_on_no_consumers), bool(one.exclusive), i=-1, t=0,
        )  # fmt: skip
        traits = configured(one, broker.settings.address_settings.effective(one.address))
        broker.make_queue(made, traits)
    broker.routes.clear()
    run.parts_changed = True
