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
from pageengine.trace.operations import NS_PER_MS, CreateQueue, RoutingType

LATEST = 1024


class LatestWrites:
    """The latest entries of the journal that a crash may lose, up to ``LATEST`` of each kind, oldest first.

    ``acked``: when, in which transaction with messages in pages, what. ``alone``: acknowledgements besides, which wait
    for no page: when, of which queue, the ``seq`` of a message that comes again without it. Nothing else is kept of
    these messages: memory that is used again at once is faster. ``sent``: when and in which transaction a message came
    to memory, and its ``place``. ``committed``: when and which transaction. ``released``: when a message came whose
    producer had waited.
    """

    def __init__(self) -> None:
        self.acked: deque[tuple[int, int, Reference]] = deque(maxlen=LATEST)
        self.alone: deque[tuple[int, QueuePort, int | None]] = deque(maxlen=LATEST)
        self.sent: deque[tuple[int, int, tuple[int, int]]] = deque(maxlen=LATEST)
        self.committed: deque[tuple[int, int]] = deque(maxlen=LATEST)
        self.released: deque[tuple[int, int]] = deque(maxlen=LATEST)

    @property
    def since(self) -> int | None:
        """From when on nothing is missing; None: nothing is missing at all."""
        kinds = (self.acked, self.alone, self.sent, self.committed)
        return max((entries[0][0] for entries in kinds if len(entries) == LATEST), default=None)

    def acknowledged(self, now: int, ref: Reference) -> None:
        """A reference is finished, and no page has to be written for that."""
        queue, message = ref.queue, ref.message
        again = ref.record is not None or (message.durable and not queue.non_destructive)
        self.alone.append((now, queue, message.source.seq if again else None))


class StoreRefused(Exception):
    """Up to 2.19: page-size-bytes >= max-size-bytes with PAGE, the store of the address cannot be made."""


class Broker(BrokerPort):
    """One run of the broker, from start to stop. ``now`` on the trace's clock in ns.

    ``connections``: of clients of other protocols than core. ``shows_clients``: an outcome shows them and what they
    wait for.
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
        self.late: list[LateMessage] = []
        self.connections = 0
        self.shows_clients = False
        self.forgot_stores = False
        self.counts_too_much = False
        self.latest = LatestWrites()

    def next_id(self) -> int:
        """A new id, of a message, queue or transaction."""
        self.ids += 1
        return self.ids

    def expires_after(self, ms: int) -> int:
        """When a message that lives so many ms from now on expires, on the trace's clock."""
        self.expiring = True
        return self.now + ms * NS_PER_MS

    def store(self, address: str) -> AddressStore | None:
        """The store of an address, made at first use; None for the management address (spec 1.1).

        Raises StoreRefused.
        """
        found = self.stores.get(address)
        if found is not None:
            return found
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

    def make_queue(self, made: CreateQueue, traits: QueueTraits, id: int | None = None) -> Queue:
        """A new queue and the store of its address; ``id``: the one that it had before a restart."""
        store = self.store(made.address)
        queue = Queue(self, self.schedule, id or self.next_id(), made, traits, store)
        self.queues[made.queue] = queue
        self.bound.add(queue)
        self._comes_or_goes(queue)
        return queue

    def forget_queue(self, queue: Queue) -> None:
        """A queue is deleted."""
        del self.queues[queue.name]
        self.bound.remove(queue)
        self._comes_or_goes(queue)

    def _comes_or_goes(self, queue: Queue) -> None:
        self.schedule.changed_queues[queue] = None
        self.routes.clear()

    def bindings(self, address: str) -> AddressBindings | None:
        """The queues that take the messages of an address; None where there are none."""
        try:
            return self.routes[address]
        except KeyError:
            found = self.routes[address] = self.bound.bindings(address)
            return found

    def is_duplicate(self, address: str, duplicate: bytes) -> bool:
        """Whether the address has seen this duplicate id."""
        return duplicate in self.duplicates.get(address, ())

    def remember_duplicate(self, address: str, duplicate: bytes) -> None:
        """Keep a duplicate id; beyond id-cache-size the oldest one goes."""
        cache = self.duplicates.setdefault(address, OrderedDict())
        cache[duplicate] = None
        if len(cache) > self.settings.address_settings.effective(address).id_cache_size:
            cache.popitem(last=False)
