"""The broker: stores, queues, global limits, and what runs after an operation until everything rests.

Source: spec/paging-engine.md 1.1, 1.2, 1.6, 3.7 and 4.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from pageengine.broker.binding import bindings_of
from pageengine.broker.copies import expired_copy
from pageengine.broker.diverting import divert
from pageengine.broker.late_messages import LateMessage
from pageengine.broker.routing import AddressFull, Bindings, route
from pageengine.broker.transaction import Reason, Transaction
from pageengine.model.message import DUPLICATE_ID, Message, Reference
from pageengine.model.metric import METRICS
from pageengine.model.page import PageTransaction
from pageengine.paging.store import AddressStore
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings

if TYPE_CHECKING:
    from pageengine.clients.session import Session
    from pageengine.queues.queue import Queue
    from pageengine.trace.operations import RoutingType


class StoreRefused(Exception):
    """Up to 2.19: page-size-bytes >= max-size-bytes with PAGE, the store of the address cannot be made."""


class Broker:
    """One run of the broker, from start to stop. ``now`` on the trace's clock in ns."""

    def __init__(self, settings: EngineSettings, profile: Profile, start_ns: int) -> None:
        self.settings = settings
        self.profile = profile
        self.start_ns = start_ns
        self.now = 0
        self.ids = 0
        self.stores: dict[str, AddressStore] = {}
        self.queues: dict[str, Queue] = {}
        self.addresses: dict[str, set[RoutingType]] = {}
        self.page_transactions: dict[int, PageTransaction] = {}
        self.blocked_stores: dict[str, AddressStore] = {}
        self.tasks: deque[Callable[[], object]] = deque()
        self.touched_stores: set[AddressStore] = set()
        self.touched_queues: dict[Queue, None] = {}
        self.changed_queues: dict[Queue, None] = {}
        self.to_resume: dict[Session, None] = {}
        self.duplicates: dict[str, OrderedDict[bytes, None]] = {}
        self.diverts = settings.diverts
        self.routes: dict[str, Bindings | None] = {}
        self.disk_full = False
        self.global_over = False
        self.uses_global = profile.global_limit and settings.global_max_size > 0
        self.global_full = False
        messages = settings.global_max_messages if profile.counts_messages else -1
        limits = (settings.global_max_size, messages) if self.uses_global else (-1, -1)
        self.metric = METRICS[profile.full_when](*limits, self._over, self._under)
        self.expiring = False
        self.late: list[LateMessage] = []
        self.forgot_stores = False
        self.counts_too_much = False

    def next_id(self) -> int:
        self.ids += 1
        return self.ids

    # limits

    def _over(self) -> None:
        self.global_over = True
        self.global_full = True

    def _under(self) -> None:
        self.global_over = False
        self.global_full = self.disk_full
        self.check_released()

    def set_disk_full(self, full: bool) -> None:
        self.disk_full = full
        self.global_full = full or self.global_over
        if not full:
            self.check_released()

    def check_released(self) -> None:
        if self.global_full:
            return
        for address, store in list(self.blocked_stores.items()):
            if store.check_released():
                del self.blocked_stores[address]

    # parts

    def store(self, address: str) -> AddressStore | None:
        """The store of an address, made at first use; None for the management address (spec 1.1)."""
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
        store = self.stores[address] = AddressStore(self, address, settings)
        self.touched_stores.add(store)
        return store

    def bindings(self, address: str) -> Bindings | None:
        try:
            return self.routes[address]
        except KeyError:
            found = self.routes[address] = bindings_of(self, address)
            return found

    def touch(self, queue: Queue) -> None:
        self.touched_queues[queue] = None

    def resume(self, session: Session) -> None:
        self.to_resume[session] = None

    # duplicate ids

    def duplicate_id(self, message: Message) -> bytes | None:
        value = message.property(DUPLICATE_ID)
        return value.encode("utf-16-le") if isinstance(value, str) else value if isinstance(value, bytes) else None

    def is_duplicate(self, address: str, duplicate: bytes) -> bool:
        return duplicate in self.duplicates.get(address, ())

    def remember_duplicate(self, address: str, duplicate: bytes) -> None:
        cache = self.duplicates.setdefault(address, OrderedDict())
        cache[duplicate] = None
        if len(cache) > self.settings.address_settings.effective(address).id_cache_size:
            cache.popitem(last=False)

    # the end of references

    def finished(self, ref: Reference, reason: Reason, *, delivering: bool = True) -> None:
        """After the commit of an acknowledgement (spec 1.4, 3.4)."""
        queue = ref.queue
        if delivering:
            queue.delivered(ref)
        if queue.non_destructive and reason is Reason.NORMAL:
            return
        if reason is Reason.NORMAL:
            queue.acked += 1
        elif reason is Reason.EXPIRED:
            queue.expired += 1
        elif reason is Reason.KILLED:
            queue.killed += 1
        ref.gone = True
        if ref.record is None:
            queue.reference_down(ref)
        elif ref.live and self.profile.books_live_pages and queue.store is not None:
            queue.store.add_size(-self.profile.reference_bytes, 0)
        self.touch(queue)

    def finished_all(self, queue: Queue, reason: Reason, refs: list[Reference]) -> None:
        """The same for several of one queue; of those that were read from pages only counts remain."""
        alike = reason is Reason.NORMAL and not queue.non_destructive and not self.profile.books_live_pages
        if len(refs) == 1 or not alike or any(ref.record is None for ref in refs):
            for ref in refs:
                self.finished(ref, reason)
            return
        queue.all_delivered(refs)
        queue.acked += len(refs)
        for ref in refs:
            ref.gone = True

    def acknowledge(self, ref: Reference, reason: Reason = Reason.NORMAL) -> None:
        """An acknowledgement of its own, outside of transactions."""
        tx = Transaction(self)
        tx.acknowledge(ref, reason)
        tx.commit()

    def discard(self, ref: Reference) -> None:
        """A reference that comes to a queue which is no more."""
        ref.queue.delivering(ref)
        self.acknowledge(ref, Reason.KILLED)

    def acknowledge_replaced(self, ref: Reference) -> None:
        ref.queue.delivering(ref)
        self.acknowledge(ref, Reason.REPLACED)

    def expire_reference(self, ref: Reference, tx: Transaction | None) -> bool:
        """Expires a reference that counts as being delivered: to the expiry address, or away (spec 3.7).

        False: the expiry address refused it.
        """
        settings = self.settings.address_settings.effective(ref.message.address)
        return self.move(ref, settings.expiry_address, Reason.EXPIRED, tx)

    def move(self, ref: Reference, target: str | None, reason: Reason, tx: Transaction | None) -> bool:
        """A copy to another address, where there is one; False: it refused that, and the reference is where it was."""
        own = tx is None
        tx = tx or Transaction(self)
        if target and self.bindings(target) is not None:
            copy = expired_copy(self, ref, target, expired=reason is Reason.EXPIRED)
            try:
                route(self, copy, tx, reject_duplicates=False)
            except AddressFull:
                if own:
                    tx.roll_back()
                    return False
                tx.failed = "ADDRESS_FULL"
                return False
        tx.acknowledge(ref, reason)
        if own:
            tx.commit()
        return True

    def give_back(self, refs: list[Reference], *, ignore_delay: bool) -> None:
        """References that were being delivered return to their queues, or are given up after too many attempts."""
        back: list[Reference] = []
        for ref in refs:
            queue = ref.queue
            settings = self.settings.address_settings.effective(queue.address)
            attempts = settings.max_delivery_attempts
            ref.stored_count = ref.delivery_count
            if attempts > 0 and ref.delivery_count >= attempts:
                self.move(ref, settings.dead_letter_address, Reason.KILLED, None)
                continue
            if not ignore_delay and settings.redelivery_delay > 0:
                ref.scheduled = self.now + settings.redelivery_delay * 1_000_000
            queue.delivered(ref)
            if queue.deleted or (queue.purge_on_no_consumers and not queue.consumers):
                self.discard(ref)
            elif not queue.non_destructive:
                back.append(ref)
        for ref in reversed(back):
            ref.queue.add_back(ref)

    def to_dead_letters(self, message: Message, target: str, tx: Transaction | None) -> None:
        ref = Reference(message, next(iter(self.queues.values())), None)
        copy = expired_copy(self, ref, target, expired=False)
        route(self, copy, tx, reject_duplicates=False)

    def divert(self, message: Message, tx: Transaction | None) -> bool:
        """Diverts of the message's address; True if an exclusive one took it."""
        return divert(self, message, tx)

    # rest

    def producers_turn(self) -> None:
        """Every producer that got credits sends one message, as it would while a consumer takes one."""
        turn, self.to_resume = self.to_resume, {}
        for session in turn:
            session.continue_sends()
        self.run_tasks(producers=False)

    def run_tasks(self, *, producers: bool = True) -> None:
        """What executors of stores and queues have to do, then producers that got credits, until nothing is left."""
        tasks = self.tasks
        while tasks or (producers and self.to_resume):
            while tasks:
                tasks.popleft()()
            while producers and self.to_resume and not tasks:
                session = next(iter(self.to_resume))
                del self.to_resume[session]
                session.continue_sends()

    def settle(self) -> None:
        """Until rest: every queue that something happened to is asked to deliver and to read ahead."""
        if self.tasks or self.to_resume:
            self.run_tasks()
        while self.touched_queues:
            for queue in self._to_ask():
                queue.rest()
            if self.tasks or self.to_resume:
                self.run_tasks()

    def _to_ask(self) -> dict[Queue, None]:
        """Queues touched since the last look that have something to do, and the others of a paging address."""
        asked: dict[Queue, None] = {}
        touched, self.touched_queues = self.touched_queues, {}
        changed = self.changed_queues
        for queue in touched:
            changed[queue] = None
            if queue.deleted:
                continue
            store = queue.store
            if store is not None and store.paging:
                for cursor in store.cursors.values():
                    asked[cursor.queue] = None
            elif queue.consumers or queue.last_values is not None:
                asked[queue] = None
        return asked
