"""State of addresses, queues and the broker as an outcome shows it, and its changes.

Source: docs/spec/trace-format.md 2.
"""

from __future__ import annotations

from collections.abc import Iterable

from pageengine.broker.broker import Broker
from pageengine.model.outcome import AddressFigures, BrokerFigures, QueueFigures, StateChange
from pageengine.model.ports import StorePort
from pageengine.model.reference import QueuePort
from pageengine.paging.store import AddressStore
from pageengine.queues.queue import Queue
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import AddressFullPolicy


def shown_paging(store: AddressStore, profile: Profile) -> bool:
    """Return page mode as shown; editions without a flag of their own answer by policy."""
    if profile.reports_store_paging or store.gates.policy is AddressFullPolicy.PAGE:
        return store.paging
    return store.gates.policy is not AddressFullPolicy.BLOCK and (store.gates.full or store.limits.global_full)


def of_store(store: AddressStore) -> AddressFigures:
    """Return the figures of an address in an outcome."""
    current, metric, first = store.current, store.metric, store.first_page
    paging = store.paging if store.profile.reports_store_paging else shown_paging(store, store.profile)
    return AddressFigures(
        paging,
        store.gates.full,
        store.page_limits.reached,
        metric.size,
        metric.count,
        store.number_of_pages,
        store.files,
        first if first < 2**31 - 1 else None,
        store.current_id,
        current.count if current is not None else None,
        current.bytes if current is not None else None,
        True if store.gates.blocked_by_operator else None,
    )


def of_queue(queue: Queue) -> QueueFigures:
    """Return the figures of a queue in an outcome."""
    cursor = queue.reader
    counter = cursor.counter if cursor is not None else None
    counts = queue.counts
    return QueueFigures(
        queue.message_count,
        counts.delivering_count,
        counts.mem_count,
        counts.mem_bytes,
        counter.value if counter is not None else None,
        counter.bytes if counter is not None else None,
        len(queue.consumers),
        counts.added + (counter.added if counter is not None else 0),
        counts.acked,
        counts.expired,
        counts.killed,
        True if queue.paused else None,
    )


def of_broker(broker: Broker) -> BrokerFigures:
    """Return the figures of the broker in an outcome."""
    limits = broker.limits
    connections = broker.connections if broker.shows_clients else None
    return BrokerFigures(limits.metric.size, limits.metric.count, limits.global_full, limits.disk_full, connections)


def with_waiting(figures: AddressFigures, store: AddressStore) -> AddressFigures:
    """Return the figures with what producers of other protocols than core wait for, and with page mode itself.

    Page mode itself, as opposed to the broker's old attribute.
    """
    figures.paging = store.paging
    gates = store.gates
    figures.blocking, figures.waiting, figures.rejecting = gates.blocking, len(gates.waiting), store.rejecting
    return figures


def hidden(address: str) -> bool:
    """Return whether outcomes leave the address out because it is internal to the broker."""
    return address.startswith(("activemq.", "$"))


def _address(store: StorePort) -> str:
    return store.address


class StateView:
    """State that the last outcome line left known, by name; returns the difference to now."""

    def __init__(self) -> None:
        self.addresses: dict[str, AddressFigures] = {}
        self.queues: dict[str, QueueFigures] = {}
        self.broker: BrokerFigures | None = None

    def change(self, broker: Broker) -> StateChange:
        """Return the changes of touched stores and queues since the last call."""
        schedule = broker.schedule
        stores, queues = schedule.touched_stores, schedule.changed_queues
        changes = StateChange([], [])
        if stores:
            schedule.touched_stores = set()
            self._addresses(broker, stores, changes)
        if queues:
            schedule.changed_queues = {}
            self._queues(broker, queues, changes)
        metric, limits, before = broker.limits.metric, broker.limits, self.broker
        if (
            before is None
            or before.size != metric.size
            or before.elements != metric.count
            or before.full != limits.global_full
            or before.disk_full != limits.disk_full
            or (broker.shows_clients and before.connections != broker.connections)
        ):
            self.broker = now = of_broker(broker)
            changes.broker = (before, now)
        return changes

    def _addresses(self, broker: Broker, stores: set[StorePort], changes: StateChange) -> None:
        last_seen = self.addresses
        for touched in stores if len(stores) == 1 else sorted(stores, key=_address):
            address = touched.address
            store = broker.stores.get(address)
            before = last_seen.get(address)
            if store is None:
                if before is not None:
                    changes.addresses.append((address, last_seen.pop(address), None))
            elif before is not None or not hidden(address):
                now = of_store(store)
                if broker.shows_clients:
                    now = with_waiting(now, store)
                if before != now:
                    last_seen[address] = now
                    changes.addresses.append((address, before, now))

    def _queues(self, broker: Broker, queues: Iterable[QueuePort], changes: StateChange) -> None:
        last_seen = self.queues
        for touched in queues:
            name = touched.name
            queue = broker.queues.get(name)
            before = last_seen.get(name)
            if queue is None:
                if before is not None:
                    changes.queues.append((name, last_seen.pop(name), None))
            elif queue is touched and not queue.deleted and (before is not None or not hidden(queue.address)):
                now = of_queue(queue)
                if before != now:
                    last_seen[name] = now
                    changes.queues.append((name, before, now))

    def change_of_all(self, broker: Broker) -> StateChange:
        """Return the changes of all stores and queues, after operations that may have changed any."""
        broker.schedule.touched_stores.update(broker.stores.values())
        for queue in broker.queues.values():
            broker.schedule.changed_queues[queue] = None
        changes = self.change(broker)
        changes.addresses += [(name, self.addresses.pop(name), None) for name in self.addresses.keys() - broker.stores]
        changes.queues += [(name, self.queues.pop(name), None) for name in self.queues.keys() - broker.queues]
        return changes

    def everything(self, broker: Broker) -> StateChange:
        """Return the complete state as a change from nothing."""
        self.change_of_all(broker)
        changes = StateChange([], [], (None, of_broker(broker)))
        changes.addresses += [(name, None, now) for name, now in sorted(self.addresses.items())]
        changes.queues += [(name, None, now) for name, now in sorted(self.queues.items())]
        return changes
