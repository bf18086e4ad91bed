"""Ends of references: acknowledged, expired, replaced, moved to another address, or returned to their queues.

Source: docs/spec/paging-engine.md 1.4, 3.4 and 3.7.
"""

from __future__ import annotations

from pageengine.broker.broker import Broker
from pageengine.broker.copies import dead_letter_copy
from pageengine.broker.routing import AddressFull, route
from pageengine.broker.transaction import Transaction
from pageengine.model.reference import AckReason, Reference
from pageengine.queues.ports import SettlingPort
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings
from pageengine.trace.operations import NS_PER_MS


def expire_reference(broker: Broker, ref: Reference, tx: Transaction | None) -> bool:
    """Expire a reference that counts as being delivered: to the expiry address if there is one (spec 3.7).

    False: the expiry address refused it.
    """
    settings = broker.settings.address_settings.effective(ref.message.address)
    return _move(broker, ref, settings.expiry_address, AckReason.EXPIRED, tx)


def _move(broker: Broker, ref: Reference, target: str | None, reason: AckReason, tx: Transaction | None) -> bool:
    """Finish a reference with a copy at ``target``, if that has bindings. False: it was refused there and stays."""
    own = tx is None
    tx = tx or Transaction(broker)
    if target and broker.bindings(target) is not None:
        expired = reason is AckReason.EXPIRED
        copy = dead_letter_copy(broker, ref.message, ref.queue.name, target, expired=expired)
        try:
            route(broker, copy, tx, reject_duplicates=False)
        except AddressFull:
            if own:
                tx.roll_back()
            else:
                tx.failed = "ADDRESS_FULL"
            return False
    tx.acknowledge(ref, reason)
    if own:
        tx.commit()
    return True


class Settling(SettlingPort):
    """Settling of references, each in a transaction of its own."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def discard(self, ref: Reference) -> None:
        """Drop a reference that returns to a deleted queue."""
        self._acknowledge(ref, AckReason.KILLED)

    def replace(self, ref: Reference) -> None:
        """Drop a reference that a ring or a newer last value displaces."""
        self._acknowledge(ref, AckReason.REPLACED)

    def _acknowledge(self, ref: Reference, reason: AckReason) -> None:
        ref.queue.counts.deliver(ref)
        tx = Transaction(self.broker)
        tx.acknowledge(ref, reason)
        tx.commit()

    def expire(self, ref: Reference) -> None:
        """Expire a message that counts as being delivered."""
        expire_reference(self.broker, ref, None)

    def give_back(self, refs: list[Reference], *, ignore_delay: bool) -> None:
        """Return references from delivery to their queues, or give them up after too many attempts."""
        broker = self.broker
        back: list[Reference] = []
        for ref in refs:
            queue = ref.queue
            settings = broker.settings.address_settings.effective(queue.address)
            attempts = settings.max_delivery_attempts
            ref.stored_count = ref.delivery_count
            if attempts > 0 and ref.delivery_count >= attempts:
                _move(broker, ref, settings.dead_letter_address, AckReason.KILLED, None)
                continue
            if not ignore_delay and settings.redelivery_delay > 0:
                ref.scheduled = broker.now + settings.redelivery_delay * NS_PER_MS
            queue.delivered(ref)
            if not queue.returns_go_on():
                self.discard(ref)
            elif not queue.non_destructive:
                back.append(ref)
        for ref in reversed(back):
            ref.queue.add_back(ref)


def started(settings: EngineSettings, profile: Profile, start_ns: int) -> Broker:
    """Return a broker without queues; ``start_ns`` is zero of the trace's clock on the wall clock."""
    broker = Broker(settings, profile, start_ns)
    broker.settling = Settling(broker)
    return broker
