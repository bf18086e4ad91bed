"""The broker: its addresses, stores and queues, its limits, and what all of them share.

Source: docs/spec/paging-engine.md 1.1, 1.2 and 4.
"""

from __future__ import annotations

from collections import OrderedDict, deque

from pageengine.broker.bindings import AddressBindings, BoundQueues
from pageengine.broker.late_messages import LateMessage
from pageengine.model.page import PageTransactionInfo
from pageengine.model.reference import QueuePort, Reference
from pageengine.model.schedule import Schedule
from pageengine.paging.limits import Limits
from pageengine.paging.store import AddressStore
from pageengine.queues.ports import BrokerPort
from pageengine.queues.queue import Queue
from pageengine.settings.profiles import Profile
from pageengine.settings.queue_traits import QueueTraits
from pageengine.settings.settings import EngineSettings
from pageengine.trace.operations import HIGHEST, NS_PER_MS, CreateQueue, RoutingType

LATEST = 1024


class LatestWrites:
    """Latest entries of the journal that a crash may lose, up to ``LATEST`` of each kind, oldest first.

    ``acked``: time, transaction with messages in pages, reference. ``alone``: acknowledgements that wait for no page:
    time, queue, and the ``seq`` of a message that is delivered again without them. Nothing else is kept of these
    messages, because memory that is reused at once is faster. ``sent``: time and transaction in which a message came to
    memory, and its ``place``. ``committed``: time and transaction. ``released``: when a message arrived whose producer
    had waited.
    """

    def __init__(self) -> None:
        self.acked: deque[tuple[int, int, Reference]] = deque(maxlen=LATEST)
        self.alone: deque[tuple[int, QueuePort, int | None]] = deque(maxlen=LATEST)
        self.sent: deque[tuple[int, int, tuple[int, int]]] = deque(maxlen=LATEST)
        self.committed: deque[tuple[int, int]] = deque(maxlen=LATEST)
        self.released: deque[tuple[int, int]] = deque(maxlen=LATEST)

    @property
    def since(self) -> int | None:
        """Return the time from which nothing is missing, or None if nothing is missing at all."""
        kinds = (self.acked, self.alone, self.sent, self.committed)
        return max((entries[0][0] for entries in kinds if len(entries) == LATEST), default=None)

    def acknowledged(self, now: int, ref: Reference) -> None:
        """Note that a reference is finished without a page write."""
        queue, message = ref.queue, ref.message
        again = ref.record is not None or (message.durable and not queue.non_destructive)
        self.alone.append((now, queue, message.source.seq if again else None))


class StoreRefused(Exception):
    """Error up to 2.19: page-size-bytes >= max-size-bytes with PAGE, so the address's store cannot be created."""


class Broker(BrokerPort):
    """One run of the broker, from start to stop; ``now`` is on the trace's clock in ns.

    ``connections``: those of clients of other protocols than core. ``shows_clients``: an outcome shows them and what
    they wait for.
    """

    def __init__(self, settings: EngineSettings, profile: Profile, start_ns: int) -> None:
        self.settings = settings
        self.profile = profile
        self.start_ns = start_ns
        self.now = 0
        self.ids = 0
        self.schedule = Schedule()
        self.limits = Limits(settings, profile)
        self.stores: dict[str, AddressStore] = {}
        self.queues: dict[str, Queue] = {}
        self.bound = BoundQueues(settings)
        self.addresses: dict[str, set[RoutingType]] = {}
        self.page_transactions: dict[int, PageTransactionInfo] = {}
        self.duplicates: dict[str, OrderedDict[bytes, None]] = {}
        self.routes: dict[str, AddressBindings | None] = {}
        self.expiring = False
        self.earliest_due = HIGHEST
        self.late: list[LateMessage] = []
        self.connections = 0
        self.shows_clients = False
        self.forgot_stores = False
        self.counts_too_much = False
        self.latest = LatestWrites()

    def next_id(self) -> int:
        """Return a new id for a message, queue or transaction."""
        self.ids += 1
        return self.ids

    def release_due(self) -> None:
        """Release the scheduled messages that are due."""
        for queue in self.queues.values():
            if queue.scheduled:
                queue.release_scheduled()
        waiting = (ref.scheduled for queue in self.queues.values() for ref in queue.scheduled)
        self.earliest_due = min(waiting, default=HIGHEST)

    def expires_after(self, ms: int) -> int:
        """Return when a message expires that lives ``ms`` milliseconds from now, on the trace's clock in ns."""
        self.expiring = True
        return self.now + ms * NS_PER_MS

    def store(self, address: str) -> AddressStore | None:
        """Return the store of an address, created at first use; None for the management address (spec 1.1).

        Raises ``StoreRefused``.
        """
        store = self.stores.get(address)
        if store is not None:
            return store
        name = address.split("::", 1)[0]
        if self.profile.management_exempt and name.startswith(self.settings.management_address):
            return None
        return self.stores.get(name) or self._make_store(name)

    def _make_store(self, address: str) -> AddressStore:
        settings = self.settings.address_settings.effective(address)
        if (
            self.profile.refuses_page_above_max
            and settings.policy.value == "PAGE"
            and settings.max_size_bytes != -1
            and settings.page_size_bytes >= settings.max_size_bytes
        ):
            raise StoreRefused(address)
        store = AddressStore(self.limits, self.schedule, self.page_transactions, address, settings)
        self.stores[address] = store
        self.schedule.touched_stores.add(store)
        return store

    def make_queue(self, creation: CreateQueue, traits: QueueTraits, id: int | None = None) -> Queue:
        """Create a queue and the store of its address; ``id`` is the one that it had before a restart."""
        store = self.store(creation.address)
        queue = Queue(self, self.schedule, id or self.next_id(), creation, traits, store)
        self.queues[creation.queue] = queue
        self.bound.add(queue)
        self._comes_or_goes(queue)
        return queue

    def forget_queue(self, queue: Queue) -> None:
        """Remove a deleted queue and its bindings."""
        del self.queues[queue.name]
        self.bound.remove(queue)
        self._comes_or_goes(queue)

    def _comes_or_goes(self, queue: Queue) -> None:
        self.schedule.changed_queues[queue] = None
        self.routes.clear()

    def bindings(self, address: str) -> AddressBindings | None:
        """Return the queues that receive the messages of an address, or None if there are none."""
        try:
            return self.routes[address]
        except KeyError:
            bindings = self.routes[address] = self.bound.bindings(address)
            return bindings

    def is_duplicate(self, address: str, duplicate: bytes) -> bool:
        """Return whether the address has seen this duplicate id."""
        return duplicate in self.duplicates.get(address, ())

    def remember_duplicate(self, address: str, duplicate: bytes) -> None:
        """Keep a duplicate id; beyond id-cache-size the oldest one goes."""
        cache = self.duplicates.setdefault(address, OrderedDict())
        cache[duplicate] = None
        if len(cache) > self.settings.address_settings.effective(address).id_cache_size:
            cache.popitem(last=False)
