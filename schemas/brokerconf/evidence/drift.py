"""What a broker's disk has beside what its configuration declares.

Source: docs/spec/config-behaviour.md "Queues and addresses".

What is on the disk is for the caller to read: a ``StoredQueue`` has the fields of a binding record by their names.
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

INTERNAL: Final = (
    "$.artemis.internal", "$sys.", "$ACTIVEMQ_ARTEMIS_", "activemq.management", "activemq.notifications", "notif.",
    "hornetq.management", "hornetq.notifications", "sf.",
)  # fmt: skip
"""How names begin that the broker makes for itself."""
FORCE: Final = "FORCE"


class QueueOrigin(StrEnum):
    """Who made a queue or address that is not declared."""

    CONFIGURATION = "configuration"  # declared once: the record says so
    AUTO_CREATED = "auto-created"  # by a client that sent or read, or as a dead-letter or expiry queue
    SUBSCRIPTION = "subscription"  # a client's durable subscription
    OTHER = "management or client"
    UNKNOWN = "not recorded"  # the edition does not record it


EXPECTED: Final = frozenset({QueueOrigin.AUTO_CREATED, QueueOrigin.SUBSCRIPTION})
"""Nobody declares these."""


class StoredQueue(NamedTuple):
    """A queue on the disk; ``fields`` as far as its record goes."""

    id: int
    name: str
    address: str
    routing: str | None
    filter: str | None
    fields: Mapping[str, str | int | None]

    def flag(self, name: str) -> bool:
        """A boolean field; false where the record does not have it."""
        return bool(self.fields.get(name))


class StoredAddress(NamedTuple):
    """An address on the disk. ``recorded``: it has a binding, and not only pages."""

    name: str
    auto_created: bool
    internal: bool
    recorded: bool = True


class Deletion(NamedTuple):
    """Whether it is deleted, with its messages, at the next start or reload: by the settings in force, and with either
    of the two settings alone. None: the edition has no such setting."""

    in_force: bool
    by_queues: bool | None
    by_addresses: bool | None


@dataclass(frozen=True, slots=True)
class LeftOver:
    """On the disk, not declared. ``queue`` None: an address."""

    address: str
    queue: StoredQueue | None
    origin: QueueOrigin
    deletion: Deletion
    recorded: bool = True


class Differing(NamedTuple):
    """One field of a queue that is declared otherwise. ``changed``: the next start makes it as declared."""

    queue: StoredQueue
    field: str
    stored: QueueValue
    declared: QueueValue
    place: Position
    changed: bool


class Missing(NamedTuple):
    """Declared, not on the disk: the next start makes it. ``queue`` None: an address."""

    address: str
    queue: str | None
    place: Position


@dataclass(frozen=True, slots=True)
class Drift:
    """``expected``: not declared either, and nobody would; ``internal``: how many are the broker's own."""

    left: tuple[LeftOver, ...]
    expected: tuple[LeftOver, ...]
    missing: tuple[Missing, ...]
    differing: tuple[Differing, ...]
    internal: int

    @property
    def exists(self) -> bool:
        """Disk and configuration differ."""
        return bool(self.left or self.missing or self.differing)


def drift(
    settings: EffectiveSettings,
    declared: QueueDeclarations,
    queues: Iterable[StoredQueue],
    addresses: Iterable[StoredAddress],
) -> Drift:
    """Compares; each part by address and name."""
    queues, addresses = list(queues), list(addresses)
    made_by_broker = {each.name for each in addresses if each.internal or _internal(each.name)}
    own = [each for each in queues if each.flag("internal") or _internal(each.name) or each.address in made_by_broker]
    aside = {each.id for each in own}
    stored = {(each.address, each.name): each for each in queues if each.id not in aside}
    on_disk = {each.name: each for each in addresses if each.name not in made_by_broker}
    auto = {name for name, each in on_disk.items() if each.auto_created}
    left = [
        LeftOver(each.address, each, origin(each), deletion(settings, declared, each, auto))
        for key, each in sorted(stored.items())
        if key not in declared.queues
    ]
    made_by = (QueueOrigin.UNKNOWN, QueueOrigin.AUTO_CREATED)
    left += [
        LeftOver(name, None, made_by[name in auto], _with_address(settings, declared, name, auto), each.recorded)
        for name, each in sorted(on_disk.items())
        if name not in declared.addresses
    ]
    return Drift(
        tuple(each for each in left if each.origin not in EXPECTED),
        tuple(each for each in left if each.origin in EXPECTED),
        tuple(_missing(settings, declared, stored, on_disk)),
        tuple(one for key, each in sorted(stored.items()) if key in declared.queues
              for one in _differing(settings, each, declared.queues[key])),
        len(own) + len(made_by_broker),
    )  # fmt: skip


def _internal(name: str) -> bool:
    return name.startswith(INTERNAL)


def origin(queue: StoredQueue) -> QueueOrigin:
    """Who made a queue, as far as its record tells."""
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
    """What a start or reload does to a queue that is not declared; ``auto``: addresses that were auto-created.

    Since 2.7 only a queue that its record calls managed by the configuration is deleted, before every one that was not
    auto-created; up to 2.28 it stays where a queue of its name is declared for another address.
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
    """An address that is not declared goes with all of its queues, but not one that was auto-created.

    That is forgotten when an older broker stops: up to 2.17 an address of the disk counts as made by hand.
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
    """Queues that are not durable have no record; nor had addresses before 2.0."""
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
    for each in FIELDS:
        if each.name in values and each.name in stored.fields:
            found = stored.fields[each.name]
            now: QueueValue = bool(found) if each.kind is bool else found
            if now != values[each.name]:
                yield Differing(stored, each.name, now, values[each.name], place, not each.lasting)
