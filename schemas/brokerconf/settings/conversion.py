"""Conversion of a configuration to properties and back (docs/spec/properties.md 2 and 7).

``bean_places`` says which element is which property. What has no equivalent is reported, never dropped silently.
Values keep their meaning and not their notation: the sizes of an element become plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from brokerconf.properties.application import Bean
from brokerconf.properties.outcomes import Outcome
from brokerconf.properties.writing import joined, with_escapes
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.secrets import shown_key
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_size, trimmed
from brokerconf.schema.beans import beans
from brokerconf.settings.bean_places import BeanPlace, Path, bean_places, places_of_keys
from brokerconf.settings.converted_parts import (
    RETENTION,
    add_permission_keys,
    is_of_both_journals,
    is_permission,
    journal_places,
    journal_setting,
    retention_element,
    retention_keys,
)
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import Scope, in_scope
from brokerconf.settings.transports import transport_properties, transport_uri
from pagefmt.editions import Edition

_NUMBERS = ("int", "Integer", "long", "Long")
_ADDRESSES, _QUEUE_TYPES = "addressConfigurations", ("anycast", "multicast")
_TRANSPORTS = {"acceptorConfigurations": "acceptor", "connectorConfigurations": "connector"}
_CLASS, _NAMED = ".class", "NamedPropertyConfiguration"
_CODECS = ("passwordCodec", "activemq.passwordcodec")
_MATCHED = ("address-settings", "resource-limit-settings")
# what a queue that says nothing takes from its address
_INHERITED = ("purgeOnNoConsumers", "ringSize")
_BROKER_CONNECTIONS = "AMQPConnections"
# text that an element keeps as it is
_WRITABLE = re.compile(r"(?!\s)(?!.*\$\{)[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]*(?<!\s)")


class ConvertedFile(NamedTuple):
    """Keys by their steps with values, and what has no equivalent, with the reason if there is one."""

    pairs: list[tuple[Path, str]]
    left: list[str]


def as_entries(document: Document) -> ConvertedFile:
    """Return the properties that are equivalent to a configuration, and what has no equivalent."""
    converting = _ToProperties(document)
    converting.convert()
    return ConvertedFile(list(converting.pairs.items()), converting.left)


class _ToProperties:
    def __init__(self, document: Document) -> None:
        self.document, self.edition = document, document.edition
        self.places = bean_places(self.edition)
        self.pairs: dict[Path, str] = {}
        self.left: list[str] = []
        self.entries: set[Path] = set()

    def convert(self) -> None:
        core = self.document.core
        if not beans(self.edition):
            for node in (core or self.document.root).children:
                self._leave(node, f"{self.edition.value} reads no properties")
            return
        for node in self.document.root.children:
            if node.name != "core":
                self._leave(node, "keys exist only for what is in core")
        settings = EffectiveSettings(self.document)
        self.left += [f"{node.position}: {err}" for node, err in settings.refused]
        for node in core.children if core else ():
            if node.name == "address-settings":
                for setting in settings.settings.values():
                    assert setting.node
                    self._members(setting.node, (node.name, setting.node.name), (setting.text,), "match")
            elif node.name == "security-settings":
                add_permission_keys(node, self.edition, self.pairs, self._leave)
            elif node.name in ("acceptors", "connectors"):
                self._transports(node)
            elif node.name == "journal-retention-directory":
                self._retention(node)
            elif settings.first.get(node.name) is node or node.name not in in_scope(Scope.BROKER):
                self._element(node, (node.name,), ())
        # the first of a name counts, at any depth
        for name, node in settings.first.items():
            if name in in_scope(Scope.BROKER) and node.parent is not core and (name,) in self.places:
                self._element(node, (name,), ())
        # the reader of elements takes one for the other; with libaio an ASYNCIO journal has a time of its own
        kind, time = (settings.first.get(f"journal-{name}") for name in ("type", "buffer-timeout"))
        if time and kind and trimmed(kind.text) != "ASYNCIO" and "page-sync-timeout" not in settings.first:
            self._pair(time, self.places["page-sync-timeout",], (), time.text)
        for path, value in list(self.pairs.items()):
            why = self._unfit(path, value)
            if why:
                del self.pairs[path]
                self.left.append(f"{joined(path)} ({why})")

    def _unfit(self, path: Path, value: str) -> str:
        """Return why a key and its value would mean something else than the element; empty if they would not."""
        if value == "-":
            return "the value - removes an entry"
        if any('"' in step for step in path):
            return "a quote would end its name"
        codec = value.startswith("ENC(") and (
            ("passwordCodec",) in self.pairs
            or any((*path[:2], kind, name) in self.pairs for kind in ("params", "extraParams") for name in _CODECS)
        )
        if codec:
            return "it would be decoded before its codec is set"
        return ""

    def _element(self, node: ConfigNode, tags: Path, names: Path) -> None:
        variant = (*tags[:-1], f"{tags[-1]}[manager]")
        if variant in self.places and node.child("manager"):
            tags = variant
        place = self.places.get(tags)
        if place is None:
            self._leave(node, "")
            return
        before = len(self.pairs)
        match place.kind:
            case "past":
                return
            case "none":
                self._leave(node, place.values)
            case "entry":
                self._entry(node, place, names)
            case "map":
                key, value = (node.attributes.get(name, "") for name in ("key", "value"))
                self._pair(node, place, names, value, key)
            case "journals" if not node.children:
                for journal_place in journal_places(place):
                    self._pair(node, journal_place, names, node.text)
            case "value" | "list" if not node.children:
                self._pair(node, place, names, node.text)
                self._members(node, tags, names)
            case "inside" | "bean" | "word":
                if place.kind == "word":
                    self._add_beans(place.keys, names)
                self._members(node, tags, names)
                if place.kind == "bean" and len(self.pairs) == before:
                    self._leave(node, "")
            case _:
                self._leave(node, "")

    def _entry(self, node: ConfigNode, place: BeanPlace, names: Path) -> None:
        """Convert an entry of a collection; one without a name of its own is named as brokers do, or numbered."""
        by = "match" if "match" in node.attributes else "name"
        name = node.attributes.get(by, "" if place.name else None)
        if place.name == "class":
            name = node.attributes.get("class-name", "") + _CLASS
        elif name == "":
            siblings = [sibling for sibling in node.parent.children if sibling.name == node.name] if node.parent else []
            name = names[-1] if place.name == "above" else f"{node.name}-{siblings.index(node) + 1}"
        if name is None:
            self._leave(node, "it has no name")
            return
        path = (*_filled(place.keys, names), name)
        # one list holds all parts of a connection, whatever their kind
        entry = path if path[0] != _BROKER_CONNECTIONS or len(path) != 4 else (*path[:2], name)
        if entry in self.entries:
            self._leave(node, "there is another one with that name")
            return
        self.entries.add(entry)
        inner = (*names, name)
        types = [child.name.upper() for child in node.children if child.name in _QUEUE_TYPES]
        if place.tags == ("addresses", "address"):
            if types:
                self.pairs[*path, "routingTypes"] = ",".join(types)
        elif place.tags[-2] in _QUEUE_TYPES:
            self.pairs[*path, "address"], self.pairs[*path, "routingType"] = names[-1], place.tags[-2].upper()
        before = len(self.pairs)
        self._members(node, place.tags, inner, by)
        if len(self.pairs) == before and not types:
            self._leave(node, "there is no key for it on its own")

    def _members(self, node: ConfigNode, tags: Path, names: Path, name: str = "") -> None:
        for attribute, value in node.attributes.items():
            place = self.places.get((*tags, f"@{attribute}"))
            if attribute == name or (place and place.kind == "past"):
                continue
            if place is None:
                self._leave(node, f"its {attribute}")
            else:
                self._pair(node, place, names, value)
        for child in node.children:
            self._element(child, (*tags, child.name), names)
        for place in _absent(self.edition).get(tags, ()):
            path = _filled(place.keys, names)
            if path not in self.pairs and self._add_beans(place.keys, names):
                other, _, text = place.absent.rpartition("|")
                default_node = node.child(other.removeprefix("<"))
                self.pairs[path] = (
                    names[-1] if place.absent == "|" else default_node.text.strip() if default_node else text
                )

    def _add_beans(self, keys: Path, names: Path) -> bool:
        """Add the pairs that create the beans on the way to a key, such as the kind of a policy.

        ``names`` fill the empty keys. Return False if a bean was already created as one of another kind.
        """
        for end, key in enumerate(keys, 1):
            if "=" in key:
                path, word = _filled(keys[:end], names), key.partition("=")[2]
                if self.pairs.setdefault(path, word) != word:
                    return False
        return True

    def _pair(self, node: ConfigNode, place: BeanPlace, names: Path, text: str, key: str = "") -> None:
        bean = place.property
        assert bean
        path, value = _filled(place.keys, names), trimmed(text)
        if place.name == "class":
            value += _CLASS
        elif words := place.words():
            value = words[str(parse_boolean(value)).lower()]
        elif bean.type in ("boolean", "Boolean"):
            value = str(parse_boolean(value)).lower()
        elif bean.type in _NUMBERS:
            try:
                number = parse_size(value, self.edition).value
            except SizeError:
                self._leave(node, "it is not a number")
                return
            if number < 1 and place.only_above_zero():
                return
            value = str(number)
        elif bean.words and value not in bean.words:
            self._leave(node, f"it accepts {', '.join(bean.words)}")
            return
        if place.kind == "map" and (bean.made == "-" or "r" not in bean.access) and bean.owner != _NAMED:
            # it has no entries before it is given whole
            key, value = "", f"{key}={value}"
            if value.count("=") != 1 or not value.partition("=")[2]:
                self._leave(node, "its list uses = between key and value")
                return
        path = (*path, key) if key else path
        listed = place.kind == "list" or (place.kind == "map" and not key)
        if listed and ("," in value or not value):
            self._leave(node, "its list uses commas between items")
        elif not self._add_beans(place.keys, names):
            self._leave(node, "it contradicts another one")
        elif listed:
            self.pairs[path] = f"{self.pairs[path]},{value}" if path in self.pairs else value
        elif path in self.pairs and path[0] != "addressSettings" and self.pairs[path] != value:
            self._leave(node, "another one has set it before")
        else:
            self.pairs[path] = value

    def _retention(self, node: ConfigNode) -> None:
        keys = retention_keys(node, self.edition)
        if isinstance(keys, str):
            self._leave(node, keys)
        else:
            self.pairs |= keys

    def _transports(self, node: ConfigNode) -> None:
        bean = f"{node.name[:-1]}Configurations"
        for transport in node.children:
            keys = transport_properties(transport, self.edition)
            name = transport.attributes.get("name", "")
            if not keys or (bean, name) in self.entries:
                self._leave(
                    transport, "there is another one with that name" if keys else "there are no keys for its address"
                )
            else:
                self.entries.add((bean, name))
                self.pairs.update({(bean, name, *path): value for path, value in keys})

    def _leave(self, node: ConfigNode, why: str) -> None:
        self.left.append(f"{node.position}: <{node.tag}>" + (f" ({why})" if why else ""))


def _filled(keys: Path, names: Path) -> Path:
    """Return the keys with the names of the entries, and without the words that create a bean."""
    left = iter(names)
    return tuple(key.partition("=")[0] or next(left) for key in keys)


@cache
def _absent(edition: Edition) -> dict[Path, list[BeanPlace]]:
    places: dict[Path, list[BeanPlace]] = {}
    for place in bean_places(edition).values():
        if place.absent:
            places.setdefault(place.tags[:-1], []).append(place)
    return places


def as_xml(outcomes: Iterable[Outcome], edition: Edition) -> tuple[str, list[str]]:
    """Return the configuration that is equivalent to the entries, and the keys without an equivalent."""
    writing = _ToXml(edition)
    applied = list(outcomes)
    writing.shared = any(
        outcome.name in ("primaryConfig", "backupConfig") and outcome.entry.value.startswith("SHARED")
        for outcome in applied
    )
    for outcome in applied:
        if not writing.take(outcome):
            writing.leave(outcome)
    return writing.text(), writing.left


class _ToXml:
    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self.root = Element("configuration", xmlns="urn:activemq")
        self.core = SubElement(self.root, "core", xmlns="urn:activemq:core")
        self.elements: dict[tuple[Element, str, str], Element] = {}
        self.left: list[str] = []
        self.places, self.by_keys = bean_places(edition), places_of_keys(edition)
        # the words that made beans, by the path of each
        self.words: dict[Path, str] = {}
        # an address, a queue or a transport is made of several entries
        self.addresses: dict[str, Outcome] = {}
        self.gathered: dict[Path, list[Outcome]] = {}
        self.roles: dict[tuple[str, str], dict[str, Outcome]] = {}
        # a transport or role of which a part is left out would let in whom it kept out
        self.partial: set[Path] = set()
        # what a queue that says nothing takes from its address, and an element does not
        self.inherited: set[str] = set()
        # whether policies that are colocated share a store
        self.shared = False

    def leave(self, outcome: Outcome) -> None:
        self.left.append(f"{outcome.entry.position}: {shown_key(outcome.entry.key)}")
        self.partial |= {outcome.path[:2], outcome.path[:3]}

    def take(self, outcome: Outcome) -> bool:
        """Place an entry, or gather it for later; return whether it has an equivalent, judged by this entry alone."""
        if not outcome.applied or outcome.fault is not None or outcome.value is None:
            return False
        if not all(_WRITABLE.fullmatch(text) for text in (*outcome.path, _text(outcome))):
            return False
        if outcome.name == "name" and len(outcome.path) > 1 and outcome.value == outcome.path[-2]:
            return True
        match outcome.path:
            case (name,) if setting := journal_setting(name):
                self.gathered.setdefault((setting,), []).append(outcome)
            case (name,) if name.startswith(RETENTION):
                self.gathered.setdefault((RETENTION,), []).append(outcome)
            case ("addressConfigurations", name, "routingTypes"):
                self.addresses[name] = outcome
            case ("addressConfigurations", _, "queueConfigs", _, _):
                self.gathered.setdefault(outcome.path[:4], []).append(outcome)
            case (collection, _, "factoryClassName") | (collection, _, "params" | "extraParams", _) if (
                collection in _TRANSPORTS
            ):
                self.gathered.setdefault(outcome.path[:2], []).append(outcome)
            case (_, match, role, right) if is_permission(outcome):
                self.roles.setdefault((match, right), {})[role] = outcome
            case _:
                return self._placed(outcome)
        return True

    def _placed(self, outcome: Outcome) -> bool:
        """Write an entry where its keys belong; return whether there is such a place."""
        keys: Path = ()
        names: Path = ()
        path = outcome.path
        for at, step in enumerate(path):
            place = self.by_keys.get(keys)
            if place and place.kind == "map":
                break
            if place and place.kind == "entry" and len(names) < keys.count("") + 1:
                keys, names = (*keys, ""), (*names, step)
                continue
            if isinstance(outcome.value, Bean) and at + 1 == len(path) and outcome.value.kind == "bean":
                self.words.setdefault(path, outcome.entry.value)
            word = self.words.get(path[: at + 1])
            typed = f"{step}={word}" if word else step
            keys = (*keys, typed if (*keys, typed) in _beginnings(self.edition) else step)
        place = self.by_keys.get(keys)
        if place is None:
            # a bean of which the keys that follow say more
            return (
                keys in _beginnings(self.edition) and isinstance(outcome.value, Bean) and outcome.value.kind == "bean"
            )
        node = self._element(place, names)
        if node is None or place.kind in ("entry", "bean"):
            return False
        if place.kind == "word":
            return True
        key = path[-1] if place.kind == "map" and len(path) > len(keys) else ""
        return self._say(node, place, outcome, key)

    def _element(self, place: BeanPlace, names: Path) -> Element | None:
        """Return the parent element for a place, creating all above it; None if an entry's name cannot be written."""
        node, left = self.core, list(names)
        for end in range(1, len(place.tags) + (place.kind == "word")):
            tags = place.tags[:end]
            around = self.places[tags]
            tag = tags[-1].partition("[")[0]
            if tag == "replication" and self.shared and place.tags[2:3] == ("colocated",):
                tag = "shared-store"
            if around.kind != "entry":
                node = self._node(node, tag)
                continue
            name = left.pop(0)
            by = "class-name" if around.name == "class" else "match" if tags[0] in _MATCHED else "name"
            if around.name == "class":
                name = name.removesuffix(_CLASS)
            elif around.name and (*tags, "@name") not in self.places:
                if around.name == "above" and name != names[len(names) - len(left) - 2]:
                    return None
                by = ""
            node = self._node(node, tag, by, name)
        return node

    def _say(self, node: Element, place: BeanPlace, outcome: Outcome, key: str) -> bool:
        tag, text = place.tags[-1], _text(outcome)
        if (outcome.name == "defaultPurgeOnNoConsumers" and outcome.value is True) or outcome.name == "defaultRingSize":
            self.inherited.add(outcome.name.removeprefix("default"))
        if place.only_above_zero() and isinstance(outcome.value, int) and outcome.value < 1:
            return False
        if place.kind == "map":
            pairs = [(key, text)] if key else [tuple(pair.split("=")) for pair in text.split(",") if pair.strip()]
            for name, value in pairs:
                SubElement(node, tag, {"key": name, "value": value})
        elif place.kind == "list":
            above = (
                self.core
                if len(place.tags) < 3
                else next(n for (n, _, _), parent in self.elements.items() if parent is node)
            )
            if tag.startswith("@"):
                del self.elements[above, node.tag, ""]
                above.remove(node)
            for item in text.split(","):
                if tag.startswith("@"):
                    SubElement(above, node.tag, {tag[1:]: item})
                else:
                    SubElement(node, tag).text = item
        elif tag.startswith("@"):
            node.set(tag[1:], text.removesuffix(_CLASS) if place.name == "class" else text)
        else:
            self._node(node, tag).text = text
        return True

    def _node(self, above: Element, tag: str, name: str = "", value: str = "") -> Element:
        node = self.elements.get((above, tag, value))
        if node is None:
            node = self.elements[above, tag, value] = SubElement(above, tag, {name: value} if name else {})
        return node

    def text(self) -> str:
        """Return the document; call once all entries were taken."""
        for (match, right), roles in self.roles.items():
            node = self._node(self._node(self.core, "security-settings"), "security-setting", "match", match)
            for outcome in roles.values():
                if outcome.path[:3] in self.partial:
                    self.leave(outcome)
            permitted = [
                role for role, outcome in roles.items() if outcome.value and outcome.path[:3] not in self.partial
            ]
            if permitted:
                self._node(node, "permission", "type", right).set("roles", ",".join(permitted))
        for path, gathered in self.gathered.items():
            if path[0] in _TRANSPORTS:
                done = path not in self.partial and self._transport(
                    path, {outcome.path[2:]: _text(outcome) for outcome in gathered}
                )
            elif path[1:]:
                done = self._queue(path, gathered)
            else:
                done = (self._retained if path == (RETENTION,) else self._journals)(gathered)
            if not done:
                for outcome in gathered:
                    self.leave(outcome)
        for name, outcome in self.addresses.items():
            for kind in _text(outcome).lower().split(","):
                self._node(self._address(name), kind)
        self._sort(self.core, ())
        indent(self.root)
        text = tostring(self.root, encoding="unicode") + "\n"
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + with_escapes(text, lambda letter: f"&#{ord(letter)};")

    def _sort(self, node: Element, tags: Path) -> None:
        """Sort the parts in the order of the schema."""
        for child in node:
            self._sort(child, (*tags, child.tag))
        if tags:
            node[:] = sorted(node, key=lambda child: _order(self.edition).get((*tags, child.tag), -1))

    def _address(self, name: str) -> Element:
        return self._node(self._node(self.core, "addresses"), "address", "name", name)

    def _journals(self, outcomes: list[Outcome]) -> bool:
        return is_of_both_journals(outcomes) and any(self._placed(outcome) for outcome in outcomes)

    def _retained(self, outcomes: list[Outcome]) -> bool:
        element = retention_element(outcomes)
        if element is not None:
            node = self._node(self.core, "journal-retention-directory")
            node.text = element[0]
            node.attrib.update(element[1])
        return element is not None

    def _queue(self, path: Path, outcomes: list[Outcome]) -> bool:
        """Write a queue with all its entries; without an address it belongs to the address with the same name."""
        _, address, _, name = path
        texts = {outcome.name: _text(outcome) for outcome in outcomes}
        address = texts.get("address") or (name if name == address else "")
        silent = {bean for bean in _INHERITED if bean not in texts}
        if not address or any(bean[:1].upper() + bean[1:] in self.inherited for bean in silent):
            return False
        node = self._node(self._address(address), texts.get("routingType", "MULTICAST").lower())
        node = self._node(node, "queue", "name", name)
        for outcome in outcomes:
            if outcome.name not in ("address", "routingType"):
                place = self.by_keys.get((_ADDRESSES, "", "queueConfigs", "", outcome.name))
                inner = node
                for tag in place.tags[4:-1] if place else ():
                    inner = self._node(inner, tag)
                if not place or not self._say(inner, place, outcome, ""):
                    self.leave(outcome)
        return True

    def _transport(self, path: Path, parameters: dict[Path, str]) -> bool:
        element = _TRANSPORTS[path[0]]
        text = transport_uri(element, parameters, self.edition)
        if text:
            self._node(self._node(self.core, f"{element}s"), element, "name", path[1]).text = text
        return bool(text)


@cache
def _beginnings(edition: Edition) -> frozenset[Path]:
    return frozenset(keys[:end] for keys in places_of_keys(edition) for end in range(1, len(keys) + 1))


@cache
def _order(edition: Edition) -> dict[Path, int]:
    return {tags: number for number, tags in enumerate(bean_places(edition))}


def _text(outcome: Outcome) -> str:
    if isinstance(outcome.value, Bean) or outcome.name == "routingTypes":
        return outcome.entry.value
    return str(outcome.value).lower() if isinstance(outcome.value, bool) else str(outcome.value)
