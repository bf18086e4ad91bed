"""A configuration as properties, and properties as a configuration (docs/spec/properties.md 2).

Which element is which bean stands in ``facts/element_beans.csv``; the members of both find each other by their names,
an element's words run together, by ``facts/settings.csv`` where they differ. What has no counterpart is named, never
left out in silence. Values keep their meaning and not their notation: the sizes of an element become plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from brokerconf.properties.application import Outcome
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_size, trimmed
from brokerconf.reading.tables import read_table
from brokerconf.schema.beans import ROOT, BeanProperty, beans
from brokerconf.schema.schema_facts import members, root_type
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import Scope, in_scope
from pagefmt.editions import Edition

Path = tuple[str, ...]
_BOTH_JOURNALS = ("journal-buffer-timeout", "journal-buffer-size", "journal-max-io")
# below 1 an element of the first says nothing, as its absence does; a property switches something off
_ABOVE_ZERO = ("global-max-size", "prefetch-page-bytes", "prefetch-page-messages")
# what the reader of elements gives a queue that says nothing, and a property leaves to the address
_OF_A_QUEUE = {"purgeOnNoConsumers": "false", "ringSize": "-1"}
_NUMBERS = ("int", "Integer", "long", "Long")
_SECURITY, _ADDRESSES, _QUEUE_TYPES = "securityRoles", "addressConfigurations", ("anycast", "multicast")


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
            elif node.name in parts:
                self._part(node, parts[node.name])
            elif settings.first.get(node.name) is node or node.name not in in_scope(Scope.BROKER):
                self._setting(node, known, ())
        # the first of a name counts, at any depth
        for name, node in settings.first.items():
            if name in in_scope(Scope.BROKER) and node.parent is not core:
                self._setting(node, known, ())

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
        known = beans(self.edition)["Role"]
        for one in node.children:
            for right in one.children if one.name == "security-setting" else ():
                kind = right.attributes.get("type", "")
                if kind not in known:
                    self._leave(right)
                    continue
                for role in filter(None, map(trimmed, right.attributes.get("roles", "").split(","))):
                    self.pairs.append(((_SECURITY, one.attributes.get("match", ""), role, kind), "true"))
            if one.name != "security-setting":
                self._leave(one)

    def _leave(self, node: ConfigNode) -> None:
        self.left.append(f"{node.position}: <{node.tag}>")


def as_xml(outcomes: Iterable[Outcome], edition: Edition) -> tuple[str, list[str]]:
    """The configuration that entries make, and the keys that have no counterpart in it."""
    left: list[str] = []
    settings: list[str] = []
    groups: dict[str, dict[str, list[str]]] = {}
    known = {one.name: name for name, one in _names(ROOT, root_type(edition), edition).items()}
    for one in outcomes:
        element = _element(one, known, edition) if one.applied and one.fault is None else None
        if element is None:
            left.append(f"{one.entry.position}: {one.entry.key}")
        elif isinstance(element, str):
            settings.append(element)
        else:
            where, name, text = element
            groups.setdefault(where, {}).setdefault(name, []).append(text)
    lines = [f"    {line}\n" for line in settings]
    for part in _parts():
        if part.element in groups:
            lines += _written(part, groups[part.element])
    core = "".join(lines)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<configuration xmlns="urn:activemq">\n'
    return f'{head}  <core xmlns="urn:activemq:core">\n{core}  </core>\n</configuration>\n', left


def _element(one: Outcome, known: dict[str, str], edition: Edition) -> str | tuple[str, str, str] | None:
    value = one.value
    if not isinstance(value, bool | int | float | str):
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if len(one.path) == 1:
        name = known.get(one.name)
        if name is None or (name in _ABOVE_ZERO and isinstance(value, int) and value < 1):
            return None
        return f"<{name}>{escape(text)}</{name}>"
    for part in _parts():
        steps = 3 if "@" in part.element else 2
        if one.path[0] == part.bean and len(one.path) == steps and one.owner == part.owner:
            names = {each.name: name for name, each in _names(part.owner, part.schema, edition).items()}
            name = names.get(one.name)
            above_zero = name in _ABOVE_ZERO and isinstance(value, int) and value < 1
            if name is None or name.startswith("@") or above_zero:
                return None
            return part.element, one.path[1] if steps == 3 else "", f"<{name}>{escape(text)}</{name}>"
    return None


def _written(part: BeanPlace, found: dict[str, list[str]]) -> Iterator[str]:
    outer, _, inner = part.element.partition("/")
    tag, _, name = inner.partition("@")
    yield f"    <{outer}>\n"
    for value, lines in found.items():
        deep = "        " if tag else "      "
        if tag:
            yield f"      <{tag} {name}={quoteattr(value)}>\n"
        yield from (f"{deep}{line}\n" for line in lines)
        if tag:
            yield f"      </{tag}>\n"
    yield f"    </{outer}>\n"
