"""From a message to queues: bindings, filters, diverts, and gate B for each address the queues belong to.

Source: docs/spec/paging-engine.md 2.2, 2.3, 2.9 and 3.6.
"""

from __future__ import annotations

from pageengine.broker.bindings import BoundGroup, belongs
from pageengine.broker.broker import Broker
from pageengine.broker.copies import dead_letter_copy, diverted_copy
from pageengine.broker.transaction import Transaction
from pageengine.model.message import DUPLICATE_ID, Message
from pageengine.model.page import NO_TRANSACTION, PagedMessage
from pageengine.model.reference import Reference
from pageengine.model.sizes import body_bytes, large_record_payload, record_payload
from pageengine.paging.gates import MEMORY, Gate
from pageengine.paging.store import AddressStore
from pageengine.queues.filters import compiled
from pageengine.settings.settings import AddressSettings, Divert
from pageengine.trace.operations import NS_PER_MS

ROUTED = "OK"
NO_BINDINGS = "NO_BINDINGS"
NO_BINDINGS_DLA = "NO_BINDINGS_DLA"
DUPLICATED = "DUPLICATED_ID"


class AddressFull(Exception):
    """Error for a message that was refused because its address is full (gate B, policy FAIL)."""


class DroppedElsewhere(AddressFull):
    """Error for a message that one address of a wildcard dropped and the next would keep in memory.

    2.56 fails on that.
    """


class Routed:
    """Outcome of a message in the broker."""

    __slots__ = ("dropped", "in_memory", "paged", "status")

    def __init__(self, status: str = ROUTED) -> None:
        self.status = status
        self.paged = self.dropped = self.in_memory = False


def route(broker: Broker, message: Message, tx: Transaction | None, *, reject_duplicates: bool = True) -> Routed:
    """Route one message and return its outcome; raise ``AddressFull`` if it is refused."""
    started = None
    settings = broker.settings.address_settings.effective(message.address)
    if settings.changes_expiry:
        message.expiration = _expiration(settings, message.expiration, broker.now)
        broker.expiring = broker.expiring or message.expiration != 0
    duplicate = _duplicate_id(message) if message.special else None
    if duplicate is not None:
        if reject_duplicates and broker.is_duplicate(message.address, duplicate):
            if tx is not None:
                tx.failed = tx.failed or "DUPLICATE_ID_REJECTED"
            return Routed(DUPLICATED)
        if tx is None:
            started = tx = Transaction(broker)
        tx.duplicates.append((message.address, duplicate))
    try:
        routed = _route_to_bindings(broker, message, tx)
    except AddressFull:
        if started is not None:
            started.roll_back()
        raise
    if started is not None:
        started.commit()
    return routed


def _duplicate_id(message: Message) -> bytes | None:
    value = message.property(DUPLICATE_ID)
    return value.encode("utf-16-le") if isinstance(value, str) else value if isinstance(value, bytes) else None


def _expiration(settings: AddressSettings, requested: int, now: int) -> int:
    """Return when a message expires by its address settings (expiry-delay, min- and max-expiry-delay, no-expiry).

    Times are in ns on the trace's clock; 0 is never.
    """
    if settings.no_expiry:
        return 0
    if settings.expiry_delay >= 0:
        return requested or now + settings.expiry_delay * NS_PER_MS
    least = now + settings.min_expiry_delay * NS_PER_MS if settings.min_expiry_delay != -1 else None
    most = now + settings.max_expiry_delay * NS_PER_MS if settings.max_expiry_delay != -1 else None
    if requested == 0:
        return most or least or 0
    if most is not None and requested > most:
        return most
    return least if least is not None and requested < least else requested


def _route_to_bindings(broker: Broker, message: Message, tx: Transaction | None) -> Routed:
    address = message.address
    diverted = bool(broker.settings.diverts) and _divert(broker, message, tx)
    bindings = broker.routes.get(address) or broker.bindings(address)
    groups = (bindings.always or bindings.chosen(message)) if bindings is not None and not diverted else None
    if groups:
        return _route_to_groups(broker, message, groups, tx)
    if (diverted or bindings is not None) and not broker.profile.filtered_out_is_unrouted:
        return Routed()
    settings = broker.settings.address_settings.effective(address)
    if settings.send_to_dla_on_no_route and settings.dead_letter_address is not None:
        some_queue = next(iter(broker.queues))
        copy = dead_letter_copy(broker, message, some_queue, settings.dead_letter_address)
        route(broker, copy, tx, reject_duplicates=False)
        return Routed(NO_BINDINGS_DLA)
    return Routed(NO_BINDINGS)


def _route_to_groups(broker: Broker, message: Message, groups: list[BoundGroup], tx: Transaction | None) -> Routed:
    routed = Routed()
    refs: list[Reference] = []
    owner = message.owner = broker.stores.get(message.address) or broker.store(message.address)
    for group in groups:
        store = owner if group.address == message.address else broker.store(group.address)
        gate = store.gates.decide_arrival() if store is not None else MEMORY
        if gate is MEMORY:
            if routed.dropped and broker.profile.drops_stop_routing:
                raise DroppedElsewhere
            routed.in_memory = True
            for queue in group.in_memory:
                ref = Reference(message, queue, None)
                refs.append(ref)
                queue.reference_up(ref)
        elif gate is Gate.PAGE:
            assert store is not None
            routed.paged = True
            _to_page(broker, message, store, group, tx)
        elif gate is Gate.DROP:
            routed.dropped = True
        else:
            raise AddressFull
    if routed.dropped and broker.profile.drops_stop_routing:
        # what was counted for addresses before stays counted, though no queue has it
        broker.counts_too_much = broker.counts_too_much or bool(refs)
        return routed
    if tx is not None:
        tx.added += refs
    else:
        for ref in refs:
            ref.queue.add_tail(ref)
    return routed


def _to_page(broker: Broker, message: Message, store: AddressStore, group: BoundGroup, tx: Transaction | None) -> None:
    queues, ids = group.on_page, group.ids
    if message.large:
        size = large_record_payload(message.enc - body_bytes(message.source), len(ids))
    else:
        size = record_payload(message.address, message.enc, len(ids), broker.profile.old_layout)
    size += message.record_extra
    number = NO_TRANSACTION
    if tx is not None:
        number = tx.id
        waiting = tx.page_transaction()
        waiting.messages += len(ids)
        waiting.durable += sum(1 for queue in queues if queue.durable)
    record = PagedMessage(message, ids, number, size, broker.now)
    store.write(record)
    schedule = broker.schedule
    schedule.touched_stores.add(store)
    for queue in queues:
        cursor = queue.cursor
        assert cursor is not None
        cursor.empty = False
        if tx is None:
            cursor.count(1, message.enc)
        else:
            tx.counts.append((cursor, 1, message.enc))
        schedule.touched_queues[queue] = None


def _divert(broker: Broker, message: Message, tx: Transaction | None) -> bool:
    """Route copies of the message along the diverts of its address, only the exclusive ones if there are any.

    Return whether an exclusive divert took the message, so that it does not reach its own address.
    """
    settings, address = broker.settings, message.address
    matching = [
        divert
        for divert in settings.diverts
        if belongs(settings, divert.address, address) and _matches(divert, message)
    ]
    exclusive = [divert for divert in matching if divert.exclusive]
    for divert in exclusive or matching:
        for target in divert.forwarding_address.split(","):
            copy = diverted_copy(broker, message, divert.name, target.strip())
            route(broker, copy, tx, reject_duplicates=False)
    return bool(exclusive)


def _matches(divert: Divert, message: Message) -> bool:
    matches = compiled(divert.filter)
    return matches is None or matches(message)
