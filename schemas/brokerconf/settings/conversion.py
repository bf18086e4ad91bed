"""A configuration as properties, and properties as a configuration (docs/spec/properties.md 2).

Which element is which bean stands in ``facts/element_beans.csv``; the members of both find each other by their names,
an element's words run together, by ``facts/settings.csv`` where they differ. What has no counterpart is named, never
left out in silence. Values keep their meaning and not their notation: the sizes of an element become plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from brokerconf.properties.outcomes import Outcome
from brokerconf.properties.writing import joined
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_size, trimmed
from brokerconf.reading.tables import read_table
from brokerconf.schema.beans import ROOT, BeanProperty, beans
from brokerconf.schema.schema_facts import members, root_type
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import Scope, in_scope
from brokerconf.settings.transports import transport_properties, transport_uri
from pagefmt.editions import Edition

Path = tuple[str, ...]
_BOTH_JOURNALS = ("journal-buffer-timeout", "journal-buffer-size", "journal-max-io")
# below 1 an element of the first says nothing, as its absence does; a property switches something off
_ABOVE_ZERO = ("global-max-size", "prefetch-page-bytes", "prefetch-page-messages")
# what the reader of elements gives a queue that says nothing, and a property leaves to the address
_OF_A_QUEUE = {"purgeOnNoConsumers": "false", "ringSize": "-1"}
_NUMBERS = ("int", "Integer", "long", "Long")
_SECURITY, _ADDRESSES, _QUEUE_TYPES = "securityRoles", "addressConfigurations", ("anycast", "multicast")
_TRANSPORTS = {"acceptorConfigurations": "acceptor", "connectorConfigurations": "connector"}
# text that an element keeps as it is, and a role that a list with commas keeps
_WRITABLE = re.compile(r"(?!\s)(?!.*\$\{)[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]*(?<!\s)")
_ROLE = re.compile(r"(?!\s)[^,]+(?<!\s)")


class BeanPlace(NamedTuple):
    """Where beans of one class stand in a file: ``address-settings/address-setting@match``."""

    element: str
    bean: str
    owner: str
    schema: str


class ConvertedFile(NamedTuple):
    """Keys by their steps with values, and what has no counterpart."""

    pairs: list[tuple[Path, str]]
    left: list[str]


@cache
def _parts() -> tuple[BeanPlace, ...]:
    return tuple(BeanPlace(*row) for row in read_table("element_beans.csv"))


@cache
def _names(owner: str, schema: str, edition: Edition) -> dict[str, BeanProperty]:
    """The properties of a bean by the names of elements and attributes."""
    known = beans(edition).get(owner, {})
    scope = {ROOT: Scope.BROKER, "AddressSettings": Scope.ADDRESS}.get(owner)
    said = {one.name: one.bean for one in in_scope(scope).values()} if scope else {}
    by_small = {name.lower(): one for name, one in known.items() if "w" in one.access}
    found: dict[str, BeanProperty] = {}
    for member in members(edition).get(schema, {}):
        name = member.removeprefix("@")
        one = known.get(said.get(name, "")) or by_small.get(name.replace("-", ""))
        if one is not None and "w" in one.access and not one.made:
            found[member] = one
    return found


def as_entries(document: Document) -> ConvertedFile:
    """The properties that say what a configuration says."""
    converting = _ToProperties(document)
    converting.convert()
    return ConvertedFile(converting.pairs, converting.left)


class _ToProperties:
    def __init__(self, document: Document) -> None:
        self.document, self.edition = document, document.edition
        self.pairs: list[tuple[Path, str]] = []
        self.left: list[str] = [
            f"{node.position}: <{node.tag}>" for node in document.root.children if node.name != "core"
        ]

    def convert(self) -> None:
        core = self.document.core
        settings = EffectiveSettings(self.document)
        self.left += [f"{node.position}: {err}" for node, err in settings.refused]
        parts = {part.element.partition("/")[0].partition("@")[0]: part for part in _parts()}
        known = _names(ROOT, root_type(self.edition), self.edition)
        for node in core.children if core else ():
            if node.name == "address-settings":
                for one in settings.settings.values():
                    assert one.node
                    self._members(one.node, parts[node.name], ("addressSettings", one.text), "match")
            elif node.name == "addresses":
                self._addresses(node)
            elif node.name == "security-settings":
                self._security(node)
            elif node.name in ("acceptors", "connectors"):
                self._transports(node)
            elif node.name in parts:
                self._part(node, parts[node.name])
            elif settings.first.get(node.name) is node or node.name not in in_scope(Scope.BROKER):
                self._setting(node, known, ())
        # the first of a name counts, at any depth
        for name, node in settings.first.items():
            if name in in_scope(Scope.BROKER) and node.parent is not core:
                self._setting(node, known, ())
        # a mark inside of a name ends it, and a value of "-" takes away
        held = [value != "-" and not any('"' in step for step in path) for path, value in self.pairs]
        self.left += [joined(path) for (path, _), holds in zip(self.pairs, held, strict=True) if not holds]
        self.pairs = [pair for pair, holds in zip(self.pairs, held, strict=True) if holds]

    def _part(self, node: ConfigNode, part: BeanPlace) -> None:
        _, _, inner = part.element.partition("/")
        if not inner:
            self._members(node, part, (part.bean,), "")
            return
        tag, _, name = inner.partition("@")
        for child in node.children:
            if child.name == tag and name in child.attributes:
                self._members(child, part, (part.bean, child.attributes[name]), name)
            else:
                self._leave(child)

    def _members(self, node: ConfigNode, part: BeanPlace, path: Path, name: str) -> None:
        known = _names(part.owner, part.schema, self.edition)
        for attribute, value in node.attributes.items():
            if attribute != name:
                self._value(node, known.get(f"@{attribute}"), path, value, f"{node.tag} {attribute}")
        for child in node.children:
            if child.name == "filter" and "string" in child.attributes:
                self.pairs.append(((*path, "filterString"), child.attributes["string"]))
            else:
                self._setting(child, known, path)

    def _setting(self, node: ConfigNode, known: dict[str, BeanProperty], path: Path) -> None:
        if node.children or node.attributes:
            self._leave(node)
        elif node.name in _BOTH_JOURNALS and not path:
            bean = in_scope(Scope.BROKER)[node.name].bean.removesuffix("NIO")
            for kind in ("NIO", "AIO"):
                self._value(node, beans(self.edition)[ROOT].get(bean + kind), path, node.text, node.tag)
        else:
            self._value(node, known.get(node.name), path, node.text, node.tag)

    def _value(self, node: ConfigNode, one: BeanProperty | None, path: Path, text: str, tag: str) -> None:
        if one is None:
            self._leave(node)
            return
        value = trimmed(text)
        if one.type in ("boolean", "Boolean"):
            value = str(parse_boolean(value)).lower()
        elif one.type in _NUMBERS:
            try:
                number = parse_size(value, self.edition).value
            except SizeError:
                self._leave(node)
                return
            if number < 1 and tag in _ABOVE_ZERO:
                return
            value = str(number)
        elif one.words and value not in one.words:
            self._leave(node)
            return
        self.pairs.append(((*path, one.name), value))

    def _addresses(self, node: ConfigNode) -> None:
        part = next(part for part in _parts() if part.bean == "queueConfigs")
        for address in node.children:
            name = address.attributes.get("name", "")
            types = [child.name.upper() for child in address.children if child.name in _QUEUE_TYPES]
            if types:
                self.pairs.append(((_ADDRESSES, name, "routingTypes"), ",".join(types)))
            for kind in address.children:
                for queue in kind.children:
                    path = (_ADDRESSES, name, part.bean, queue.attributes.get("name", ""))
                    self.pairs += [((*path, "address"), name), ((*path, "routingType"), kind.name.upper())]
                    before = len(self.pairs)
                    self._members(queue, part, path, "name")
                    given = {steps[-1] for steps, _ in self.pairs[before:]}
                    self.pairs += [((*path, bean), value) for bean, value in _OF_A_QUEUE.items() if bean not in given]
                if kind.name not in _QUEUE_TYPES:
                    self._leave(kind)

    def _security(self, node: ConfigNode) -> None:
        known = {name for name, one in beans(self.edition)["Role"].items() if one.type == "boolean"}
        for one in node.children:
            before = len(self.pairs)
            for right in one.children if one.name == "security-setting" else ():
                kind = right.attributes.get("type", "")
                if kind not in known:
                    self._leave(right)
                    continue
                for role in filter(None, map(trimmed, right.attributes.get("roles", "").split(","))):
                    self.pairs.append(((_SECURITY, one.attributes.get("match", ""), role, kind), "true"))
            if len(self.pairs) == before:
                # one without rights takes all of them away, and no key says so
                self._leave(one)

    def _transports(self, node: ConfigNode) -> None:
        bean = f"{node.name[:-1]}Configurations"
        for one in node.children:
            found = transport_properties(one, self.edition)
            if not found:
                self._leave(one)
            self.pairs += [((bean, one.attributes.get("name", ""), *path), value) for path, value in found]

    def _leave(self, node: ConfigNode) -> None:
        self.left.append(f"{node.position}: <{node.tag}>")


def as_xml(outcomes: Iterable[Outcome], edition: Edition) -> tuple[str, list[str]]:
    """The configuration that entries make, and the keys that have no counterpart in it."""
    writing = _ToXml(edition)
    for one in outcomes:
        if not writing.take(one):
            writing.leave(one)
    return writing.text(), writing.left


class _ToXml:
    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self.root = Element("configuration", xmlns="urn:activemq")
        self.core = SubElement(self.root, "core", xmlns="urn:activemq:core")
        self.made: dict[tuple[Element, str, str], Element] = {}
        self.left: list[str] = []
        self.elements = {
            (part.owner): {one.name: name for name, one in _names(part.owner, part.schema, edition).items()}
            for part in (*_parts(), BeanPlace("", "", ROOT, root_type(edition)))
        }
        # an address, a queue or a transport is made of several entries
        self.addresses: dict[str, Outcome] = {}
        self.gathered: dict[Path, list[Outcome]] = {}
        self.roles: dict[tuple[str, str], dict[str, Outcome]] = {}
        # a transport or role of which a part is left out would let in whom it kept out
        self.partial: set[Path] = set()
        # what a queue that says nothing takes from its address, and an element does not
        self.inherited: set[str] = set()

    def leave(self, one: Outcome) -> None:
        self.left.append(f"{one.entry.position}: {one.entry.key}")
        self.partial |= {one.path[:2], one.path[:3]}

    def take(self, one: Outcome) -> bool:
        """Whether the entry has a counterpart as far as it can be told by itself."""
        known = isinstance(one.value, bool | int | float | str) or one.name == "routingTypes"
        if not known or not one.applied or one.fault is not None or one.value is None:
            return False
        if not all(_WRITABLE.fullmatch(text) for text in (*one.path, _text(one))):
            return False
        if one.name == "name" and len(one.path) > 1 and one.value == one.path[-2]:
            return True
        match one.path:
            case (name,):
                journal = name.endswith(("_NIO", "_AIO"))
                if journal:
                    self.gathered.setdefault((name[:-4],), []).append(one)
                return journal or self._member(self.core, one)
            case ("addressConfigurations", name, "routingTypes"):
                self.addresses[name] = one
            case ("addressConfigurations", _, "queueConfigs", _, _):
                self.gathered.setdefault(one.path[:4], []).append(one)
            case (collection, _, "factoryClassName") | (collection, _, "params" | "extraParams", _) if (
                collection in _TRANSPORTS
            ):
                self.gathered.setdefault(one.path[:2], []).append(one)
            case ("securityRoles", match, role, right) if isinstance(one.value, bool) and _ROLE.fullmatch(role):
                self.roles.setdefault((match, right), {})[role] = one
            case _:
                return self._part(one)
        return True

    def _part(self, one: Outcome) -> bool:
        for part in _parts():
            if one.path[0] == part.bean and one.owner == part.owner and len(one.path) == 2 + ("@" in part.element):
                outer, _, inner = part.element.partition("/")
                if one.name not in self.elements[part.owner] and one.name != "filterString":
                    return False
                node = self._node(self.core, outer)
                if inner:
                    tag, _, name = inner.partition("@")
                    node = self._node(node, tag, name, one.path[1])
                return self._member(node, one)
        return False

    def _node(self, above: Element, tag: str, name: str = "", value: str = "") -> Element:
        node = self.made.get((above, tag, value))
        if node is None:
            node = self.made[above, tag, value] = SubElement(above, tag, {name: value} if name else {})
        return node

    def _member(self, node: Element, one: Outcome) -> bool:
        name, text = self.elements.get(one.owner, {}).get(one.name), _text(one)
        if one.name == "filterString":
            self._node(node, "filter").set("string", text)
            return True
        if (one.name == "defaultPurgeOnNoConsumers" and one.value is True) or one.name == "defaultRingSize":
            self.inherited.add(one.name.removeprefix("default"))
        if name is None or (name in _ABOVE_ZERO and isinstance(one.value, int) and one.value < 1):
            return False
        if name.startswith("@"):
            node.set(name[1:], text)
        else:
            self._node(node, name).text = text
        return True

    def text(self) -> str:
        """The document, once all entries were taken."""
        for (match, right), roles in self.roles.items():
            node = self._node(self._node(self.core, "security-settings"), "security-setting", "match", match)
            for one in roles.values():
                if one.path[:3] in self.partial:
                    self.leave(one)
            given = [role for role, one in roles.items() if one.value and one.path[:3] not in self.partial]
            if given:
                self._node(node, "permission", "type", right).set("roles", ",".join(given))
        for path, found in self.gathered.items():
            if path[0] in _TRANSPORTS:
                done = path not in self.partial and self._transport(path, {one.path[2:]: _text(one) for one in found})
            else:
                done = self._queue(path, found) if path[1:] else self._journals(found)
            if not done:
                for one in found:
                    self.leave(one)
        for name, one in self.addresses.items():
            for kind in _text(one).lower().split(","):
                self._node(self._address(name), kind)
        indent(self.root)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(self.root, encoding="unicode") + "\n"

    def _address(self, name: str) -> Element:
        return self._node(self._node(self.core, "addresses"), "address", "name", name)

    def _journals(self, found: list[Outcome]) -> bool:
        """An element is for the journal that is used: both have to be given the same."""
        if len({one.name for one in found}) != 2 or len({one.value for one in found}) != 1:
            return False
        return any(self._member(self.core, one) for one in found)

    def _queue(self, path: Path, found: list[Outcome]) -> bool:
        """A queue without an address is taken for one at the address of its own name."""
        _, address, _, name = path
        said = {one.name: _text(one) for one in found}
        address = said.get("address") or (name if name == address else "")
        silent = {bean for bean in _OF_A_QUEUE if bean not in said}
        if not address or any(bean[:1].upper() + bean[1:] in self.inherited for bean in silent):
            return False
        kind = self._node(self._address(address), said.get("routingType", "MULTICAST").lower())
        node = self._node(kind, "queue", "name", name)
        for one in found:
            if one.name not in ("address", "routingType") and not self._member(node, one):
                self.leave(one)
        return True

    def _transport(self, path: Path, said: dict[Path, str]) -> bool:
        element = _TRANSPORTS[path[0]]
        text = transport_uri(element, said, self.edition)
        if text:
            self._node(self._node(self.core, f"{element}s"), element, "name", path[1]).text = text
        return bool(text)


def _text(one: Outcome) -> str:
    if one.name == "routingTypes":
        return one.entry.value
    return str(one.value).lower() if isinstance(one.value, bool) else str(one.value)
