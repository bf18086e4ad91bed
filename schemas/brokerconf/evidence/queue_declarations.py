"""Every queue and address that a configuration declares, with the values its broker gives them.

``<addresses>``, ``<queues>`` (HornetQ, 1.x, deprecated in 2.x; ``<core-queues>`` of EAP 6), JMS queues and topics
(their names keep the prefixes of 1.x inside an application server), and last ``addressConfigurations`` of
``broker.properties``. Source: docs/spec/config-behaviour.md "Queues and addresses".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from brokerconf.evidence.declarations import addresses_of, jms_destinations_of
from brokerconf.properties.outcomes import Outcome
from brokerconf.reading.document import ConfigNode
from brokerconf.reading.sizes import parse_boolean, trimmed
from brokerconf.settings.effective import EffectiveSettings
from pagefmt.editions import Edition
from pagefmt.findings import Position

QueueValue = str | int | bool | None
MULTICAST: Final = "MULTICAST"
ANYCAST: Final = "ANYCAST"
ROUTING_TYPES: Final = frozenset({MULTICAST, ANYCAST})
# The filter of the queue that a topic has before 2.0: HornetQ's, and that of 1.x.
_TAKES_NOTHING: Final = ("__HQX=-1", "__AMQX=-1")


class QueueField(NamedTuple):
    """Field of a queue, under its names on the disk and in ``broker.xml``.

    ``name`` is that on the disk, ``attribute`` that in ``broker.xml``; ``default`` is the address setting that supplies
    its default, if one does. ``since``: the first edition that records it. ``lasting``: a start never changes it.
    """

    name: str
    attribute: str
    default: str | None
    kind: type
    otherwise: QueueValue
    since: Edition
    lasting: bool = False


# fmt: off
FIELDS: Final = (
    QueueField("max_consumers", "max-consumers", "default-max-consumers", int, -1, Edition.ARTEMIS_2_4),
    QueueField("purge_on_no_consumers", "purge-on-no-consumers", None, bool, False, Edition.ARTEMIS_2_4),
    QueueField("exclusive", "exclusive", "default-exclusive-queue", bool, False, Edition.ARTEMIS_2_10),
    QueueField("last_value", "last-value", "default-last-value-queue", bool, False, Edition.ARTEMIS_2_10, True),
    QueueField("last_value_key", "last-value-key", "default-last-value-key", str, None, Edition.ARTEMIS_2_10, True),
    QueueField("non_destructive", "non-destructive", "default-non-destructive", bool, False, Edition.ARTEMIS_2_10),
    QueueField("consumers_before_dispatch", "consumers-before-dispatch", "default-consumers-before-dispatch", int, 0,
               Edition.ARTEMIS_2_10),
    QueueField("delay_before_dispatch", "delay-before-dispatch", "default-delay-before-dispatch", int, -1,
               Edition.ARTEMIS_2_10),
    QueueField("group_rebalance", "group-rebalance", "default-group-rebalance", bool, False, Edition.ARTEMIS_2_10),
    QueueField("group_rebalance_pause_dispatch", "group-rebalance-pause-dispatch",
               "default-group-rebalance-pause-dispatch", bool, False, Edition.ARTEMIS_2_17),
    QueueField("group_buckets", "group-buckets", "default-group-buckets", int, -1, Edition.ARTEMIS_2_10),
    QueueField("group_first_key", "group-first-key", "default-group-first-key", str, None, Edition.ARTEMIS_2_10),
    QueueField("ring_size", "ring-size", None, int, -1, Edition.ARTEMIS_2_10),
    QueueField("enabled", "enabled", None, bool, True, Edition.ARTEMIS_2_17),
)
# fmt: on
_BY_BEAN: Final = {re.sub(r"_(\w)", lambda found: found[1].upper(), each.name): each for each in FIELDS}


@dataclass(slots=True)
class QueueDeclaration:
    """Declared queue.

    ``given`` holds what is set, by the names of ``FIELDS``. ``routing`` is None for HornetQ and 1.x, which have no
    routing types. ``by_element``: an element of a ``broker.xml`` declares it, whose reader has own values for some
    fields.
    """

    name: str
    address: str
    place: Position
    routing: str | None = None
    filter: str | None = None
    durable: bool = True
    given: dict[str, QueueValue] = field(default_factory=dict)
    by_element: bool = False


@dataclass(slots=True)
class QueueDeclarations:
    """Declared queues and addresses.

    ``queues`` is by (address, name), ``names`` holds the first of each name; ``addresses`` maps addresses to where they
    are declared, ``routing`` to the routing types that are declared.
    """

    queues: dict[tuple[str, str], QueueDeclaration] = field(default_factory=dict)
    addresses: dict[str, Position] = field(default_factory=dict)
    names: dict[str, QueueDeclaration] = field(default_factory=dict)
    routing: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, queue: QueueDeclaration) -> QueueDeclaration:
        """Add a queue and return it; if it is declared already, return the first declaration."""
        self.addresses.setdefault(queue.address, queue.place)
        self.names.setdefault(queue.name, queue)
        return self.queues.setdefault((queue.address, queue.name), queue)

    def forget(self, addresses: Iterable[str]) -> None:
        """Remove addresses and their queues."""
        for address in addresses:
            self.addresses.pop(address, None)
            self.routing.pop(address, None)
            for name in [name for bound, name in self.queues if bound == address]:
                del self.queues[address, name]
                self.names.pop(name, None)


def queue_declarations(
    settings: EffectiveSettings, outcomes: Iterable[Outcome] = (), jms: ConfigNode | None = None
) -> QueueDeclarations:
    """Return the queues and addresses that a configuration declares.

    ``outcomes`` are those of properties in force; ``jms`` is HornetQ's JMS configuration, which has a file of its own.
    """
    declarations, core, edition = QueueDeclarations(), settings.core, settings.edition
    routed = edition >= Edition.ARTEMIS_2_4
    in_server = settings.document.kind.of_application_server
    for block in core.children_named("addresses") if core else ():
        for address in addresses_of(block):
            declarations.addresses.setdefault(address.name, address.node.position)
            declarations.routing[address.name] |= {node.name.upper() for node in address.node.children} & ROUTING_TYPES
            for queue in address.queues:
                kind = MULTICAST if queue.multicast else ANYCAST
                declarations.add(_from_node(queue.node, address.name, kind, by_element=not in_server))
    for block in (*core.children_named("queues"), *core.children_named("core-queues")) if core else ():
        for node in block.children_named("queue"):
            bound = _child(node, "address") or node.attributes.get("name", "")
            old = MULTICAST if routed and not in_server else None
            declarations.add(_from_node(node, bound, old, by_element=not in_server))
    if core is not None:
        for name, prefix in _destinations(settings, jms).items():
            place = (jms or settings.document.jms or core).position
            whole = name if routed and not in_server else prefix + name
            routing = (ANYCAST if prefix == "jms.queue." else MULTICAST) if routed else None
            declarations.addresses.setdefault(whole, place)
            if routing:
                declarations.routing[whole].add(routing)
            if not routed or routing == ANYCAST:
                nothing = None if prefix == "jms.queue." else _TAKES_NOTHING[edition >= Edition.ARTEMIS_1_5]
                declarations.add(QueueDeclaration(whole, whole, place, routing, nothing))
    for outcome in outcomes:
        if outcome.applied:
            _property(declarations, outcome)
    return declarations


def _destinations(settings: EffectiveSettings, jms: ConfigNode | None) -> dict[str, str]:
    prefixes = jms_destinations_of(settings.document, settings.core)
    for node in jms.children if jms else ():
        if node.name in ("queue", "topic"):
            prefixes[node.attributes.get("name", "")] = f"jms.{node.name}."
    return prefixes


def _from_node(node: ConfigNode, address: str, routing: str | None, *, by_element: bool) -> QueueDeclaration:
    values = {
        queue_field.name: _parsed(queue_field, node.attributes[queue_field.attribute])
        for queue_field in FIELDS
        if queue_field.attribute in node.attributes
    }
    filter_node, durable = node.child("filter"), _child(node, "durable")
    return QueueDeclaration(
        node.attributes.get("name", ""),
        address,
        node.position,
        routing,
        (filter_node.attributes.get("string") if filter_node else None) or None,
        durable is None or parse_boolean(durable),
        values,
        by_element,
    )


def _child(node: ConfigNode, name: str) -> str | None:
    child = node.child(name)
    return trimmed(child.text) if child is not None else None


def _parsed(of: QueueField, text: str) -> QueueValue:
    if of.kind is bool:
        return parse_boolean(text)
    if of.kind is int:
        return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text.strip()) else 0
    return text


def _property(declarations: QueueDeclarations, outcome: Outcome) -> None:
    """Apply ``addressConfigurations.A.routingTypes`` or ``addressConfigurations.A.queueConfigs.Q.BEAN``."""
    place, value = outcome.entry.position, outcome.value
    match outcome.path:
        case ("addressConfigurations", *removed) if value is None and len(removed) < 2:
            declarations.forget(removed or [*declarations.addresses])
        case ("addressConfigurations", address, "queueConfigs", name, bean):
            declarations.addresses.setdefault(address, place)
            queue = declarations.names.get(name) or declarations.add(QueueDeclaration(name, address, place, MULTICAST))
            if bean == "address":
                del declarations.queues[queue.address, name]
                queue.address = str(value).partition("::")[0]
                declarations.add(queue)
            else:
                _set(queue, bean, value)
        case ("addressConfigurations", address, *keys):
            declarations.addresses.setdefault(address, place)
            if keys == ["routingTypes"]:
                declarations.routing[address] = set(outcome.entry.value.split(","))


def _set(queue: QueueDeclaration, bean: str, value: object) -> None:
    if bean == "routingType":
        queue.routing = str(value)
    elif bean == "filterString":
        queue.filter = str(value) or None
    elif bean == "durable":
        queue.durable = bool(value)
    elif bean in _BY_BEAN and isinstance(value, str | int | bool):
        queue.given[_BY_BEAN[bean].name] = value


def declared_values(settings: EffectiveSettings, queue: QueueDeclaration) -> Mapping[str, QueueValue]:
    """Return what the broker sets for a declared queue at each start, by the names of ``FIELDS``, defaults included."""
    defaults = settings.merged(queue.address)
    values: dict[str, QueueValue] = {}
    for queue_field in FIELDS:
        implied = queue_field.name == "last_value" and queue.given.get("last_value_key")  # recorded as either
        if settings.edition < queue_field.since or implied:
            continue
        default = (
            defaults.get(queue_field.default)
            if queue_field.default and settings.edition >= Edition.ARTEMIS_2_10
            else None
        )
        value = default.value if default is not None and default.value is not None else queue_field.otherwise
        own_value = queue.given.get(queue_field.name, value)
        values[queue_field.name] = own_value if isinstance(own_value, (str, int, bool)) and own_value != "" else None
    return values
