"""Queue: messages waiting in memory, their delivery to consumers, and reading on in the pages.

Source: docs/spec/paging-engine.md 3.1, 3.3, 3.4 and 3.7.
"""

from __future__ import annotations

from pageengine.model.message import SCHEDULED
from pageengine.model.reference import NORMAL, AckReason, CursorPort, QueuePort, Reference, ReferenceCounts
from pageengine.model.reference_list import ReferenceList
from pageengine.model.schedule import Schedule
from pageengine.paging.cursor import Cursor, PageIterator
from pageengine.paging.store import AddressStore
from pageengine.queues.dispatch import Dispatch
from pageengine.queues.filters import compiled
from pageengine.queues.last_values import LastValues
from pageengine.queues.ports import BrokerPort, ConsumerPort
from pageengine.settings.queue_traits import QueueTraits
from pageengine.trace.operations import NS_PER_MS, CreateQueue, RoutingType

MAX_WAITING = 1000


class Queue(QueuePort):
    """Queue: messages waiting in memory, scheduled, being delivered, and in pages (the cursor counts those)."""

    def __init__(
        self,
        broker: BrokerPort,
        schedule: Schedule,
        id: int,
        creation: CreateQueue,
        traits: QueueTraits,
        store: AddressStore | None,
    ) -> None:
        self.broker = broker
        self.schedule = schedule
        self.profile = broker.profile
        self.books_own = self.profile.references_booked_on_queue
        self.reference_bytes = self.profile.reference_bytes
        self.id = id
        self.name = creation.queue
        self.address = creation.address
        self.creation = creation
        self.durable = creation.durable
        self.anycast = creation.routing is RoutingType.ANYCAST
        self.filter = compiled(creation.filter)
        self.store = store
        self.traits = traits
        self.max_consumers = traits.max_consumers
        self.exclusive = traits.exclusive
        self.purge_on_no_consumers = traits.purge_on_no_consumers
        self.ring_size = traits.ring_size
        self.last_values = LastValues(traits.last_value_key) if traits.last_value_key is not None else None
        self.non_destructive = traits.non_destructive
        self.paused = False
        self.deleted = False
        self.references = ReferenceList(keeps_highest=self.profile.keeps_highest)
        self.scheduled: list[Reference] = []
        self.stuck: list[Reference] = []
        self.dispatch = Dispatch(broker, self, self.references, self.exclusive)
        self.consumers: list[ConsumerPort] = self.dispatch.consumers
        self.sequence = 0
        self.counts = ReferenceCounts()
        self.depage_pending = self.deliver_scheduled = self.reads_pages = False
        self.reader = Cursor(self, store) if store is not None else None
        self.cursor: CursorPort | None = self.reader
        if store is not None and self.reader is not None:
            store.cursors[id] = self.reader

    @property
    def message_count(self) -> int:
        """Return the number of messages in memory, scheduled, being delivered and in pages."""
        counts = self.counts
        count = counts.waiting_unpaged + counts.delivering_unpaged
        cursor = self.reader
        if cursor is not None and not cursor.empty:
            count += cursor.counter.value
        if self.scheduled:
            count += sum(1 for ref in self.scheduled if ref.record is None)
        # a last-value queue may keep what it delivers, and would count it twice
        return count - counts.delivering_count if self.last_values is not None else count

    # memory of references

    def reference_up(self, ref: Reference) -> None:
        """Count an unpaged reference as memory (spec 1.4)."""
        message = ref.message
        message.references += 1
        owner = message.owner
        booked = self.store if self.books_own else owner
        if message.references == 1 and owner is not None:
            if booked is owner and owner.add_quietly(ref.mem + self.reference_bytes, 1):
                return
            owner.add_size(ref.mem, 1)
        if booked is not None:
            booked.add_size(self.reference_bytes, 0)

    def reference_down(self, ref: Reference) -> None:
        """Stop counting an unpaged reference as memory."""
        message = ref.message
        message.references -= 1
        owner = message.owner
        booked = self.store if self.books_own else owner
        if message.references == 0 and owner is not None:
            if booked is owner and owner.add_quietly(-ref.mem - self.reference_bytes, -1):
                return
            owner.add_size(-ref.mem, -1)
        if booked is not None:
            booked.add_size(-self.reference_bytes, 0)

    # adding

    def add_tail(self, ref: Reference) -> None:
        """Append a new reference, or schedule it."""
        self._append(ref)
        self.schedule.touched_queues[self] = None

    def _append(self, ref: Reference) -> None:
        if (ref.scheduled or ref.message.special) and self._schedule(ref):
            return
        self.counts.wait(ref)
        if ref.record is None:
            self.counts.added += 1
        self.sequence += 1
        ref.sequence = self.sequence
        if self.last_values is not None:
            self.last_values.newest(ref)
        self.references.add_tail(ref)
        if self.ring_size != -1:
            self._enforce_ring()

    def add_back(self, ref: Reference) -> None:
        """Put a reference that was being delivered back at its old position."""
        if self.ring_size != -1 and self.references.size - self.counts.taken_off + 1 > self.ring_size:
            if ref.record is not None:
                self.counts.take_off(ref)
            self.broker.settling.replace(ref)
            return
        if self._schedule(ref, counted=True):
            return
        if self.last_values is not None and not self.non_destructive:
            self.last_values.came_back(ref)
        self.counts.wait(ref)
        self.references.add_sorted(ref)
        self.reset_iterators()
        self.schedule.touch(self)

    def _schedule(self, ref: Reference, *, counted: bool = False) -> bool:
        if not ref.scheduled and not (ref.message.special and ref.message.has(SCHEDULED)):
            return False
        at = ref.scheduled
        if not at and not counted:
            value = ref.message.property(SCHEDULED)
            at = value * NS_PER_MS - self.broker.start_ns if isinstance(value, int) else 0
        if at <= self.broker.now:
            return False
        ref.scheduled = at
        self.broker.earliest_due = min(self.broker.earliest_due, at)
        # among messages due at the same time, a returning one comes first and a new one last
        self.scheduled.insert(0 if counted else len(self.scheduled), ref)
        self.schedule.touch(self)
        if ref.record is None and not counted:
            self.counts.added += 1
        return True

    def release_scheduled(self) -> None:
        """Move scheduled messages that are due to the head, the earliest first."""
        due = sorted((ref for ref in self.scheduled if ref.scheduled <= self.broker.now), key=lambda ref: ref.scheduled)
        for ref in reversed(due):
            self.scheduled.remove(ref)
            ref.scheduled = 0
            self.counts.wait(ref)
            if self.last_values is not None:
                self.last_values.newest(ref)
            self.references.add_head(ref)
        if due:
            self.reset_iterators()
            self.schedule.touch(self)

    def _enforce_ring(self) -> None:
        """Remove messages beyond ring-size, each the one that the list takes for the oldest."""
        if self.references.size - self.counts.taken_off > self.ring_size:
            oldest = self.references.poll()
            if oldest is not None:
                self.removed(oldest)
                self.broker.settling.replace(oldest)

    def stick(self, ref: Reference) -> None:
        """Count a message as waiting and as being delivered: it expired, but its expiry address refused it."""
        self.stuck.append(ref)
        self.counts.wait(ref)
        self.schedule.touch(self)

    def reset_iterators(self) -> None:
        """Restart every consumer from the head, because a message returned to an earlier position."""
        for consumer in self.consumers:
            if consumer.iterator is not None:
                consumer.iterator.close()
                consumer.iterator = None

    def removed(self, ref: Reference) -> None:
        """Update the counts after a reference left the list of waiting messages."""
        if self.last_values is not None:
            self.last_values.forget(ref)
        self.counts.stop_waiting(ref)

    # delivering

    def delivered(self, ref: Reference) -> None:
        """Stop counting the reference as being delivered."""
        self.counts.stop_delivering(ref)
        if self.reads_pages and not self.deliver_scheduled:
            self.deliver_scheduled = True
            self.schedule.tasks.append(self.deliver)
        self.schedule.touched_queues[self] = None

    def settle(self, refs: list[Reference], reason: AckReason) -> None:
        """Finish references after the commit of their acknowledgement (spec 1.4, 3.4)."""
        alike = reason is NORMAL and not self.non_destructive and not self.profile.books_live_pages
        if len(refs) == 1 or not alike or any(ref.record is None for ref in refs):
            for ref in refs:
                self.settle_one(ref, reason)
            return
        # read from pages: only counts remain of them
        self.counts.settle_paged(refs)
        if self.reads_pages:
            self.deliver_later()
        self.schedule.touch(self)
        for ref in refs:
            ref.gone = True

    def settle_one(self, ref: Reference, reason: AckReason) -> None:
        """Finish one reference after the commit of its acknowledgement."""
        self.delivered(ref)
        if reason is NORMAL and self.non_destructive:
            return
        self.counts.settle(reason)
        ref.gone = True
        if ref.record is None:
            self.reference_down(ref)
        elif ref.live and self.profile.books_live_pages and self.store is not None:
            self.store.add_size(-self.profile.reference_bytes, 0)

    def returns_go_on(self) -> bool:
        """Return whether a returning reference is kept: the queue exists and is not purged for lack of consumers."""
        return not self.deleted and (bool(self.consumers) or not self.purge_on_no_consumers)

    def deliver_later(self) -> None:
        """Schedule a delivery round."""
        if not self.deliver_scheduled:
            self.deliver_scheduled = True
            self.schedule.tasks.append(self.deliver)

    def deliver(self) -> None:
        """Run one delivery round over the consumers, then check whether to read from the pages."""
        self.deliver_scheduled = False
        if self.deleted or self.paused:
            return
        if self.references.size:
            if self.consumers:
                self.dispatch.hand_out()
            if self.last_values is not None:
                self._replace_old_values(self.last_values)
        store = self.store
        if self.reads_pages or (store is not None and store.paging):
            self.check_depage()

    def _replace_old_values(self, values: LastValues) -> None:
        """Replace, at the end of a delivery round, every message that is not the newest of its key."""
        waiting = self.references.iterator()
        while (ref := waiting.peek()) is not None:
            if values.is_replaced(ref):
                waiting.remove()
                self.removed(ref)
                self.broker.settling.replace(ref)
        waiting.close()

    def expire_waiting(self, ref: Reference) -> None:
        """Expire a message that a delivery round took out of the list."""
        self.removed(ref)
        self.counts.deliver(ref)
        self.broker.settling.expire(ref)

    # reading on in the pages

    def check_depage(self) -> None:
        """Read from the pages if the limits allow it, after what is going on now: at once where nothing else is."""
        cursor, store = self.reader, self.store
        if self.deleted:
            return
        self.reads_pages = store is not None and store.paging
        if cursor is None or not self.reads_pages:
            return
        if self.depage_pending or not self.needs_depage():
            return
        schedule = self.schedule
        if schedule.tasks or schedule.asks_several:
            if cursor.iterator.plain(False) is not None or cursor.iterator.has_next():
                self.schedule_depage()
        elif self._depage():
            schedule.touched_queues[self] = None

    def schedule_depage(self) -> None:
        """Read from the pages after what is going on now."""
        if not self.depage_pending:
            self.depage_pending = True
            self.schedule.tasks.append(self.depage)

    def depage(self) -> bool:
        """Read from the pages as long as the limits allow (spec 3.1); return whether anything was read."""
        self.depage_pending = False
        read = self.reader is not None and self.needs_depage() and self._depage()
        if read:
            self.schedule.touched_queues[self] = None
        return read

    def _depage(self) -> bool:
        """Read at least one message from the pages, then as many as the limits allow."""
        cursor = self.reader
        if self.paused or cursor is None or self.deleted:
            return False
        iterator = cursor.iterator
        read = False
        while not read or self.needs_depage():
            record = iterator.plain(True)
            if record is None:
                if not iterator.has_next():
                    break
                record = iterator.take()
            ref = Reference(record.message, self, record)
            ref.live = iterator.live
            self._append(ref)
            read = True
        return read

    def needs_depage(self) -> bool:
        """Return whether the limits allow reading another message from the pages (spec 3.1)."""
        store = self.store
        assert store is not None
        counts = self.counts
        size, count = counts.mem_bytes, counts.mem_count
        if store.reads_to_max_size:
            return size < store.old_read_limit and (not store.reads_few or self.references.size < MAX_WAITING)
        return (
            size < store.prefetch_bytes
            and count < store.prefetch_messages
            and size + counts.delivering_bytes < store.max_read_bytes
            and count + counts.delivering_count < store.max_read_messages
        )

    def rests_alone(self) -> bool:
        """Rest if no other queue has to be asked after this one was touched; return False, doing nothing, otherwise."""
        if self.deleted:
            return True
        store = self.store
        if store is None or not store.paging:
            if self.consumers or self.last_values is not None:
                self.deliver()
            return True
        if store.ask_all:
            if len(store.cursors) > 1:
                return False
            store.ask_all = False
        self._rest_on_pages()
        return True

    def queues_to_ask(self, queues: dict[QueuePort, None]) -> None:
        """Add this queue if it has something to do, and every queue of its address if something concerns them all."""
        if self.deleted:
            return
        store = self.store
        if store is not None and store.paging:
            if store.ask_all:
                store.ask_all = False
                for cursor in store.cursors.values():
                    queues[cursor.queue] = None
            else:
                queues[self] = None
        elif self.consumers or self.last_values is not None:
            queues[self] = None

    def rest(self) -> None:
        """Read ahead and deliver at once, when no other work is pending."""
        store = self.store
        if store is None or not store.paging:
            self.deliver()
        else:
            self._rest_on_pages()

    def _rest_on_pages(self) -> None:
        self.depage_pending = False
        if self.needs_depage() and self._depage():
            # a second round that finds nothing still moves on whose turn it is among several consumers
            again = self.schedule.touched_queues if len(self.consumers) > 1 else self.schedule.changed_queues
            again[self] = None
        if not (self.deleted or self.paused):
            waiting = self.references.size
            self.reads_pages = True
            if waiting:
                if self.consumers:
                    self.dispatch.hand_out()
                if self.last_values is not None:
                    self._replace_old_values(self.last_values)
                if self.references.size != waiting:
                    self.check_depage()

    def force_delivery(self) -> None:
        """Read from the pages and deliver after what is going on now."""
        if self.store is not None and self.store.paging:
            self.schedule_depage()
        self.deliver_later()

    def browse_pages(self) -> PageIterator | None:
        """Return an iterator over the pages for a browser, or None without a store."""
        return PageIterator(self.reader, browsing=True) if self.reader is not None else None
