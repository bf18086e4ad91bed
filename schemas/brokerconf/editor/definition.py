"""The line that decides: the address-setting that an address falls under, the property that wins over an element."""

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
    """What decides about the thing at an offset of the configuration's text.

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
        above = [one.tag for one in cursor.around if one.tag.local == "address"]
        named = {one.name: one.value for one in attributes(text, above[0] if above else tag)}
        return _settings_for(facts, named.get("name", ""))
    return _override(facts, inside, tag.start)


def set_under(facts: ConfigFacts, file: str, line: int) -> list[Position]:
    """The element that the property on a line of a file wins over; of a match that does not have it, the match."""

    def stands_there(at: Position) -> bool:
        return (at.file, at.line) == (file, line)

    for one in facts.effective.settings.values():
        for name, by in one.given.items():
            if one.node is not None and isinstance(by, Override) and stands_there(by.position):
                return [(one.node.child(name) or one.node).position]
    for name, node in facts.first.items():
        value = facts.effective.overridden(name)
        if value is not None and value.origin is not None and stands_there(value.origin.position):
            return [node.position]
    return []


def _settings_for(facts: ConfigFacts, address: str) -> list[Position]:
    found = facts.effective.matches(address) if address else []
    return [one.place.position if isinstance(one.place, ConfigNode) else one.place for one in found]


def _override(facts: ConfigFacts, path: list[str], start: int) -> list[Position]:
    """The property that wins over the element that begins at an offset of the main file."""
    name = path[-1] if path else ""
    if len(path) > 1 and path[-2] == "address-setting":
        for one in facts.effective.settings.values():
            by = one.given.get(name)
            if isinstance(by, Override) and one.node is not None and _stands_at(facts.document, one.node, name, start):
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
