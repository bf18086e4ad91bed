"""Conversion of a configuration to properties and back (docs/spec/properties.md 2 and 7).

Both directions read one table, the rows of ``bean_places``: which element is which property. ``converted_parts`` has
the parts for which a row is not enough. What has no equivalent is reported, never dropped silently. Values keep their
meaning and not their notation: the sizes of an element become plain numbers.
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
from brokerconf.settings.bean_places import BeanPlace, Path, bean_places, beginnings, defaults_below, places_of_keys
from brokerconf.settings.converted_parts import (
    KEY_WRITERS,
    TRANSPORTS,
    journal_places,
    part_of,
    retention_element,
    same_for_both_journals,
)
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import Scope, in_scope
from brokerconf.settings.transports import transport_uri
from pagefmt.editions import Edition

_NUMBERS = ("int", "Integer", "long", "Long")
_QUEUE_TYPES = ("anycast", "multicast")
_CLASS, _NAMED = ".class", "NamedPropertyConfiguration"
_CODECS = ("passwordCodec", "activemq.passwordcodec")
_MATCHED = ("address-settings", "resource-limit-settings")
# properties that a queue without them takes from its address
_INHERITED = ("purgeOnNoConsumers", "ringSize")
_BROKER_CONNECTIONS = "AMQPConnections"
# text that an element keeps as it is
_WRITABLE = re.compile(r"(?!\s)(?!.*\$\{)[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]*(?<!\s)")


class ConvertedFile(NamedTuple):
    """Keys by their steps with values, and what has no equivalent, with the reason if there is one."""

    pairs: list[tuple[Path, str]]
    without_equivalent: list[str]


def as_entries(document: Document) -> ConvertedFile:
    """Return the properties that are equivalent to a configuration, and what has no equivalent."""
    walker = _ElementWalker(document)
    walker.convert()
    return ConvertedFile(list(walker.pairs.items()), walker.without_equivalent)


class _ElementWalker:
    """Walk over the elements of a configuration that collects the pairs of keys and values."""

    def __init__(self, document: Document) -> None:
        self.document, self.edition = document, document.edition
        self.places = bean_places(self.edition)
        self.pairs: dict[Path, str] = {}
        self.without_equivalent: list[str] = []
        self.entries: set[Path] = set()

    def convert(self) -> None:
        core = self.document.core
        if not beans(self.edition):
            for node in (core or self.document.root).children:
                self._report(node, f"{self.edition.value} reads no properties")
            return
        for node in self.document.root.children:
            if node.name != "core":
                self._report(node, "keys exist only for what is in core")
        settings = EffectiveSettings(self.document)
        self.without_equivalent += [f"{node.position}: {err}" for node, err in settings.refused]
        broker_settings = in_scope(Scope.BROKER)
        for node in core.children if core else ():
            if node.name == "address-settings":
                for setting in settings.settings.values():
                    assert setting.node
                    self._members(setting.node, (node.name, setting.node.name), (setting.text,), "match")
            elif node.name in KEY_WRITERS:
                KEY_WRITERS[node.name](node, self.edition, self.pairs, self._report)
            elif settings.first.get(node.name) is node or node.name not in broker_settings:
                self._element(node, (node.name,), ())
        # the first element of a name counts, at any depth
        for name, node in settings.first.items():
            if name in broker_settings and node.parent is not core and (name,) in self.places:
                self._element(node, (name,), ())
        # the reader of elements uses the buffer timeout for it; with libaio an ASYNCIO journal has a time of its own
        kind, time = (settings.first.get(f"journal-{name}") for name in ("type", "buffer-timeout"))
        if time and kind and trimmed(kind.text) != "ASYNCIO" and "page-sync-timeout" not in settings.first:
            self._pair(time, self.places["page-sync-timeout",], (), time.text)
        for path, value in list(self.pairs.items()):
            if reason := self._reason_against(path, value):
                del self.pairs[path]
                self.without_equivalent.append(f"{joined(path)} ({reason})")

    def _report(self, node: ConfigNode, reason: str = "") -> None:
        self.without_equivalent.append(f"{node.position}: <{node.tag}>" + (f" ({reason})" if reason else ""))

    def _reason_against(self, path: Path, value: str) -> str:
        """Return why a key and its value would mean something else than the element; empty if they would not."""
        if value == "-":
            return "the value - removes an entry"
        if any('"' in step for step in path):
            return "a quote would end its name"
        codecs = ((*path[:2], kind, name) for kind in ("params", "extraParams") for name in _CODECS)
        if value.startswith("ENC(") and any(codec in self.pairs for codec in (("passwordCodec",), *codecs)):
            return "it would be decoded before its codec is set"
        return ""

    def _element(self, node: ConfigNode, tags: Path, names: Path) -> None:
        """Convert an element; ``names`` are those of the entries around it."""
        variant = (*tags[:-1], f"{tags[-1]}[manager]")
        place = self.places.get(variant if variant in self.places and node.child("manager") else tags)
        if place is None:
            self._report(node)
            return
        before = len(self.pairs)
        match place.kind:
            case "past":
                pass
            case "none":
                self._report(node, place.values)
            case "entry":
                self._entry(node, place, names)
            case "map":
                self._pair(node, place, names, *(node.attributes.get(name, "") for name in ("value", "key")))
            case "journals" if not node.children:
                for journal_place in journal_places(place):
                    self._pair(node, journal_place, names, node.text)
            case "value" | "list" if not node.children:
                self._pair(node, place, names, node.text)
                self._members(node, place.tags, names)
            case "inside" | "bean" | "word":
                if place.kind == "word":
                    self._add_beans(place.keys, names)
                self._members(node, place.tags, names)
                if place.kind == "bean" and len(self.pairs) == before:
                    self._report(node)
            case _:
                self._report(node)

    def _entry(self, node: ConfigNode, place: BeanPlace, names: Path) -> None:
        """Convert an entry of a collection; one without a name of its own is named as brokers do, or numbered."""
        attribute = "match" if "match" in node.attributes else "name"
        name = node.attributes.get(attribute, "" if place.name else None)
        if place.name == "class":
            name = node.attributes.get("class-name", "") + _CLASS
        elif name == "" and place.name == "above":
            name = names[-1]
        elif name == "":
            assert node.parent
            name = f"{node.name}-{node.parent.children_named(node.name).index(node) + 1}"
        if name is None:
            self._report(node, "it has no name")
            return
        path = (*_filled(place.keys, names), name)
        # one list holds all parts of a connection, whatever their kind
        entry = path if path[0] != _BROKER_CONNECTIONS or len(path) != 4 else (*path[:2], name)
        if entry in self.entries:
            self._report(node, "there is another one with that name")
            return
        self.entries.add(entry)
        before = len(self.pairs)
        types = [child.name.upper() for child in node.children if child.name in _QUEUE_TYPES]
        if types and place.tags == ("addresses", "address"):
            self.pairs[*path, "routingTypes"] = ",".join(types)
        elif place.tags[-2] in _QUEUE_TYPES:
            self.pairs[*path, "address"], self.pairs[*path, "routingType"] = names[-1], place.tags[-2].upper()
        self._members(node, place.tags, (*names, name), attribute)
        if len(self.pairs) == before:
            self._report(node, "there is no key for it on its own")

    def _members(self, node: ConfigNode, tags: Path, names: Path, name_attribute: str = "") -> None:
        for attribute, value in node.attributes.items():
            place = self.places.get((*tags, f"@{attribute}"))
            if attribute == name_attribute or (place and place.kind == "past"):
                continue
            if place is None:
                self._report(node, f"its {attribute}")
            else:
                self._pair(node, place, names, value)
        for child in node.children:
            self._element(child, (*tags, child.name), names)
        for place in defaults_below(self.edition).get(tags, ()):
            path = _filled(place.keys, names)
            if path not in self.pairs and self._add_beans(place.keys, names):
                other, _, text = place.absent.rpartition("|")
                other_node = node.child(other.removeprefix("<"))
                self.pairs[path] = names[-1] if place.absent == "|" else other_node.text.strip() if other_node else text

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
        """Add the pair of a value; ``key`` is that of an item of a map."""
        if reason := self._reason_without_pair(place, names, trimmed(text), key):
            self._report(node, reason)

    def _reason_without_pair(self, place: BeanPlace, names: Path, value: str, key: str) -> str:
        """Add the pair of a value; return why there is none, or an empty text."""
        bean = place.property
        assert bean
        if place.name == "class":
            value += _CLASS
        elif place.words() or bean.type in ("boolean", "Boolean"):
            value = str(parse_boolean(value)).lower()
            value = place.words().get(value, value)
        elif bean.type in _NUMBERS:
            try:
                number = parse_size(value, self.edition).value
            except SizeError:
                return "it is not a number"
            if number < 1 and place.only_above_zero():
                return ""
            value = str(number)
        elif bean.words and value not in bean.words:
            return f"it accepts {', '.join(bean.words)}"
        if place.kind == "map" and (bean.made == "-" or "r" not in bean.access) and bean.owner != _NAMED:
            # it has no entries before it is set as a whole
            key, value = "", f"{key}={value}"
            if value.count("=") != 1 or value.endswith("="):
                return "its list uses = between key and value"
        path = (*_filled(place.keys, names), *([key] if key else []))
        is_list = place.kind == "list" or (place.kind == "map" and not key)
        if is_list and ("," in value or not value):
            return "its list uses commas between items"
        if not self._add_beans(place.keys, names):
            return "it contradicts another one"
        if is_list and path in self.pairs:
            value = f"{self.pairs[path]},{value}"
        elif path[0] != "addressSettings" and self.pairs.get(path, value) != value:
            return "another one has set it before"
        self.pairs[path] = value
        return ""


def _filled(keys: Path, names: Path) -> Path:
    """Return the keys with the names of the entries, and without the words that create a bean."""
    unused = iter(names)
    return tuple(key.partition("=")[0] or next(unused) for key in keys)


def as_xml(outcomes: Iterable[Outcome], edition: Edition) -> tuple[str, list[str]]:
    """Return the configuration that is equivalent to the entries, and the keys without an equivalent."""
    walker = _KeyWalker(edition)
    return walker.document([*outcomes]), walker.without_equivalent


class _KeyWalker:
    """Walk over the entries of a properties file that builds the elements of a configuration."""

    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self.root = Element("configuration", xmlns="urn:activemq")
        self.core = SubElement(self.root, "core", xmlns="urn:activemq:core")
        self.elements: dict[tuple[Element, str, str], Element] = {}
        self.without_equivalent: list[str] = []
        self.places, self.by_keys = bean_places(edition), places_of_keys(edition)
        # the words that created beans, by the path of each
        self.words: dict[Path, str] = {}
        # entries that are written as one element when all of them are known
        self.parts: dict[Path, list[Outcome]] = {}
        # paths of transports and roles that lack an entry: they would admit someone whom that entry keeps out
        self.incomplete: set[Path] = set()
        # properties that queues take from their addresses as properties, but not as elements
        self.inherited: set[str] = set()
        # whether colocated policies share a store
        self.shared = False

    def document(self, outcomes: list[Outcome]) -> str:
        """Return the configuration as text."""
        self.shared = any(
            outcome.name in ("primaryConfig", "backupConfig") and outcome.entry.value.startswith("SHARED")
            for outcome in outcomes
        )
        for outcome in outcomes:
            if not self._entry(outcome):
                self._report(outcome)
        # permissions are reported first, and addresses keep the order in which their queues create them
        for path in sorted(self.parts, key=lambda path: (path[0] != "securityRoles", path[2:] == ("routingTypes",))):
            for outcome in self._part(path, self.parts[path]):
                self._report(outcome)
        self._sort(self.core, ())
        indent(self.root)
        text = tostring(self.root, encoding="unicode") + "\n"
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + with_escapes(text, lambda letter: f"&#{ord(letter)};")

    def _report(self, outcome: Outcome) -> None:
        self.without_equivalent.append(f"{outcome.entry.position}: {shown_key(outcome.entry.key)}")
        self.incomplete |= {outcome.path[:2], outcome.path[:3]}

    def _sort(self, node: Element, tags: Path) -> None:
        """Sort the parts in the order of the schema."""
        for child in node:
            self._sort(child, (*tags, child.tag))
        if tags:
            node[:] = sorted(node, key=lambda child: _order(self.edition).get((*tags, child.tag), -1))

    def _entry(self, outcome: Outcome) -> bool:
        """Write an entry, or keep it for its part; return whether it has an equivalent, judged by this entry alone."""
        if not outcome.applied or outcome.fault is not None or outcome.value is None:
            return False
        if not all(_WRITABLE.fullmatch(text) for text in (*outcome.path, _text(outcome))):
            return False
        if outcome.name == "name" and len(outcome.path) > 1 and outcome.value == outcome.path[-2]:
            return True
        part = part_of(outcome)
        if part is None:
            return self._by_row(outcome)
        self.parts.setdefault(part, []).append(outcome)
        return True

    def _by_row(self, outcome: Outcome) -> bool:
        """Write an entry where its row says; return whether there is one."""
        keys: Path = ()
        names: Path = ()
        path = outcome.path
        is_bean = isinstance(outcome.value, Bean) and outcome.value.kind == "bean"
        if is_bean:
            self.words[path] = outcome.entry.value
        for end, step in enumerate(path, 1):
            place = self.by_keys.get(keys)
            if place and place.kind == "map":
                break
            if place and place.kind == "entry":
                keys, names = (*keys, ""), (*names, step)
                continue
            typed = (*keys, f"{step}={self.words.get(path[:end])}")
            keys = typed if typed in beginnings(self.edition) else (*keys, step)
        place = self.by_keys.get(keys)
        if place is None:
            return is_bean and keys in beginnings(self.edition)  # the keys that follow say more about the bean
        node = self._parent(place, names)
        if node is None or place.kind in ("entry", "bean"):
            return False
        key = path[-1] if place.kind == "map" and len(path) > len(keys) else ""
        return place.kind == "word" or self._value(node, place, outcome, key)

    def _parent(self, place: BeanPlace, names: Path) -> Element | None:
        """Return the parent element for a place, creating all above it; None if an entry's name cannot be written."""
        node, unused = self.core, list(names)
        repeated = place.kind == "list" and place.tags[-1].startswith("@")  # an element for each item
        for end in range(1, len(place.tags) + (place.kind == "word") - repeated):
            tags = place.tags[:end]
            around = self.places[tags]
            tag = tags[-1].partition("[")[0]
            if tag == "replication" and self.shared and place.tags[2:3] == ("colocated",):
                tag = "shared-store"
            if around.kind != "entry":
                node = self._node(node, tag)
                continue
            name = unused.pop(0)
            attribute = "class-name" if around.name == "class" else "match" if tags[0] in _MATCHED else "name"
            if around.name == "class":
                name = name.removesuffix(_CLASS)
            elif around.name and (*tags, "@name") not in self.places:
                if around.name == "above" and name != names[-len(unused) - 2]:
                    return None
                attribute = ""
            node = self._node(node, tag, attribute, name)
        return node

    def _value(self, node: Element, place: BeanPlace, outcome: Outcome, key: str) -> bool:
        """Write the value of an entry into the parent element; return whether an element has such a value."""
        text, tag, is_attribute = _text(outcome), place.tags[-1].removeprefix("@"), place.tags[-1].startswith("@")
        if (outcome.name == "defaultPurgeOnNoConsumers" and outcome.value is True) or outcome.name == "defaultRingSize":
            self.inherited.add(outcome.name.removeprefix("default"))
        if place.only_above_zero() and isinstance(outcome.value, int) and outcome.value < 1:
            return False
        if place.kind == "map":
            pairs = [(key, text)] if key else [tuple(pair.split("=")) for pair in text.split(",") if pair.strip()]
            for name, value in pairs:
                SubElement(node, tag, {"key": name, "value": value})
        elif place.kind == "list":
            for item in text.split(","):
                if is_attribute:
                    SubElement(node, place.tags[-2], {tag: item})
                else:
                    SubElement(node, tag).text = item
        elif is_attribute:
            node.set(tag, text.removesuffix(_CLASS) if place.name == "class" else text)
        else:
            self._node(node, tag).text = text
        return True

    def _node(self, above: Element, tag: str, attribute: str = "", value: str = "") -> Element:
        """Return the child element with this tag and value of an attribute; it is created once."""
        if (above, tag, value) not in self.elements:
            self.elements[above, tag, value] = SubElement(above, tag, {attribute: value} if attribute else {})
        return self.elements[above, tag, value]

    def _address(self, name: str) -> Element:
        return self._node(self._node(self.core, "addresses"), "address", "name", name)

    def _part(self, path: Path, outcomes: list[Outcome]) -> Iterable[Outcome]:
        """Write the element of several entries; return those that it does not express."""
        match path:
            case ("securityRoles", match, right):
                return self._permission(match, right, outcomes)
            case (_, name, "routingTypes"):
                for kind in _text(outcomes[-1]).lower().split(","):
                    self._node(self._address(name), kind)
                return ()
            case (_, _, "queueConfigs", _):
                return self._queue(path, outcomes)
            case (collection, name):
                element = TRANSPORTS[collection]
                values = {} if path in self.incomplete else {outcome.path[2:]: _text(outcome) for outcome in outcomes}
                if uri := transport_uri(element, values, self.edition):
                    self._node(self._node(self.core, f"{element}s"), element, "name", name).text = uri
                    return ()
            case ("journalRetention",):
                if retention := retention_element(outcomes):
                    node = self._node(self.core, "journal-retention-directory")
                    node.text, node.attrib = retention
                    return ()
            case _:
                if same_for_both_journals(outcomes) and any(map(self._by_row, outcomes)):
                    return ()
        return outcomes

    def _permission(self, match: str, right: str, outcomes: list[Outcome]) -> list[Outcome]:
        node = self._node(self._node(self.core, "security-settings"), "security-setting", "match", match)
        roles = {outcome.path[2]: outcome for outcome in outcomes}
        unsafe = {role: outcome for role, outcome in roles.items() if outcome.path[:3] in self.incomplete}
        permitted = [role for role, outcome in roles.items() if outcome.value and role not in unsafe]
        if permitted:
            self._node(node, "permission", "type", right).set("roles", ",".join(permitted))
        return [*unsafe.values()]

    def _queue(self, path: Path, outcomes: list[Outcome]) -> list[Outcome]:
        """Write a queue with all its entries; without an address it belongs to the address with the same name."""
        _, address, _, name = path
        texts = {outcome.name: _text(outcome) for outcome in outcomes}
        address = texts.get("address") or (name if name == address else "")
        if not address or any(bean[:1].upper() + bean[1:] in self.inherited for bean in {*_INHERITED} - {*texts}):
            return outcomes
        queue = self._node(self._address(address), texts.get("routingType", "MULTICAST").lower())
        queue = self._node(queue, "queue", "name", name)
        unwritten = []
        for outcome in outcomes:
            if outcome.name in ("address", "routingType"):
                continue
            place = self.by_keys.get(("addressConfigurations", "", "queueConfigs", "", outcome.name))
            node = queue
            for tag in place.tags[4:-1] if place else ():
                node = self._node(node, tag)
            if not place or not self._value(node, place, outcome, ""):
                unwritten.append(outcome)
        return unwritten


@cache
def _order(edition: Edition) -> dict[Path, int]:
    return {tags: number for number, tags in enumerate(bean_places(edition))}


def _text(outcome: Outcome) -> str:
    if isinstance(outcome.value, Bean) or outcome.name == "routingTypes":
        return outcome.entry.value
    return str(outcome.value).lower() if isinstance(outcome.value, bool) else str(outcome.value)
