"""Addresses and queues that the configuration names: created at start if they are missing."""

from __future__ import annotations

from pageengine.clients.run import Run
from pageengine.settings.queue_traits import configured
from pageengine.trace.operations import CreateQueue


def configure(run: Run) -> None:
    """Make the addresses and queues of the configuration that do not exist."""
    broker = run.broker
    for address, routing in run.settings.addresses.items():
        broker.addresses.setdefault(address, set()).update(routing)
    for queue in run.settings.queues:
        if queue.name in broker.queues:
            continue
        creation = CreateQueue(
            queue.name,
            queue.address,
            queue.routing,
            queue.filter,
            queue.durable,
            -1 if queue.max_consumers is None else queue.max_consumers,
            bool(queue.purge_on_no_consumers),
            bool(queue.exclusive),
            i=-1,
            t=0,
        )
        traits = configured(queue, broker.settings.address_settings.effective(queue.address))
        broker.make_queue(creation, traits)
    broker.routes.clear()
    run.parts_changed = True
