"""The state of addresses, queues and the broker as an outcome shows it, and what changed of it.

Source: docs/spec/trace-format.md 2.
"""

from __future__ import annotations

from pageengine.broker.broker import Broker
from pageengine.model.outcome import FieldValue, Part, PartChange, State, StateChange
from pageengine.paging.store import AddressStore
from pageengine.queues.queue import Queue
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import AddressFullPolicy

Shown = tuple[FieldValue | None, ...]
STORE_FIELDS = (
    "paging", "full", "page_full", "size", "elements", "pages", "files", "first", "cur", "cur_n", "cur_bytes",
    "blocked_by_operator",
)  # fmt: skip
QUEUE_FIELDS = (
    "n", "delivering", "mem_n", "mem_bytes", "paged_n", "paged_bytes", "consumers", "added", "acked", "expired",
    "killed", "paused",
)  # fmt: skip
BROKER_FIELDS = ("size", "elements", "full", "disk_full")


def shown_paging(store: AddressStore, profile: Profile) -> bool:
    """Page mode; editions without a flag of their own answer by policy."""
    if profile.reports_store_paging or store.policy is AddressFullPolicy.PAGE:
        return store.paging
    return store.policy is not AddressFullPolicy.BLOCK and (store.full or store.limits.global_full)


def of_store(store: AddressStore) -> Shown:
    """What an outcome shows of an address."""
    current = store.current
    return (
        shown_paging(store, store.profile),
        store.full,
        store.page_full,
        store.metric.size,
        store.metric.count,
        store.number_of_pages,
        store.files,
        store.first_page if store.first_page < 2**31 - 1 else None,
        store.current_id,
        current.count if current is not None else None,
        current.bytes if current is not None else None,
        True if store.blocked_by_operator else None,
    )


def of_queue(queue: Queue) -> Shown:
    """What an outcome shows of a queue."""
    counter = queue.cursor.counter if queue.cursor is not None else None
    return (
        queue.message_count,
        queue.delivering_count,
        queue.mem_count,
        queue.mem_bytes,
        counter.value if counter is not None else None,
        counter.bytes if counter is not None else None,
        len(queue.consumers),
        queue.added + (counter.added if counter is not None else 0),
        queue.acked,
        queue.expired,
        queue.killed,
        True if queue.paused else None,
    )


def of_broker(broker: Broker) -> Shown:
    """What an outcome shows of the broker."""
    limits = broker.limits
    return (limits.metric.size, limits.metric.count, limits.global_full, limits.disk_full)


def whole(names: tuple[str, ...], shown: Shown) -> Part:
    """All fields that have a value."""
    return {name: value for name, value in zip(names, shown, strict=True) if value is not None}


def changed(names: tuple[str, ...], before: Shown, now: Shown) -> PartChange:
    """The fields whose value changed."""
    return {name: new for name, old, new in zip(names, before, now, strict=True) if old != new}


def hidden(address: str) -> bool:
    """Whether an outcome leaves the address out: internal ones of the broker."""
    return address.startswith(("activemq.", "$"))


class StateView:
    """What the last outcome line left known; gives the difference to now."""

    def __init__(self) -> None:
        self.parts: dict[str, Shown] = {}

    def change(self, broker: Broker) -> StateChange:
        """Changes of what was touched since the last call."""
        found: StateChange = {}
        schedule = broker.schedule
        stores, schedule.touched_stores = schedule.touched_stores, set()
        for address in sorted([store.address for store in stores]):
            store = broker.stores.get(address)
            if store is None:
                self._gone(f"a:{address}", found)
            elif not hidden(address):
                self._compare(f"a:{address}", STORE_FIELDS, of_store(store), found)
        queues, schedule.changed_queues = schedule.changed_queues, {}
        for changed_queue in queues:
            queue = broker.queues.get(changed_queue.name)
            if queue is None:
                self._gone(f"q:{changed_queue.name}", found)
            elif queue is changed_queue and not queue.deleted and not hidden(queue.address):
                self._compare(f"q:{queue.name}", QUEUE_FIELDS, of_queue(queue), found)
        self._compare("g", BROKER_FIELDS, of_broker(broker), found)
        return found

    def forget(self) -> None:
        """The next change tells everything."""
        self.parts.clear()

    def _gone(self, key: str, found: StateChange) -> None:
        if self.parts.pop(key, None) is not None:
            found[key] = None

    def _compare(self, key: str, names: tuple[str, ...], now: Shown, found: StateChange) -> None:
        before = self.parts.get(key)
        if before == now:
            return
        self.parts[key] = now
        if before is None:
            found[key] = dict(whole(names, now))
        else:
            found[key] = changed(names, before, now)

    def change_of_all(self, broker: Broker) -> StateChange:
        """The same, with every part looked at: after operations that may have changed any."""
        broker.schedule.touched_stores.update(broker.stores.values())
        for queue in broker.queues.values():
            broker.schedule.changed_queues[queue] = None
        found = self.change(broker)
        alive = {f"a:{name}" for name in broker.stores} | {f"q:{name}" for name in broker.queues} | {"g"}
        for key in self.parts.keys() - alive:
            self._gone(key, found)
        return found

    def everything(self, broker: Broker) -> State:
        """The complete state."""
        self.change_of_all(broker)
        names = {"a": STORE_FIELDS, "q": QUEUE_FIELDS, "g": BROKER_FIELDS}
        return {key: whole(names[key[0]], self.parts[key]) for key in sorted(self.parts)}
