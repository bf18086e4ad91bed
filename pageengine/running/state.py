"""The state of addresses, queues and the broker as an outcome shows it, and what changed of it.

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
    """Page mode; editions without a flag of their own answer by policy."""
    if profile.reports_store_paging or store.policy is AddressFullPolicy.PAGE:
        return store.paging
    return store.policy is not AddressFullPolicy.BLOCK and (store.full or store.limits.global_full)


def of_store(store: AddressStore) -> AddressFigures:
    """What an outcome shows of an address."""
    current, metric, first = store.current, store.metric, store.first_page
    paging = store.paging if store.profile.reports_store_paging else shown_paging(store, store.profile)
    return AddressFigures(
        paging, store.full, store.page_full, metric.size, metric.count,
        store.number_of_pages, store.files, first if first < 2**31 - 1 else None, store.current_id,
        current.count if current is not None else None, current.bytes if current is not None else None,
        True if store.blocked_by_operator else None,
    )  # fmt: skip


def of_queue(queue: Queue) -> QueueFigures:
    """What an outcome shows of a queue."""
    cursor = queue.reader
    counter = cursor.counter if cursor is not None else None
    return QueueFigures(
        queue.message_count, queue.delivering_count, queue.mem_count, queue.mem_bytes,
        counter.value if counter is not None else None, counter.bytes if counter is not None else None,
        len(queue.consumers), queue.added + (counter.added if counter is not None else 0), queue.acked, queue.expired,
        queue.killed, True if queue.paused else None,
    )  # fmt: skip


def of_broker(broker: Broker) -> BrokerFigures:
    """What an outcome shows of the broker."""
    limits = broker.limits
    connections = broker.connections if broker.shows_clients else None
    return BrokerFigures(limits.metric.size, limits.metric.count, limits.global_full, limits.disk_full, connections)


def with_waiting(figures: AddressFigures, store: AddressStore) -> AddressFigures:
    """The same with what producers of other protocols than core wait for; page mode itself, not the old attribute."""
    figures.paging = store.paging
    figures.blocking, figures.waiting, figures.rejecting = store.blocking, len(store.waiting), store.rejecting
    return figures


def hidden(address: str) -> bool:
    """Whether an outcome leaves the address out: internal ones of the broker."""
    return address.startswith(("activemq.", "$"))


def _address(store: StorePort) -> str:
    return store.address


class StateView:
    """What the last outcome line left known, by name; gives the difference to now."""

    def __init__(self) -> None:
        self.addresses: dict[str, AddressFigures] = {}
        self.queues: dict[str, QueueFigures] = {}
        self.broker: BrokerFigures | None = None

    def change(self, broker: Broker) -> StateChange:
        """Changes of what was touched since the last call."""
        schedule = broker.schedule
        stores, queues = schedule.touched_stores, schedule.changed_queues
        found = StateChange([], [])
        if stores:
            schedule.touched_stores = set()
            self._addresses(broker, stores, found)
        if queues:
            schedule.changed_queues = {}
            self._queues(broker, queues, found)
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
            found.broker = (before, now)
        return found

    def _addresses(self, broker: Broker, stores: set[StorePort], found: StateChange) -> None:
        known = self.addresses
        for touched in stores if len(stores) == 1 else sorted(stores, key=_address):
            address = touched.address
            store = broker.stores.get(address)
            before = known.get(address)
            if store is None:
                if before is not None:
                    found.addresses.append((address, known.pop(address), None))
            elif before is not None or not hidden(address):
                now = of_store(store)
                if broker.shows_clients:
                    now = with_waiting(now, store)
                if before != now:
                    known[address] = now
                    found.addresses.append((address, before, now))

    def _queues(self, broker: Broker, queues: Iterable[QueuePort], found: StateChange) -> None:
        known = self.queues
        for touched in queues:
            name = touched.name
            queue = broker.queues.get(name)
            before = known.get(name)
            if queue is None:
                if before is not None:
                    found.queues.append((name, known.pop(name), None))
            elif queue is touched and not queue.deleted and (before is not None or not hidden(queue.address)):
                now = of_queue(queue)
                if before != now:
                    known[name] = now
                    found.queues.append((name, before, now))

    def change_of_all(self, broker: Broker) -> StateChange:
        """The same, with every part looked at: after operations that may have changed any."""
        broker.schedule.touched_stores.update(broker.stores.values())
        for queue in broker.queues.values():
            broker.schedule.changed_queues[queue] = None
        found = self.change(broker)
        found.addresses += [(one, self.addresses.pop(one), None) for one in self.addresses.keys() - broker.stores]
        found.queues += [(one, self.queues.pop(one), None) for one in self.queues.keys() - broker.queues]
        return found

    def everything(self, broker: Broker) -> StateChange:
        """The complete state."""
        self.change_of_all(broker)
        found = StateChange([], [], (None, of_broker(broker)))
        found.addresses += [(name, None, now) for name, now in sorted(self.addresses.items())]
        found.queues += [(name, None, now) for name, now in sorted(self.queues.items())]
        return found
