"""Differences between a broker's disk and what its configuration declares.

The caller reads the disk: a ``StoredQueue`` has the fields of a binding record by their names.
Source: docs/spec/config-behaviour.md "Queues and addresses".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from brokerconf.evidence.queue_declarations import (
    FIELDS,
    MULTICAST,
    QueueDeclaration,
    QueueDeclarations,
    QueueValue,
    declared_values,
)
from brokerconf.settings.effective import EffectiveSettings
from pagefmt.editions import Edition
from pagefmt.findings import Position

# Prefixes of names that the broker creates for itself.
INTERNAL: Final = (
    "$.artemis.internal",
    "$sys.",
    "$ACTIVEMQ_ARTEMIS_",
    "activemq.management",
    "activemq.notifications",
    "notif.",
    "hornetq.management",
    "hornetq.notifications",
    "sf.",
)
FORCE: Final = "FORCE"


class QueueOrigin(StrEnum):
    """Creator of a queue or address that is not declared."""

    CONFIGURATION = "configuration"  # declared once: the record says so
    AUTO_CREATED = "auto-created"  # by a client that sent or read, or as a dead-letter or expiry queue
    SUBSCRIPTION = "subscription"  # a client's durable subscription
    OTHER = "management or client"
    UNKNOWN = "not recorded"  # the edition does not record it


# Origins of queues that no configuration declares.
EXPECTED: Final = frozenset({QueueOrigin.AUTO_CREATED, QueueOrigin.SUBSCRIPTION})


class StoredQueue(NamedTuple):
    """Queue on the disk; ``fields`` are those that its record has."""

    id: int
    name: str
    address: str
    routing: str | None
    filter: str | None
    fields: Mapping[str, str | int | None]

    def flag(self, name: str) -> bool:
        """Return a boolean field; False if the record lacks it."""
        return bool(self.fields.get(name))


class StoredAddress(NamedTuple):
    """Address on the disk; ``recorded``: it has a binding, and not only pages."""

    name: str
    auto_created: bool
    internal: bool
    recorded: bool = True


class Deletion(NamedTuple):
    """Whether a queue or address is deleted, with its messages, at the next start or reload.

    ``in_force``: by the present settings; ``by_queues`` and ``by_addresses``: if that setting alone were on, None if
    the edition lacks the setting.
    """

    in_force: bool
    by_queues: bool | None
    by_addresses: bool | None


@dataclass(frozen=True, slots=True)
class LeftOver:
    """Queue or address (``queue`` is None) that is on the disk and not declared."""

    address: str
    queue: StoredQueue | None
    origin: QueueOrigin
    deletion: Deletion
    recorded: bool = True


class Differing(NamedTuple):
    """Field of a queue that is declared differently; ``changed``: the next start makes it as declared."""

    queue: StoredQueue
    field: str
    stored: QueueValue
    declared: QueueValue
    place: Position
    changed: bool


class Missing(NamedTuple):
    """Queue or address (``queue`` is None) that is declared and not on the disk: the next start creates it."""

    address: str
    queue: str | None
    place: Position


@dataclass(frozen=True, slots=True)
class Drift:
    """Differences between disk and configuration.

    ``expected``: undeclared ones that nobody declares, such as subscriptions; ``internal``: the number of the broker's
    own.
    """

    left: tuple[LeftOver, ...]
    expected: tuple[LeftOver, ...]
    missing: tuple[Missing, ...]
    differing: tuple[Differing, ...]
    internal: int

    @property
    def exists(self) -> bool:
        """Return whether disk and configuration differ."""
        return bool(self.left or self.missing or self.differing)


def drift(
    settings: EffectiveSettings,
    declared: QueueDeclarations,
    queues: Iterable[StoredQueue],
    addresses: Iterable[StoredAddress],
) -> Drift:
    """Compare declared and stored queues and addresses; each part of the result is sorted by address and name."""
    queues, addresses = list(queues), list(addresses)
    made_by_broker = {address.name for address in addresses if address.internal or _internal(address.name)}
    own = [
        queue for queue in queues if queue.flag("internal") or _internal(queue.name) or queue.address in made_by_broker
    ]
    own_ids = {queue.id for queue in own}
    stored = {(queue.address, queue.name): queue for queue in queues if queue.id not in own_ids}
    on_disk = {address.name: address for address in addresses if address.name not in made_by_broker}
    auto = {name for name, address in on_disk.items() if address.auto_created}
    left = [
        LeftOver(queue.address, queue, origin(queue), deletion(settings, declared, queue, auto))
        for key, queue in sorted(stored.items())
        if key not in declared.queues
    ]
    made_by = (QueueOrigin.UNKNOWN, QueueOrigin.AUTO_CREATED)
    left += [
        LeftOver(name, None, made_by[name in auto], _with_address(settings, declared, name, auto), address.recorded)
        for name, address in sorted(on_disk.items())
        if name not in declared.addresses
    ]
    return Drift(
        tuple(item for item in left if item.origin not in EXPECTED),
        tuple(item for item in left if item.origin in EXPECTED),
        tuple(_missing(settings, declared, stored, on_disk)),
        tuple(
            difference
            for key, queue in sorted(stored.items())
            if key in declared.queues
            for difference in _differing(settings, queue, declared.queues[key])
        ),
        len(own) + len(made_by_broker),
    )


def _internal(name: str) -> bool:
    return name.startswith(INTERNAL)


def origin(queue: StoredQueue) -> QueueOrigin:
    """Return who created a queue, as far as its record tells."""
    if queue.flag("auto_created"):
        return QueueOrigin.AUTO_CREATED
    if queue.flag("configuration_managed"):
        return QueueOrigin.CONFIGURATION
    if queue.address.startswith("jms.topic.") and queue.name != queue.address:
        return QueueOrigin.SUBSCRIPTION
    if "configuration_managed" not in queue.fields:
        return QueueOrigin.UNKNOWN
    return QueueOrigin.SUBSCRIPTION if queue.routing == MULTICAST else QueueOrigin.OTHER


def deletion(
    settings: EffectiveSettings, declared: QueueDeclarations, queue: StoredQueue, auto: Iterable[str]
) -> Deletion:
    """Return what a start or reload does to a queue that is not declared; ``auto`` are the auto-created addresses.

    Since 2.7 only a queue that its record calls managed by the configuration is deleted, before every one that was not
    auto-created; up to 2.28 it stays if a queue of its name is declared for another address.
    """
    above = _with_address(settings, declared, queue.address, auto)
    if above.by_addresses is None:
        return above
    managed = queue.flag("configuration_managed")
    if settings.edition < Edition.ARTEMIS_2_10:
        managed = not queue.flag("auto_created")
    elsewhere = settings.edition < Edition.ARTEMIS_2_44 and queue.name in declared.names
    goes = managed and not elsewhere
    forced = _forced(settings, queue.address, "config-delete-queues")
    return Deletion(above.in_force or (forced and goes), goes, above.by_addresses)


def _forced(settings: EffectiveSettings, address: str, name: str) -> bool:
    value = settings.merged(address).get(name)
    return value is not None and value.value == FORCE


def _with_address(
    settings: EffectiveSettings, declared: QueueDeclarations, address: str, auto: Iterable[str]
) -> Deletion:
    """Return whether an undeclared address is deleted with all of its queues, which an auto-created one is not.

    Older brokers forget on shutdown that it was auto-created: up to 2.17 an address on the disk counts as made by hand.
    """
    if settings.edition < Edition.ARTEMIS_2_4:
        return Deletion(in_force=False, by_queues=None, by_addresses=None)
    spared = settings.edition >= Edition.ARTEMIS_2_28 and address in auto
    goes = address not in declared.addresses and not spared
    return Deletion(goes and _forced(settings, address, "config-delete-addresses"), by_queues=False, by_addresses=goes)


def _missing(
    settings: EffectiveSettings,
    declared: QueueDeclarations,
    stored: Mapping[tuple[str, str], StoredQueue],
    on_disk: Mapping[str, StoredAddress],
) -> Iterator[Missing]:
    """Yield declared queues and addresses that have no record.

    Queues that are not durable have none, nor had addresses before 2.0.
    """
    for key, queue in sorted(declared.queues.items()):
        if queue.durable and key not in stored:
            yield Missing(queue.address, queue.name, queue.place)
    if settings.edition >= Edition.ARTEMIS_2_4:
        for name, place in sorted(declared.addresses.items()):
            if (name not in on_disk or not on_disk[name].recorded) and not _internal(name):
                yield Missing(name, None, place)


def _differing(settings: EffectiveSettings, stored: StoredQueue, declared: QueueDeclaration) -> Iterator[Differing]:
    place, since = declared.place, settings.edition
    if not declared.durable:
        yield Differing(stored, "durable", True, False, place, changed=False)
    if stored.filter != declared.filter:
        yield Differing(stored, "filter", stored.filter, declared.filter, place, since >= Edition.ARTEMIS_2_10)
    if declared.routing is not None and stored.routing is not None and stored.routing != declared.routing:
        yield Differing(stored, "routing_type", stored.routing, declared.routing, place, changed=True)
    values = declared_values(settings, declared)
    for queue_field in FIELDS:
        if queue_field.name in values and queue_field.name in stored.fields:
            stored_value = stored.fields[queue_field.name]
            now: QueueValue = bool(stored_value) if queue_field.kind is bool else stored_value
            if now != values[queue_field.name]:
                yield Differing(stored, queue_field.name, now, values[queue_field.name], place, not queue_field.lasting)
