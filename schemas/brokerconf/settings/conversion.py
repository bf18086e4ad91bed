"""A configuration as properties, and properties as a configuration (docs/spec/properties.md 2 and 7).

``bean_places`` says which element is which property. What has no counterpart is named, never left out in silence.
Values keep their meaning and not their notation: the sizes of an element become plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from brokerconf.properties.application import Bean
from brokerconf.properties.outcomes import Outcome
from brokerconf.properties.writing import joined, with_escapes
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.secrets import shown_key
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_size, trimmed
from brokerconf.schema.beans import ROOT, beans
from brokerconf.settings.bean_places import BeanPlace, Path, bean_places, places_of_keys
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import Scope, in_scope
from brokerconf.settings.transports import transport_properties, transport_uri
from pagefmt.editions import Edition

_UNITS = {"DAYS": 86_400_000, "HOURS": 3_600_000, "MINUTES": 60_000, "SECONDS": 1000, "MILLISECONDS": 1}
_REASONS = {
    "cluster-connection-uri": "the broker creates it from its address when it reads a file",
    "security-setting-plugin": "there is no key for a plugin",
}  # fmt: skip
_BOTH_JOURNALS = ("journal-buffer-timeout", "journal-buffer-size", "journal-max-io")
# below 1 an element of the first says nothing, as its absence does; a property switches something off
_ABOVE_ZERO = ("global-max-size", "prefetch-page-bytes", "prefetch-page-messages")
_NUMBERS = ("int", "Integer", "long", "Long")
_SECURITY, _ADDRESSES, _QUEUE_TYPES = "securityRoles", "addressConfigurations", ("anycast", "multicast")
_TRANSPORTS = {"acceptorConfigurations": "acceptor", "connectorConfigurations": "connector"}
_CLASS, _NAMED = ".class", "NamedPropertyConfiguration"
_CODECS = ("passwordCodec", "activemq.passwordcodec")
_RETENTION, _MATCHED = "journalRetention", ("address-settings", "resource-limit-settings")
# what a queue that says nothing takes from its address
_INHERITED = ("purgeOnNoConsumers", "ringSize")
_BROKER_CONNECTIONS = "AMQPConnections"
# text that an element keeps as it is, and a role that a list with commas keeps
_WRITABLE = re.compile(r"(?!\s)(?!.*\$\{)[^\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]*(?<!\s)")
_ROLE = re.compile(r"(?!\s)[^,]+(?<!\s)")


class ConvertedFile(NamedTuple):
    """Keys by their steps with values, and what has no counterpart, with the reason where there is one to tell."""

    pairs: list[tuple[Path, str]]
    left: list[str]


def as_entries(document: Document) -> ConvertedFile:
    """The properties that say what a configuration says."""
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
                for one in settings.settings.values():
                    assert one.node
                    self._members(one.node, (node.name, one.node.name), (one.text,), "match")
            elif node.name == "security-settings":
                self._security(node)
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
        """Why a key and its value would say something else than the element."""
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
            self._leave(node, _REASONS.get(node.name, ""))
            return
        before = len(self.pairs)
        match place.kind:
            case "past":
                return
            case "entry":
                self._entry(node, place, names)
            case "map":
                key, value = (node.attributes.get(name, "") for name in ("key", "value"))
                self._pair(node, place, names, value, key)
            case "value" | "list" if not node.children:
                if tags[0] in _BOTH_JOURNALS:
                    self._journal(node)
                else:
                    self._pair(node, place, names, node.text)
                self._members(node, tags, names)
            case "inside" | "bean" | "word":
                if place.kind == "word":
                    self._made(place.keys, names)
                self._members(node, tags, names)
                if place.kind == "bean" and len(self.pairs) == before:
                    self._leave(node, "")
            case _:
                self._leave(node, "")

    def _entry(self, node: ConfigNode, place: BeanPlace, names: Path) -> None:
        """A bean of a collection; one without a name of its own is called as brokers do, or counted."""
        by = "match" if "match" in node.attributes else "name"
        name = node.attributes.get(by, "" if place.name else None)
        if place.name == "class":
            name = node.attributes.get("class-name", "") + _CLASS
        elif name == "":
            siblings = [each for each in node.parent.children if each.name == node.name] if node.parent else []
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
            if path not in self.pairs and self._made(place.keys, names):
                other, _, text = place.absent.rpartition("|")
                given = node.child(other.removeprefix("<"))
                self.pairs[path] = names[-1] if place.absent == "|" else given.text.strip() if given else text

    def _made(self, keys: Path, names: Path) -> bool:
        """The words that make beans on the way, each once; whether none of them is another than before."""
        for end, key in enumerate(keys, 1):
            if "=" in key:
                path, word = _filled(keys[:end], names), key.partition("=")[2]
                if self.pairs.setdefault(path, word) != word:
                    return False
        return True

    def _pair(self, node: ConfigNode, place: BeanPlace, names: Path, text: str, key: str = "") -> None:
        one = place.property
        assert one
        path, value = _filled(place.keys, names), trimmed(text)
        if place.name == "class":
            value += _CLASS
        elif place.values:
            value = place.words()[str(parse_boolean(value)).lower()]
        elif one.type in ("boolean", "Boolean"):
            value = str(parse_boolean(value)).lower()
        elif one.type in _NUMBERS:
            try:
                number = parse_size(value, self.edition).value
            except SizeError:
                self._leave(node, "it is not a number")
                return
            if number < 1 and node.name in _ABOVE_ZERO:
                return
            value = str(number)
        elif one.words and value not in one.words:
            self._leave(node, f"it accepts {', '.join(one.words)}")
            return
        if place.kind == "map" and (one.made == "-" or "r" not in one.access) and one.owner != _NAMED:
            # it has no entries before it is given whole
            key, value = "", f"{key}={value}"
            if value.count("=") != 1 or not value.partition("=")[2]:
                self._leave(node, "its list uses = between key and value")
                return
        path = (*path, key) if key else path
        listed = place.kind == "list" or (place.kind == "map" and not key)
        if listed and ("," in value or not value):
            self._leave(node, "its list uses commas between items")
        elif not self._made(place.keys, names):
            self._leave(node, "it contradicts another one")
        elif listed:
            self.pairs[path] = f"{self.pairs[path]},{value}" if path in self.pairs else value
        elif path in self.pairs and path[0] != "addressSettings" and self.pairs[path] != value:
            self._leave(node, "another one has set it before")
        else:
            self.pairs[path] = value

    def _journal(self, node: ConfigNode) -> None:
        """An element is for the journal that is in use."""
        bean = in_scope(Scope.BROKER)[node.name].bean.removesuffix("NIO")
        place = self.places[(node.name,)]
        for kind in ("NIO", "AIO"):
            self._pair(node, place._replace(keys=(bean + kind,)), (), node.text)

    def _retention(self, node: ConfigNode) -> None:
        """A directory with a period and a limit beside it."""
        known = beans(self.edition).get(ROOT, {})
        period, unit = node.attributes.get("period"), node.attributes.get("unit", "DAYS").upper()
        try:
            limit = parse_size(node.attributes.get("storage-limit", "-1"), self.edition).value
            millis = int(period) * _UNITS[unit] if period else -1
        except (SizeError, ValueError, KeyError):
            self._leave(node, "its period or limit is not a number")
            return
        if period and "w" not in known["journalRetentionPeriod"].access:
            self._leave(node, "there is no key for its period")
            return
        self.pairs["journalRetentionDirectory",] = trimmed(node.text)
        self.pairs["journalRetentionMaxBytes",] = str(limit)
        if "w" in known["journalRetentionPeriod"].access:
            self.pairs["journalRetentionPeriod",] = str(millis)

    def _security(self, node: ConfigNode) -> None:
        known = {name for name, one in beans(self.edition).get("Role", {}).items() if one.type == "boolean"}
        mapped: dict[str, list[str]] = {}
        for one in node.children:
            if one.name == "role-mapping":
                for role in _roles(one.attributes.get("to", "")):
                    mapped.setdefault(role, []).append(trimmed(one.attributes.get("from", "")))
        for one in node.children:
            if one.name == "role-mapping":
                continue
            before = len(self.pairs)
            for right in one.children if one.name == "security-setting" else ():
                kind = right.attributes.get("type", "")
                if kind not in known:
                    self._leave(right, "no role has such a permission")
                    continue
                for role in _roles(right.attributes.get("roles", "")):
                    for name in (role, *mapped.get(role, ())):
                        self.pairs[_SECURITY, one.attributes.get("match", ""), name, kind] = "true"
            if len(self.pairs) == before:
                # one without rights takes all of them away, and no key says so
                self._leave(one, _REASONS.get(one.name, "it removes all permissions"))

    def _transports(self, node: ConfigNode) -> None:
        bean = f"{node.name[:-1]}Configurations"
        for one in node.children:
            found = transport_properties(one, self.edition)
            name = one.attributes.get("name", "")
            if not found or (bean, name) in self.entries:
                self._leave(
                    one, "there is another one with that name" if found else "there are no keys for its address"
                )
            else:
                self.entries.add((bean, name))
                self.pairs.update({(bean, name, *path): value for path, value in found})

    def _leave(self, node: ConfigNode, why: str) -> None:
        self.left.append(f"{node.position}: <{node.tag}>" + (f" ({why})" if why else ""))


def _roles(text: str) -> Iterator[str]:
    return filter(None, map(trimmed, text.split(",")))


def _filled(keys: Path, names: Path) -> Path:
    """Keys with the names of the entries, and without the words that make a bean."""
    left = iter(names)
    return tuple(key.partition("=")[0] or next(left) for key in keys)


@cache
def _absent(edition: Edition) -> dict[Path, list[BeanPlace]]:
    found: dict[Path, list[BeanPlace]] = {}
    for place in bean_places(edition).values():
        if place.absent:
            found.setdefault(place.tags[:-1], []).append(place)
    return found


def as_xml(outcomes: Iterable[Outcome], edition: Edition) -> tuple[str, list[str]]:
    """The configuration that entries make, and the keys that have no counterpart in it."""
    writing = _ToXml(edition)
    found = list(outcomes)
    writing.shared = any(
        one.name in ("primaryConfig", "backupConfig") and one.entry.value.startswith("SHARED") for one in found
    )
    for one in found:
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

    def leave(self, one: Outcome) -> None:
        self.left.append(f"{one.entry.position}: {shown_key(one.entry.key)}")
        self.partial |= {one.path[:2], one.path[:3]}

    def take(self, one: Outcome) -> bool:
        """Whether the entry has a counterpart as far as it can be told by itself."""
        if not one.applied or one.fault is not None or one.value is None:
            return False
        if not all(_WRITABLE.fullmatch(text) for text in (*one.path, _text(one))):
            return False
        if one.name == "name" and len(one.path) > 1 and one.value == one.path[-2]:
            return True
        match one.path:
            case (name,) if name.endswith(("_NIO", "_AIO")):
                self.gathered.setdefault((name[:-4],), []).append(one)
            case (name,) if name.startswith("journalRetention"):
                self.gathered.setdefault((_RETENTION,), []).append(one)
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
                return self._placed(one)
        return True

    def _placed(self, one: Outcome) -> bool:
        """Puts it where its keys belong; whether there is such a place."""
        keys: Path = ()
        names: Path = ()
        path = one.path
        for at, step in enumerate(path):
            place = self.by_keys.get(keys)
            if place and place.kind == "map":
                break
            if place and place.kind == "entry" and len(names) < keys.count("") + 1:
                keys, names = (*keys, ""), (*names, step)
                continue
            if isinstance(one.value, Bean) and at + 1 == len(path) and one.value.kind == "bean":
                self.words.setdefault(path, one.entry.value)
            word = self.words.get(path[: at + 1])
            typed = f"{step}={word}" if word else step
            keys = (*keys, typed if (*keys, typed) in _beginnings(self.edition) else step)
        place = self.by_keys.get(keys)
        if place is None:
            # a bean of which the keys that follow say more
            return keys in _beginnings(self.edition) and isinstance(one.value, Bean) and one.value.kind == "bean"
        node = self._element(place, names)
        if node is None or place.kind in ("entry", "bean"):
            return False
        if place.kind == "word":
            return True
        key = path[-1] if place.kind == "map" and len(path) > len(keys) else ""
        return self._say(node, place, one, key)

    def _element(self, place: BeanPlace, names: Path) -> Element | None:
        """The element around that of a place, made with all above it; None where an entry's name cannot be told."""
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

    def _say(self, node: Element, place: BeanPlace, one: Outcome, key: str) -> bool:
        tag, text = place.tags[-1], _text(one)
        if (one.name == "defaultPurgeOnNoConsumers" and one.value is True) or one.name == "defaultRingSize":
            self.inherited.add(one.name.removeprefix("default"))
        if tag in _ABOVE_ZERO and isinstance(one.value, int) and one.value < 1:
            return False
        if place.kind == "map":
            pairs = [(key, text)] if key else [tuple(pair.split("=")) for pair in text.split(",") if pair.strip()]
            for name, value in pairs:
                SubElement(node, tag, {"key": name, "value": value})
        elif place.kind == "list":
            above = (
                self.core if len(place.tags) < 3 else next(n for (n, _, _), made in self.made.items() if made is node)
            )
            if tag.startswith("@"):
                del self.made[above, node.tag, ""]
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
        node = self.made.get((above, tag, value))
        if node is None:
            node = self.made[above, tag, value] = SubElement(above, tag, {name: value} if name else {})
        return node

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
            elif path[1:]:
                done = self._queue(path, found)
            else:
                done = (self._retained if path == (_RETENTION,) else self._journals)(found)
            if not done:
                for one in found:
                    self.leave(one)
        for name, one in self.addresses.items():
            for kind in _text(one).lower().split(","):
                self._node(self._address(name), kind)
        self._sort(self.core, ())
        indent(self.root)
        text = tostring(self.root, encoding="unicode") + "\n"
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + with_escapes(text, lambda letter: f"&#{ord(letter)};")

    def _sort(self, node: Element, tags: Path) -> None:
        """Parts stand in the order of the schema."""
        for child in node:
            self._sort(child, (*tags, child.tag))
        if tags:
            node[:] = sorted(node, key=lambda child: _order(self.edition).get((*tags, child.tag), -1))

    def _address(self, name: str) -> Element:
        return self._node(self._node(self.core, "addresses"), "address", "name", name)

    def _journals(self, found: list[Outcome]) -> bool:
        """An element is for the journal that is used: both have to be given the same."""
        if len({one.name for one in found}) != 2 or len({one.value for one in found}) != 1:
            return False
        return any(self._placed(one) for one in found)

    def _retained(self, found: list[Outcome]) -> bool:
        """A directory with its limits; brokers ask for one of them."""
        said = {one.name.removeprefix(_RETENTION): one.value for one in found}
        period, limit = (said.get(name, -1) for name in ("Period", "MaxBytes"))
        if not isinstance(period, int) or not isinstance(limit, int) or not said.get("Directory"):
            return False
        unit = next((unit for unit, millis in _UNITS.items() if period % millis == 0), "")
        if unit == "MILLISECONDS" or (period < 1 and limit == -1):
            return False
        node = self._node(self.core, "journal-retention-directory")
        node.text = str(said["Directory"])
        if period > 0:
            node.attrib.update(unit=unit, period=str(period // _UNITS[unit]))
        if limit != -1:
            node.set("storage-limit", str(limit))
        return True

    def _queue(self, path: Path, found: list[Outcome]) -> bool:
        """A queue without an address is taken for one at the address of its own name."""
        _, address, _, name = path
        said = {one.name: _text(one) for one in found}
        address = said.get("address") or (name if name == address else "")
        silent = {bean for bean in _INHERITED if bean not in said}
        if not address or any(bean[:1].upper() + bean[1:] in self.inherited for bean in silent):
            return False
        node = self._node(self._address(address), said.get("routingType", "MULTICAST").lower())
        node = self._node(node, "queue", "name", name)
        for one in found:
            if one.name not in ("address", "routingType"):
                place = self.by_keys.get((_ADDRESSES, "", "queueConfigs", "", one.name))
                inner = node
                for tag in place.tags[4:-1] if place else ():
                    inner = self._node(inner, tag)
                if not place or not self._say(inner, place, one, ""):
                    self.leave(one)
        return True

    def _transport(self, path: Path, said: dict[Path, str]) -> bool:
        element = _TRANSPORTS[path[0]]
        text = transport_uri(element, said, self.edition)
        if text:
            self._node(self._node(self.core, f"{element}s"), element, "name", path[1]).text = text
        return bool(text)


@cache
def _beginnings(edition: Edition) -> frozenset[Path]:
    return frozenset(keys[:end] for keys in places_of_keys(edition) for end in range(1, len(keys) + 1))


@cache
def _order(edition: Edition) -> dict[Path, int]:
    return {tags: number for number, tags in enumerate(bean_places(edition))}


def _text(one: Outcome) -> str:
    if isinstance(one.value, Bean) or one.name == "routingTypes":
        return one.entry.value
    return str(one.value).lower() if isinstance(one.value, bool) else str(one.value)
