"""Conversion of a configuration as brokerconf reads it to the values the engine decides by."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from brokerconf.evidence.queue_declarations import QueueDeclaration, queue_declarations
from brokerconf.properties.application import apply_all
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.property_entries import Entry
from brokerconf.settings.address_settings import EffectiveValue
from brokerconf.settings.effective import EffectiveSettings, wildcard_routing
from brokerconf.settings.overrides import lay_over
from brokerconf.settings.settings_model import Scope, in_scope

from pageengine.settings.settings import (
    AddressFullPolicy,
    AddressSettings,
    AddressSettingsSource,
    ConfiguredQueue,
    DiskFullPolicy,
    Divert,
    EngineSettings,
    PageFullPolicy,
)
from pageengine.trace.operations import RoutingType
from pagefmt.findings import Position

Values = Mapping[str, EffectiveValue]


# XML names of settings, if they differ from the field's.
_XML_NAMES = {
    "policy": "address-full-policy",
    "last_value_queue": "default-last-value-queue",
    "last_value_key": "default-last-value-key",
    "non_destructive": "default-non-destructive",
    "ring_size": "default-ring-size",
    "exclusive_queue": "default-exclusive-queue",
    "purge_on_no_consumers": "default-purge-on-no-consumers",
    "max_consumers": "default-max-consumers",
}
_OF_QUEUE = frozenset(one.name for one in fields(ConfiguredQueue))
_POLICIES: dict[str, type[Enum]] = {
    "policy": AddressFullPolicy,
    "page_full_policy": PageFullPolicy,
    "disk_full_policy": DiskFullPolicy,
}


def _set(cls: type[Any], values: Values) -> dict[str, Any]:
    """Return a class's fields that are set under their XML names; unset and invalid ones are left to the default."""
    set_fields: dict[str, Any] = {}
    for item in fields(cls):
        setting = values.get(_XML_NAMES.get(item.name) or item.name.replace("_", "-"))
        value: Any = setting.value if setting is not None and not setting.unknown else None
        if item.name in _POLICIES:
            value = next((policy for policy in _POLICIES[item.name] if policy.value == value), None)
        if value not in (None, ""):
            set_fields[item.name] = value
    return set_fields


def address_settings(values: Values) -> AddressSettings:
    """Return the engine's view of one address's effective settings."""
    set_fields = _set(AddressSettings, values)
    last_value = values.get("last-value-queue")
    if last_value is not None and last_value.value is True:
        set_fields["last_value_queue"] = True
    return AddressSettings(**set_fields)


class ConfiguredSettings(AddressSettingsSource):
    """Address settings of a configuration, merged per address and remembered."""

    def __init__(self, effective: EffectiveSettings) -> None:
        self._effective = effective
        self._merged: dict[str, AddressSettings] = {}

    def effective(self, address: str) -> AddressSettings:
        """Return the merged settings of one address."""
        merged = self._merged.get(address)
        if merged is None:
            merged = self._merged[address] = address_settings(self._effective.address(address))
        return merged

    def changed(self, match: str, values: Mapping[str, str]) -> ConfiguredSettings:
        """Return a source with settings of one match replaced at run time; names and texts as in broker.xml."""
        settings = in_scope(Scope.ADDRESS)
        at = Position("trace", 0, 0)
        for name, text in values.items():
            if name in settings:
                self._effective.set_as_text(match, name, text, at)
        return ConfiguredSettings(self._effective)


def _child_text(node: ConfigNode, tag: str) -> str | None:
    return next((child.text.strip() for child in node.children if child.tag == tag and child.text.strip()), None)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else None


def _truth(text: str | None) -> bool | None:
    return None if text is None else text.strip().lower() == "true"


def _routing(names: Iterable[str]) -> frozenset[RoutingType]:
    return frozenset(RoutingType[name] for name in names)


def _queue(declared: QueueDeclaration) -> ConfiguredQueue:
    traits: dict[str, Any] = {name: value for name, value in declared.given.items() if name in _OF_QUEUE}
    # every queue of an address gets each message where addresses have no routing types
    routing = RoutingType[declared.routing or "MULTICAST"]
    return ConfiguredQueue(declared.name, declared.address, routing, declared.filter, declared.durable, **traits)


def _acceptors(core: ConfigNode | None) -> tuple[str, ...]:
    blocks = [block for block in core.children if block.tag == "acceptors"] if core is not None else []
    return tuple(node.text.strip() for block in blocks for node in block.children if node.tag == "acceptor")


def _diverts(core: ConfigNode | None) -> tuple[Divert, ...]:
    diverts = []
    for block in core.children if core is not None else ():
        for node in block.children if block.tag == "diverts" else ():
            address, target = _child_text(node, "address"), _child_text(node, "forwarding-address")
            matches = [child for child in node.children if child.tag == "filter"]
            if address is not None and target is not None:
                diverts.append(
                    Divert(
                        node.attributes.get("name", ""),
                        address,
                        target,
                        bool(_truth(_child_text(node, "exclusive"))),
                        matches[0].attributes.get("string") if matches else None,
                    )
                )
    return tuple(diverts)


def engine_settings(
    document: Document,
    *,
    heap: int | None = None,
    entries: Iterable[Entry] = (),
    amend: Callable[[EffectiveSettings], None] | None = None,
) -> EngineSettings:
    """Return the engine's settings of a configuration.

    ``heap`` is the JVM's -Xmx in bytes, half of it is the global limit; without it a gibibyte is assumed, the value
    that instances are created with for small hosts. ``entries`` are the properties in force, which are applied after
    the file; ``amend`` changes the settings after both.
    """
    effective = EffectiveSettings(document, heap=heap)
    outcomes = apply_all(entries, effective.edition, effective.core)
    for outcome in outcomes:
        lay_over(effective, outcome)
    if amend is not None:
        amend(effective)
    declared = queue_declarations(effective, outcomes)
    parts = {
        "address_settings": ConfiguredSettings(effective),
        "jdbc_max_page_size_bytes": _jdbc(effective.core),
        "acceptors": _acceptors(effective.core),
        "addresses": {name: _routing(declared.routing[name]) for name in declared.addresses},
        "queues": tuple(map(_queue, declared.queues.values())),
        "diverts": _diverts(effective.core),
        "wildcard_routing": wildcard_routing(effective.core, document.edition),
        "delimiter": effective.wildcards.delimiter,
        "any_words": effective.wildcards.any_words,
        "single_word": effective.wildcards.single_word,
    }
    return EngineSettings(**_set(EngineSettings, effective.broker()) | parts)


def _jdbc(core: ConfigNode | None) -> int | None:
    node = core.descendant("database-store") if core is not None else None
    if node is None:
        return None
    return _number(_child_text(node, "jdbc-max-page-size-bytes")) or 100 * 1024
