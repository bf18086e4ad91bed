"""What the broker accepts silently inside ``core`` and reads differently.

Elements are looked up by tag, so that one pass serves all checks.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.checks.reader_facts import reader_facts
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.repairs import without_element
from brokerconf.reading.secrets import masked
from brokerconf.reading.sizes import SizeError, parse_size, trimmed
from brokerconf.schema.schema_facts import members
from brokerconf.schema.schema_places import SchemaPlaces
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Position, Severity, did_you_mean

# In the schemas, and read nowhere in any release; the second is the element it must stand in.
_NEVER_READ = {
    ("log-delegate-factory-class-name", "core"),
    ("message-expiry-thread-priority", "core"),
    ("failover-on-server-shutdown", "bridge"),
    ("scale-down-connector", "cluster-connection"),
    ("key-transformer", "connection-router"),
    ("max-sessions", "resource-limit-setting"),
    *(("share-connection", stream) for stream in ("upstream", "downstream")),
    *(("failback-delay", policy) for policy in ("slave", "backup", "master", "primary")),
}
_ROUTING = "wild-card-routing-enabled"
_SPOKEN_OF = {name for name, _ in _NEVER_READ} | {_ROUTING, "connector", "permission"}
_PERMISSIONS = {
    "send",
    "consume",
    "createDurableQueue",
    "deleteDurableQueue",
    "createNonDurableQueue",
    "deleteNonDurableQueue",
    "createTempQueue",
    "deleteTempQueue",
    "manage",
    "browse",
    "createAddress",
    "deleteAddress",
    "view",
    "edit",
}


# rule: why it matters
_WHY = {
    "boolean-one": "the schema accepts 1 as true, but the broker's reader recognises only the word",
    "size-overflow": "the product does not fit into 64 bits and overflows silently",
    "unknown-permission": "the broker logs a warning and grants nothing",
}


def warning(rule: str, node: ConfigNode, message: str, help: str, why: str = "", at: Position | None = None) -> Finding:
    """Return a warning about an element, positioned at its start tag unless ``at`` is given."""
    return Finding(at or node.position, Severity.WARNING, rule, message, node.path, help, why or _WHY[rule])


class SilentlyAccepted:
    """Warnings about the elements of one ``core``."""

    def __init__(self, document: Document, core: ConfigNode) -> None:
        self.document, self.core, self.edition = document, core, document.edition
        self.places = SchemaPlaces(document)
        self.sizes = {
            name
            for facts in reader_facts(self.edition).values()
            for name, fact in facts.items()
            if fact.read_as.startswith("bytes")
        }
        self.connectors: dict[str, ConfigNode] = {}
        facts = [(name, fact) for inside in members(self.edition).values() for name, fact in inside.items()]
        self.booleans = {name for name, fact in facts if fact.type == "boolean"}
        owners = {fact.owner for name, fact in facts if fact.type == "boolean" and name.startswith("@")}
        self.with_booleans = {name for name, fact in facts if fact.type_name in owners}

    def findings(self) -> Iterator[Finding]:
        """Yield all warnings for this ``core``, by element name."""
        for nodes in self.core.by_tag().values():
            name = nodes[0].name
            if name in self.booleans or name in self.sizes:
                yield from self._values(nodes)
            if name in _SPOKEN_OF:
                for node in nodes:
                    if self.places.fact(node) is not None and node.parent is not None:
                        yield from self._by_name(node, node.parent)
            if name in self.with_booleans:
                yield from self._attributes(nodes)
        yield from self._taken_from_below()

    def _values(self, nodes: list[ConfigNode]) -> Iterator[Finding]:
        """Yield warnings about values, checking each distinct text once: thousands of elements share a few texts."""
        odd: dict[str, bool] = {}
        for node in nodes:
            text = node.text
            if text not in odd:
                odd[text] = trimmed(text) == "1" or self._overflows(text)
            fact = self.places.fact(node) if odd[text] else None
            if fact is not None and fact.type == "boolean":
                yield from self._boolean(node, text, node.position, node.name)
            elif fact is not None and node.name in self.sizes:
                yield from self._size(node)

    def _attributes(self, nodes: list[ConfigNode]) -> Iterator[Finding]:
        for node in nodes:
            for name, value in node.attributes.items():
                if trimmed(value) == "1":
                    fact = self.places.fact(node, name)
                    if fact is not None and fact.type == "boolean":
                        yield from self._boolean(node, value, None, name)

    def _overflows(self, text: str) -> bool:
        try:
            return parse_size(text, self.edition).overflowed
        except SizeError:
            return False

    def _boolean(self, node: ConfigNode, text: str, at: Position | None, name: str) -> Iterator[Finding]:
        if trimmed(text) == "1":
            at = at or node.attribute_position(name)
            yield warning("boolean-one", node, f"{name} 1 is read as false", "write true", at=at)

    def _size(self, node: ConfigNode) -> Iterator[Finding]:
        try:
            size = parse_size(node.text, self.edition)
        except SizeError:
            return
        if size.overflowed:
            message = f"{node.name} {trimmed(node.text)} overflows to {size.value} bytes"
            yield warning("size-overflow", node, message, "write a smaller size")

    def _by_name(self, node: ConfigNode, parent: ConfigNode) -> Iterator[Finding]:
        name = node.name
        unread_routing = name == _ROUTING and parent is self.core and self.edition > Edition.ARTEMIS_1_5
        if ((name, parent.name) in _NEVER_READ and self.edition > Edition.HORNETQ_2_4) or unread_routing:
            why = "use wildcard-addresses/routing-enabled" if unread_routing else "the setting has no effect"
            finding = warning("never-read", node, f"{name} is allowed and never read", "remove it", why)
            yield finding._replace(fix=without_element(node))
        elif name == "connector" and parent.name == "connectors":
            yield from self._connector(node)
        elif name == "permission" and "type" in node.attributes:
            yield from self._permission(node)

    def _connector(self, node: ConfigNode) -> Iterator[Finding]:
        name = node.attributes.get("name", "")
        first = self.connectors.setdefault(name, node)
        if first is not node:
            message, why = (
                f"a second connector '{name}' is ignored",
                f"the first one, in line {first.position.line}, is used",
            )
            yield warning("duplicate-connector", node, message, "give it a name of its own", why)

    def _permission(self, node: ConfigNode) -> Iterator[Finding]:
        kind = node.attributes["type"]
        if kind not in _PERMISSIONS:
            message = f"permission '{masked(kind)}' is unknown and has no effect"
            help = did_you_mean(kind, _PERMISSIONS, f"known are {', '.join(sorted(_PERMISSIONS))}")
            yield warning("unknown-permission", node, message, help, at=node.attribute_position("type"))

    def _taken_from_below(self) -> Iterator[Finding]:
        """Yield warnings for broker settings that the reader takes from a nested element, because it comes first."""
        wanted = set(reader_facts(self.edition).get("core", {})) | {"name"}
        direct = {child.name for child in self.core.children}
        first = {tag: nodes[0] for tag, nodes in self.core.by_tag().items() if tag in wanted}
        for name, node in first.items():
            if node.parent is not self.core:
                consequence = "the one directly in <core> is ignored" if name in direct else "none is given in <core>"
                message = f"{name} of this element is read as the broker's own {name}"
                why = f"the reader takes the first at any depth: {consequence}"
                yield warning("taken-for-broker", node, message, f"put {name} into <core> above this element", why)
