"""Definitions: the address-setting that applies to an address, the property that overrides an element."""

from __future__ import annotations

from brokerconf.editor.scanning import CursorPlace, attributes, cursor_at
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.settings.address_settings import Override
from brokerconf.settings.settings_model import Scope, in_scope
from pagefmt.findings import Position

_NAMED = {"address", "queue", "anycast", "multicast"}
_ADDRESSES = {"dead-letter-address", "expiry-address", "address", "forwarding-address"}


def decided_by(facts: ConfigFacts, text: str, offset: int) -> list[Position]:
    """Return the positions of what decides about the element at an offset of the configuration's text.

    Of an address or queue (its ``name``, or an element that holds one): the address-settings that fit, the most
    specific first. Of a setting: the property that overrides it, if one does.
    """
    cursor = cursor_at(text, offset)
    path = cursor.path
    if cursor.place is CursorPlace.TEXT and path and path[-1] in _ADDRESSES and text[cursor.start : cursor.stop]:
        return _settings_for(facts, text[cursor.start : cursor.stop])
    tag = cursor.tag or (cursor.around[-1].tag if cursor.around else None)
    if tag is None:
        return []
    inside = [*path, tag.local] if cursor.tag else path
    if tag.local in _NAMED and "addresses" in path:
        above = [item.tag for item in cursor.around if item.tag.local == "address"]
        named = {item.name: item.value for item in attributes(text, above[0] if above else tag)}
        return _settings_for(facts, named.get("name", ""))
    return _override(facts, inside, tag.start)


def set_under(facts: ConfigFacts, file: str, line: int) -> list[Position]:
    """Return the element that the property on a line of a file overrides, or the match if it lacks that element."""

    def stands_there(at: Position) -> bool:
        return (at.file, at.line) == (file, line)

    for setting in facts.effective.settings.values():
        for name, by in setting.given.items():
            if setting.node is not None and isinstance(by, Override) and stands_there(by.position):
                return [(setting.node.child(name) or setting.node).position]
    for name, node in facts.first.items():
        value = facts.effective.overridden(name)
        if value is not None and value.origin is not None and stands_there(value.origin.position):
            return [node.position]
    return []


def _settings_for(facts: ConfigFacts, address: str) -> list[Position]:
    matches = facts.effective.matches(address) if address else []
    return [match.place.position if isinstance(match.place, ConfigNode) else match.place for match in matches]


def _override(facts: ConfigFacts, path: list[str], start: int) -> list[Position]:
    """Return the position of the property that overrides the element at an offset of the main file, if one does."""
    name = path[-1] if path else ""
    if len(path) > 1 and path[-2] == "address-setting":
        for setting in facts.effective.settings.values():
            by = setting.given.get(name)
            if (
                isinstance(by, Override)
                and setting.node is not None
                and _stands_at(facts.document, setting.node, name, start)
            ):
                return [by.position]
    elif name in in_scope(Scope.BROKER):
        value = facts.effective.overridden(name)
        if value is not None and value.origin is not None:
            return [value.origin.position]
    return []


def _stands_at(document: Document, setting: ConfigNode, name: str, start: int) -> bool:
    source = document.source
    return any(
        child.source is source and source.range_of(child.ordinal)[0] == start for child in setting.children_named(name)
    )
