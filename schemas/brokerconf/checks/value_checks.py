"""Values that the schema accepts and the broker's own reader refuses: each an error finding.

The reader looks up a name at any depth and uses the first, and so do these checks. What depends on the host (classes
on the class path, whether a file exists) is not checked (docs/spec/config-behaviour.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from brokerconf.checks import transports
from brokerconf.checks.reader_facts import ReaderFact, fault, reader_facts
from brokerconf.reading.document import ConfigNode, Document, FileKind
from brokerconf.reading.secrets import masked
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_int, parse_long, parse_size, trimmed
from brokerconf.reading.substitution import is_expression
from brokerconf.reading.subsystems import Subsystem, SubsystemSetting, subsystem_settings
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import find
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Position, Severity

REFUSED = "the broker does not start with this value, although the schema allows it"
_QUEUE_NUMBERS = {"max-consumers": parse_int, "group-buckets": parse_int, "consumers-before-dispatch": parse_int}
_QUEUE_LONGS = {"delay-before-dispatch": parse_long, "ring-size": parse_long}


def value_findings(document: Document, settings: EffectiveSettings) -> list[Finding]:
    """Return the findings about values that the reader of ``settings.core`` refuses."""
    if settings.core is None:
        return []
    if document.subsystems:
        return list(_out_of_range(settings.core, document.subsystems[0].kind))
    return list(_ValueChecks(document, settings.core).findings(settings))


def _out_of_range(core: ConfigNode, subsystem: Subsystem) -> Iterator[Finding]:
    """Yield findings for values outside the range that the application server itself accepts."""
    ranges = {row.setting: row for row in subsystem_settings(subsystem) if row.least or row.most}
    for node in core.children:
        row = ranges.get(node.name)
        if row is not None and not is_expression(node.text):
            why = _range_fault(node.text, row)
            if why:
                yield refused(
                    "bad-value",
                    node,
                    node.position,
                    f"{row.attribute}: {why}",
                    "write a value in that range",
                    "the application server does not start with this value",
                )


def _range_fault(text: str, row: SubsystemSetting) -> str:
    try:
        number = parse_long(text)
    except SizeError:
        # the schema says so
        return ""
    if (row.least and number < int(row.least)) or (row.most and number > int(row.most)):
        return f"'{number}' is out of range: " + (f"{row.least} to {row.most}" if row.most else f"{row.least} or more")
    return ""


# what literal-match-markers, which the rest of the file may set, make a name of
_BETWEEN_MARKERS = r"[^\w.#*].*[^\w.#*]"


class _ValueChecks:
    def __init__(self, document: Document, core: ConfigNode) -> None:
        self.document, self.core, self.edition = document, core, document.edition
        self.facts = reader_facts(self.edition)
        # thousands of address-settings say the same few things
        self.judged: dict[tuple[str, str, str], str] = {}
        self.first: dict[str, ConfigNode] = {}
        self.places: dict[str, list[ConfigNode]] = {}
        wanted = {where.rpartition("//")[2] for where in self.facts} | _BY_HAND
        for tag, nodes in core.by_tag().items():
            self.first[tag] = nodes[0]
            if tag in wanted:
                self.places[tag] = (
                    nodes if tag == "address-setting" else [node for node in nodes if not _is_unknown(node)]
                )

    def findings(self, settings: EffectiveSettings) -> Iterator[Finding]:
        for where, facts in self.facts.items():
            if where == "core":
                yield from self._core(facts)
            elif where == "address-setting":
                yield from self._address_settings(facts)
            else:
                yield from self._of_node(where, facts)
        for node, err in settings.refused:
            match = node.attributes.get("match", "")
            if is_expression(match) or (self.document.is_part and re.fullmatch(_BETWEEN_MARKERS, match)):
                continue
            at = node.attribute_position("match")
            yield refused(
                "match-refused",
                node,
                at,
                f"match '{node.attributes.get('match', '')}': {err}",
                "write a match as words with '*' for one word and '#' at the end",
            )
        yield from self._addresses()
        yield from self._transports()
        yield from self._retention()
        yield from self._wildcards()
        yield from self._passwords()

    def _passwords(self) -> Iterator[Finding]:
        """Yield findings for masked passwords that the broker's default codec cannot decode.

        Only the form of the hexadecimal digits is checked, not whether the cipher accepts them. A codec of its own, or
        an expression, cannot be checked.
        """
        mask = self.first.get("mask-password")
        # without the element, only values in ENC() are masked
        masks = None if mask is None else parse_boolean(mask.text)
        if self.edition < Edition.ARTEMIS_2_10 or "password-codec" in self.first or masks is False:
            return
        masked = [(self.first[name], "", trimmed(self.first[name].text)) for name in _MASKED if name in self.first]
        inside = [bridge.descendant("password") for bridge in self.places.get("bridge", ())]
        masked += [(node, "", node.text) for node in inside if node]
        for tag, names in _MASKED_ATTRIBUTES.items():
            if tag != _AMQP or self.edition >= Edition.ARTEMIS_2_28:
                nodes = self.places.get(tag, ())
                masked += [
                    (node, name, node.attributes[name]) for node in nodes for name in names if node.attributes.get(name)
                ]
        for node, attribute, text in masked:
            wrapped = text.startswith("ENC(") and text.endswith(")")
            if is_expression(text) or (not wrapped and (not masks or node.tag == _AMQP)):
                continue
            if not re.fullmatch(r"[+-]?[0-9A-Fa-f]+", text[4:-1] if wrapped and not masks else text):
                why, help = "is not the output of 'artemis mask'", "mask the password again"
                if wrapped and masks:
                    why, help = "is inside ENC(), but mask-password is true", "write the digits without ENC()"
                at = node.attribute_position(attribute) if attribute else node.position
                yield refused("bad-value", node, at, f"{attribute or node.name} {why}", help)

    def _wildcards(self) -> Iterator[Finding]:
        for place in self.places.get("wildcard-addresses", ())[:1]:
            for name in ("delimiter", "any-words", "single-word"):
                node = place.descendant(name)
                if node is not None and not trimmed(node.text):
                    yield refused("bad-value", node, node.position, f"{name} is empty", "write one character")

    def _core(self, facts: dict[str, ReaderFact]) -> Iterator[Finding]:
        for name, fact in facts.items():
            node = self.first.get(name)
            if node is not None:
                yield from self._value(fact, node, node.text)

    def _address_settings(self, facts: dict[str, ReaderFact]) -> Iterator[Finding]:
        for setting in self.places.get("address-setting", ()):
            for child in setting.children:
                fact = facts.get(child.tag)
                if fact is not None:
                    text = child.text
                    if self.judged.get((fact.where, fact.element, text)) != "":
                        yield from self._value(fact, child, text)

    def _of_node(self, where: str, facts: dict[str, ReaderFact]) -> Iterator[Finding]:
        inside, _, tag = where.rpartition("//")
        for place in self.places.get(tag, ()):
            if inside and not _is_below(place, inside):
                continue
            for name, fact in facts.items():
                if fact.is_attribute:
                    if place.attributes.get(name):
                        yield from self._value(fact, place, place.attributes[name], name)
                    continue
                node = place.descendant(name)
                if node is not None:
                    yield from self._value(fact, node, node.text)

    def _value(self, fact: ReaderFact, node: ConfigNode, text: str, attribute: str = "") -> Iterator[Finding]:
        if is_expression(text):
            return
        key = (fact.where, fact.element, text)
        why = self.judged.get(key)
        if why is None:
            why = self.judged[key] = fault(fact, text, self.edition)
        if why:
            at = node.attribute_position(attribute) if attribute else node.position
            name = attribute or node.name
            yield refused("bad-value", node, at, f"{name}: {masked(why, name)}", _advice(fact, name))

    def _addresses(self) -> Iterator[Finding]:
        if self.edition >= Edition.ARTEMIS_2_44:
            for node in self.places.get("address", ()):
                if _is_below(node, "addresses") and not node.children and not node.own_text and not node.raw_text:
                    name = node.attributes.get("name", "")
                    yield refused(
                        "address-without-routing-type",
                        node,
                        node.position,
                        f"address '{name}' has no routing type",
                        "put <anycast/> or <multicast/> inside",
                    )
        for node in self.places.get("queue", ()):
            for name, parse in (_QUEUE_NUMBERS | _QUEUE_LONGS).items():
                if name in node.attributes:
                    yield from self._queue_number(node, name, parse)

    def _queue_number(self, node: ConfigNode, name: str, parse: object) -> Iterator[Finding]:
        text = node.attributes[name]
        why = ""
        try:
            number = parse_int(text) if parse is parse_int else parse_long(text)
            if text != trimmed(text):
                why = "spaces around a number in an attribute"
            elif name == "max-consumers" and number < -1 and self.edition >= Edition.ARTEMIS_2_4:
                why = f"'{text}' is out of range: -1 or more is needed"
        except SizeError as err:
            why = str(err)
        if why:
            yield refused("bad-value", node, node.attribute_position(name), f"{name}: {why}", "write a plain number")

    def _transports(self) -> Iterator[Finding]:
        if self.document.kind is not FileKind.ARTEMIS:
            return
        for tag in ("acceptor", "connector"):
            for node in self.places.get(tag, ()):
                why = transports.fault(node, self.edition)
                left_out = self.document.is_part and node.text.lstrip().startswith(("...", "…"))
                if why and not left_out:
                    yield refused(
                        "bad-uri",
                        node,
                        node.position,
                        f"{tag} '{node.attributes.get('name', '')}': {why}",
                        "write it as tcp://host:port?name=value;name=value",
                    )
        for node in self.places.get("amqp-connection", ()):
            why = transports.connection_fault(node.attributes.get("uri", ""), node.attributes.get("name"), self.edition)
            if why:
                yield refused(
                    "bad-uri",
                    node,
                    node.attribute_position("uri"),
                    f"amqp-connection '{node.attributes.get('name', '')}': {why}",
                    "write it as tcp://host:port?name=value",
                )
        for node in self.places.get("cluster-connection-uri", ()):
            scheme = trimmed(node.attributes.get("address", "")).partition(":")[0]
            if scheme not in ("static", "multicast"):
                at = node.attribute_position("address")
                yield refused(
                    "bad-uri",
                    node,
                    at,
                    f"cluster-connection-uri: scheme '{scheme[:40]}' is unknown",
                    "write static:(…) or multicast://…",
                )

    def _retention(self) -> Iterator[Finding]:
        node = self.first.get("journal-retention-directory")
        if node is None or self.edition < Edition.ARTEMIS_2_28 or _is_unknown(node):
            return
        limit, period = node.attributes.get("storage-limit"), node.attributes.get("period", "")
        name = node.name
        if limit is not None:
            try:
                parse_size(limit, self.edition)
            except SizeError as err:
                at = node.attribute_position("storage-limit")
                yield refused("bad-value", node, at, f"storage-limit: {err}", "write a size such as 10G")
        if not trimmed(node.text):
            yield refused("bad-value", node, node.position, f"{name} is empty", "name a directory")
        elif (limit is None or trimmed(limit) == "-1") and not period:
            yield refused(
                "bad-value",
                node,
                node.position,
                f"{name} has neither period nor storage-limit",
                'add one, for example period="7" unit="DAYS" storage-limit="10G"',
            )


_AMQP = "amqp-connection"
_MASKED = ("cluster-password", "jdbc-user", "jdbc-password")
_MASKED_ATTRIBUTES = {
    "federation": ("password",),
    "upstream": ("password",),
    "downstream": ("password",),
    _AMQP: ("user", "password"),
}
_BY_HAND = {
    "cluster-connection-uri",
    "wildcard-addresses",
    "address-setting",
    "address",
    "queue",
    "acceptor",
    "bridge",
    "connector",
    "journal-retention-directory",
    *_MASKED_ATTRIBUTES,
}


def refused(rule: str, node: ConfigNode, at: Position, message: str, help: str, why: str = REFUSED) -> Finding:
    """Return an error that an element's value causes at start."""
    return Finding(at, Severity.ERROR, rule, message, node.path, help, why, stops_start=True)


def _is_unknown(node: ConfigNode) -> bool:
    """Return whether something of the element itself is known to the running broker alone."""
    return is_expression(node.own_text) or any(map(is_expression, node.attributes.values()))


def _is_below(node: ConfigNode, tag: str) -> bool:
    return any(above.tag == tag for above in node.ancestors())


def _advice(fact: ReaderFact, name: str) -> str:
    settings = find(name)
    if settings and settings[0].allowed:
        return f"{name} takes {settings[0].allowed}" + (f" ({settings[0].unit})" if settings[0].unit else "")
    if fact.read_as.startswith("bytes"):
        return "write a whole number, or one with K, M or G after it: 512K, 10M, 2G"
    return "write a value in that range" if fact.check else "write a whole number"
