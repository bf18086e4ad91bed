"""What the schema of an edition says about each element of a document."""

from __future__ import annotations

from collections import Counter

from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.subsystems import Subsystem
from brokerconf.schema.schema_facts import SchemaFact, members, root_type
from pagefmt.editions import Edition


class SchemaPlaces:
    """Elements and attributes that the schema of a document's edition allows at each place."""

    def __init__(self, document: Document) -> None:
        self.schema: Edition | Subsystem = document.edition
        self.tops = {id(document.core): "core", id(document.jms): "jms"}
        if document.subsystems:
            self.schema = document.subsystems[0].kind
            self.tops = {id(subsystem.node): "subsystem" for subsystem in document.subsystems}
        self._types: dict[int, tuple[str, str] | None] = {}

    def type_of(self, node: ConfigNode) -> tuple[str, str] | None:
        """Return (schema document, type) of an element, or None if the schema has no such element."""
        if id(node) in self.tops:
            document = self.tops[id(node)]
            return document, root_type(self.schema, document)
        if id(node) not in self._types:
            self._types[id(node)] = self._from_parent(node)
        return self._types[id(node)]

    def _from_parent(self, node: ConfigNode) -> tuple[str, str] | None:
        above = self.type_of(node.parent) if node.parent else None
        fact = members(self.schema, above[0]).get(above[1], {}).get(node.name) if above else None
        return (above[0], fact.type_name) if above and fact and fact.type_name else None

    def _members(self, node: ConfigNode) -> dict[str, SchemaFact]:
        kind = self.type_of(node)
        return members(self.schema, kind[0]).get(kind[1], {}) if kind else {}

    def elements(self, node: ConfigNode) -> list[str]:
        """Return the names of the elements allowed in an element."""
        return [name for name in self._members(node) if not name.startswith("@")]

    def in_sequence(self, node: ConfigNode) -> bool:
        """Return whether the schema orders the children of an element."""
        return any("sequence" in fact.group for fact in self._members(node).values())

    def missing(self, node: ConfigNode) -> list[tuple[str, ...]]:
        """Return the required elements that an element lacks, each with its alternatives."""
        there = Counter(child.name for child in node.children)
        alternatives: dict[str, list[SchemaFact]] = {}
        for name, fact in self._elements(node).items():
            alternatives.setdefault(fact.use or _choice_of(fact) or name, []).append(fact)
        return [
            tuple(fact.name for fact in facts)
            for facts in alternatives.values()
            if all(_is_required(fact) for fact in facts)
            and not any(there[fact.name] >= int(fact.min or 1) for fact in facts)
        ]

    def out_of_order(self, node: ConfigNode) -> tuple[list[str], list[str]]:
        """Return the names of siblings that an element should follow but precedes, and of those it should precede."""
        parent = node.parent
        ranks: dict[str, int] = {}
        named: dict[str, int] = {}
        for number, (name, fact) in enumerate(self._elements(parent).items() if parent else ()):
            ranks[name] = named.setdefault(fact.use or _choice_of(fact) or name, number)
        siblings = [child for child in parent.children if child.name in ranks] if parent else []
        if not any(child is node for child in siblings):
            return [], []
        at, mine = next(n for n, child in enumerate(siblings) if child is node), ranks[node.name]
        before = [child.name for child in siblings[at + 1 :] if ranks[child.name] < mine]
        after = [child.name for child in siblings[:at] if ranks[child.name] > mine]
        return list(dict.fromkeys(before)), list(dict.fromkeys(after))

    def _elements(self, node: ConfigNode) -> dict[str, SchemaFact]:
        return {
            name: fact
            for name, fact in self._members(node).items()
            if not name.startswith("@") and fact.type != "abstract"
        }

    def attributes(self, node: ConfigNode) -> list[str]:
        """Return the names of the attributes allowed at an element."""
        return [name[1:] for name in self._members(node) if name.startswith("@")]

    def fact(self, node: ConfigNode, attribute: str = "") -> SchemaFact | None:
        """Return the schema row of an attribute or, without one, of the element itself; None if there is none."""
        if attribute:
            return self._members(node).get(f"@{attribute}")
        return self._members(node.parent).get(node.name) if node.parent else None

    def owners(self, name: str) -> list[str]:
        """Return the names of elements that may have a child of that name, the most likely first."""
        types = members(self.schema)
        owning = {owner for owner, inside in types.items() if name in inside}
        names = {f.name for inside in types.values() for f in inside.values() if f.type_name in owning}
        if root_type(self.schema) in owning:
            return ["core", *sorted(names)]
        return sorted(names, key=lambda owner: (owner != "address-setting", owner))


def _choice_of(fact: SchemaFact) -> str:
    """Return the outermost choice that an element is an alternative of, or an empty string."""
    parts = fact.group.split("/")
    number = next((n for n, part in enumerate(parts) if part.startswith("choice")), None)
    return "" if number is None else "/".join(parts[: number + 1])


def _is_required(fact: SchemaFact) -> bool:
    return fact.min != "0" and "[0" not in fact.group
