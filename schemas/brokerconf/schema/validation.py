"""Verdict of an XSD on a document, as the broker's own validator (Xerces) gives it.

The tools:

- **lxml** (libxml2) gives every verdict: on the files compared it agrees with Xerces, except that a reference to a name
  that does not exist (``cvc-id.1``) passes libxml2; that is checked here.
- **xmlschema** gives none: it misreads a comment inside a value and stray CDATA, and is slow to start. The tests read
  our XSDs with it as well, to see that they are sound and contain what the facts say.

There are two verdicts: ``document``, the whole file against the schema of the document element, and ``broker``, the
``core`` and ``jms`` elements alone, which is all that the broker checks (docs/spec/config-behaviour.md, steps 4 and 5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from brokerconf.reading.document import ConfigNode, Document, FileKind
from brokerconf.reading.substitution import is_expression
from brokerconf.reading.subsystems import Subsystem
from brokerconf.schema.schema_facts import SchemaFact, members, root_type
from brokerconf.schema.schema_places import SchemaPlaces
from brokerconf.schema.xsd_files import path_of
from pagefmt.editions import Edition

if TYPE_CHECKING:
    from lxml.etree import XMLSchema, _Element


# Faults after which one check stops: more than anyone reads.
MOST_FAULTS = 2_000
CORE = "urn:activemq:core"
HORNETQ = "urn:hornetq"


class Violation(NamedTuple):
    """Fault of a document: ``rule`` by the XSD recommendation (``cvc-…``); ``text`` is the checker's own sentence."""

    rule: str
    node: ConfigNode
    attribute: str
    value: str
    expected: tuple[str, ...]
    text: str


class Schemas(NamedTuple):
    """Schemas of one broker: for the whole document, and for ``core`` and ``jms`` alone; ``name`` is the broker."""

    name: str
    edition: Edition
    document: XMLSchema
    # loaded when a document has faults: only then are its parts looked at by themselves
    load_core: Callable[[], XMLSchema]
    load_jms: Callable[[], XMLSchema | None]

    @property
    def core(self) -> XMLSchema:
        """Return the schema of ``core``."""
        return self.load_core()

    @property
    def jms(self) -> XMLSchema | None:
        """Return the schema of ``jms``, or None if the broker has none."""
        return self.load_jms()


class SchemaVerdict(NamedTuple):
    """Faults of the two checks, ``document`` and ``broker``; ``schema`` is the schemas' name for the report."""

    schema: str
    document: tuple[Violation, ...]
    broker: tuple[Violation, ...]

    @property
    def valid(self) -> bool:
        """Return whether the whole document is valid."""
        return not self.document

    @property
    def cut(self) -> bool:
        """Return whether there may be more faults than ``MOST_FAULTS``, where checking stopped."""
        return max(len(self.document), len(self.broker)) >= MOST_FAULTS


@cache
def schemas_of(edition: Edition) -> Schemas:
    """Return our own schemas of an edition."""
    if edition is Edition.HORNETQ_2_4:
        core = _own(edition, "core.xsd")
        return Schemas(edition.value, edition, core, lambda: core, lambda: None)
    return Schemas(
        edition.value,
        edition,
        _own(edition, "server.xsd"),
        partial(_own, edition, "core.xsd"),
        partial(_own, edition, "jms.xsd"),
    )


@cache
def _own(edition: Edition, name: str) -> XMLSchema:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    return etree.XMLSchema(etree.parse(str(path_of(edition, name)), parser))


def judge(document: Document, schemas: Schemas | None = None) -> SchemaVerdict:
    """Return the verdicts of the document's and the broker's schema.

    Of an application server's file only the messaging subsystems are checked.
    """
    if document.kind.of_application_server:
        return _judge_subsystems(document)
    schemas = schemas or schemas_of(document.edition)
    tree = document.tree
    if tree is None:
        return SchemaVerdict("", (), ())
    whole = tuple(_violations(document, schemas.document, tree, document.root))
    has_own_namespace = document.core is not None and document.core.namespace in (CORE, HORNETQ)
    dangling = tuple(_dangling(document.core, document.edition)) if document.core and has_own_namespace else ()
    if document.kind is FileKind.HORNETQ:
        return SchemaVerdict(schemas.name, whole + dangling, whole + dangling)
    return SchemaVerdict(schemas.name, whole + dangling, tuple(_broker(document, schemas, whole)) + dangling)


def _judge_subsystems(document: Document) -> SchemaVerdict:
    """Check messaging subsystems: first the order of elements, then, with them sorted, everything else.

    Application servers accept any order, so a wrong order must not hide other faults.
    """
    violations: list[Violation] = []
    places = SchemaPlaces(document)
    for kind, node, _ in document.subsystems:
        element = element_of(document, node)
        violations += _put_in_order(node, element, places)
        violations += _violations(document, _of_subsystem(kind), element, node)
    name = document.subsystems[0].kind.namespace if document.subsystems else ""
    return SchemaVerdict(name, tuple(violations), tuple(violations))


ORDER = "order"


def _put_in_order(node: ConfigNode, element: _Element, places: SchemaPlaces) -> Iterator[Violation]:
    """Sort the children of node and element by the schema; yield the first child of each parent that came too late."""
    children = list(zip(node.children, element.iterchildren("*"), strict=True))
    ranks = {name: rank for rank, name in enumerate(places.elements(node))}
    ranked = [(ranks[child.name], child) for child, _ in children if child.name in ranks]
    late = next((child for (before, _), (rank, child) in pairwise(ranked) if rank < before), None)
    if late is not None and places.in_sequence(node):
        yield Violation(ORDER, late, "", "", (), "")
        children.sort(key=lambda pair: ranks.get(pair[0].name, len(ranks)))
        node.children[:] = [child for child, _ in children]
        element[:] = [child_element for _, child_element in children]
    for child, child_element in children:
        yield from _put_in_order(child, child_element, places)


@cache
def _of_subsystem(kind: Subsystem) -> XMLSchema:
    from lxml import etree

    from brokerconf.schema.xsd_writer import of_subsystem

    return etree.XMLSchema(etree.fromstring(of_subsystem(kind).encode()))


def _broker(document: Document, schemas: Schemas, whole: tuple[Violation, ...]) -> Iterator[Violation]:
    """Yield the violations that the broker's check reports; a document without any fault has none in its parts."""
    if not whole and document.root.name == "configuration":
        return
    if document.core is not None:
        yield from _violations(document, schemas.core, element_of(document, document.core), document.core)
    jms = schemas.jms if document.jms is not None else None
    if document.jms is not None and jms is not None:
        yield from _violations(document, jms, element_of(document, document.jms), document.jms)


def element_of(document: Document, node: ConfigNode) -> _Element:
    """Return the XML element of a document's node."""
    assert document.tree is not None
    steps: list[int] = []
    while node.parent is not None:
        steps.append(next(n for n, sibling in enumerate(node.parent.children) if sibling is node))
        node = node.parent
    element = document.tree
    for step in reversed(steps):
        element = list(element.iterchildren("*"))[step]
    return element


def _violations(document: Document, schema: XMLSchema, tree: _Element, top: ConfigNode) -> Iterator[Violation]:
    if tree is not document.tree:
        # a check of a part must not see what stands around it
        tree = deepcopy(tree)
        tree.tail = None
    entries = _entries(schema, tree, document.widest)
    if entries:
        places = SchemaPlaces(document)
        faults = (_violation(entry, top, places) for entry in entries)
        yield from (fault for fault in faults if not _is_unknown(fault))


# faults of the structure, whatever the values are
_STRUCTURE = ("cvc-complex-type", "cvc-elt", "cvc-type.3.1.1", "cvc-type.3.1.2")


def _is_unknown(fault: Violation) -> bool:
    """Return whether a fault is about a value that only the running broker knows.

    An expression that a comment or an entity divides in the file is none to the broker: it replaces before it parses.
    """
    node, of_attribute = fault.node, fault.attribute in fault.node.attributes
    left = is_expression(node.attributes[fault.attribute] if of_attribute else node.own_text)
    return left and not fault.rule.startswith(_STRUCTURE) and (of_attribute or is_expression(node.raw_text))


def _entries(schema: XMLSchema, tree: _Element, widest: int) -> list[Any]:
    """Return the first faults of a tree, at most ``MOST_FAULTS``.

    For each fault libxml2 counts the siblings before it, which is quadratic. So only the first children of each element
    are checked, then four times as many, until there are enough faults. ``widest`` is the largest number of children.
    """
    first = MOST_FAULTS
    while first < widest // 4:
        beginning = deepcopy(tree)
        for element in beginning.iter("*"):
            if len(element) > first:
                del element[first:]
        faults = _faults(schema, beginning)
        if len(faults) == MOST_FAULTS:
            return faults
        first *= 4
    return _faults(schema, tree)


def _faults(schema: XMLSchema, tree: _Element) -> list[Any]:
    return [] if schema.validate(tree) else list(islice(cast(Any, schema.error_log), MOST_FAULTS))


def _violation(entry: Any, top: ConfigNode, places: SchemaPlaces) -> Violation:
    node = _node_at(entry.path, top)
    text = _plain(entry.message)
    attribute = re.search(r"attribute '([^']*)'", text)
    value = re.search(r"'([^']*)' is not a(?:n element of the set| valid value)", text)
    name = attribute.group(1) if attribute else ""
    rule = _rule(entry.type_name, text, value.group(1) if value else "")
    expected = re.search(r"Expected is(?: one of)? \( (.*?) \)", text)
    return Violation(
        _refined(rule, node, name, text, places),
        node,
        name,
        value.group(1) if value else "",
        tuple(expected.group(1).split(", ")) if expected else (),
        text,
    )


def _refined(rule: str, node: ConfigNode, attribute: str, text: str, places: SchemaPlaces) -> str:
    """Return the rule as the broker's validator names it, in cases that libxml2 does not distinguish."""
    if rule == "cvc-datatype-valid.1.2.1":
        fact = places.fact(node, attribute)
        number = re.fullmatch(_WHOLE, node.attributes.get(attribute, "") if attribute else node.text)
        if number and fact is not None and fact.type in ("int", "long"):
            return "cvc-minInclusive-valid" if number.group(1) == "-" else "cvc-maxInclusive-valid"
    if rule == "cvc-complex-type.2.4.a" and "Expected" not in text and _is_complete(places.fact(node)):
        return "cvc-complex-type.2.4.d"
    return rule


def _is_complete(fact: SchemaFact | None) -> bool:
    """Return whether no sibling can follow an element, because it is the parent's only choice."""
    return fact is not None and fact.group == "choice" and fact.max == "1"


_WHOLE = r"[ \t\r\n]*([+-]?)[0-9]+[ \t\r\n]*"


def _plain(message: str) -> str:
    """Return the message without namespaces in braces; other braces are the file's own."""
    return re.sub(r"\{(?:urn:|https?://)[^{}\s]*\}", "", message)


def _node_at(path: str | None, top: ConfigNode) -> ConfigNode:
    """Return the node of libxml2's path: ``*[3]`` is the third child, ``p:name[2]`` the second of that tag."""
    node = top
    for step in (path or "").split("/")[2:]:
        match = re.fullmatch(_STEP, step)
        if match is None:
            break
        tag, number = match.group(1), int(match.group(2) or 1)
        among = node.children if tag == "*" else [child for child in node.children if child.tag == tag]
        if number > len(among):
            break
        node = among[number - 1]
    return node


_STEP = r"([^\[\]]+)(?:\[(\d+)\])?"
_NAME = r"[^\W\d][\w.-]*"
_CONTENT = "SCHEMAV_ELEMENT_CONTENT"


def _rule(type_name: str, text: str, value: str) -> str:
    """Return libxml2's name of a fault in the words of the recommendation."""
    if "'xs:ID'" in text and re.fullmatch(_NAME, value):
        # a good name that is refused stands in the document twice
        return "cvc-id.2"
    if type_name == _CONTENT:
        return "cvc-complex-type.2.4.b" if "Missing child" in text else "cvc-complex-type.2.4.a"
    name = type_name.removeprefix("SCHEMAV_")
    if not name.startswith("CVC_"):
        return f"xsd-{name.lower().replace('_', '-')}"
    parts = re.fullmatch(r"CVC_([A-Z_]+?)((?:_\d+)*)", name)
    assert parts
    words = parts.group(1).lower().replace("_", "-")
    rule = f"cvc-{words}" + parts.group(2).replace("_", ".")
    if rule == "cvc-elt.1":
        return "cvc-complex-type.2.4.c" if "strict wildcard" in text else "cvc-elt.1.a"
    # an attribute that is not declared: the other validator tells it by the missing wildcard
    return "cvc-complex-type.3.2.2" if rule == "cvc-complex-type.3.2.1" else rule


def _dangling(core: ConfigNode, edition: Edition) -> Iterator[Violation]:
    """Yield references (IDREF) to names (ID) that occur nowhere in the document."""
    if not any(node.name == REFERRING_ELEMENT or REFERRING_ATTRIBUTE in node.attributes for node in core.walk()):
        return  # most documents have none, and the table of types need not be read
    typed_names = list(_typed_names(core, root_type(edition), edition))
    names = {value for _, _, value, base in typed_names if base == "ID"}
    if any(map(is_expression, names)):
        return
    for node, attribute, value, base in typed_names:
        if base == "IDREF" and value not in names and not is_expression(value):
            text = f"nothing in this file is named '{value}'"
            yield Violation("cvc-id.1", node, attribute, value, tuple(sorted(names)), text)


def _typed_names(node: ConfigNode, type_name: str, edition: Edition) -> Iterator[tuple[ConfigNode, str, str, str]]:
    """Yield (node, attribute or "", value, ``ID`` or ``IDREF``) for values that the schema declares as such."""
    types, leading = members(edition), _leading_to_names(edition)
    for name, fact in types.get(type_name, {}).items():
        if name.startswith("@") and fact.type in _NAMES and name[1:] in node.attributes:
            yield node, name[1:], " ".join(node.attributes[name[1:]].split()), fact.type
    for child in node.children:
        child_fact = types.get(type_name, {}).get(child.name)
        if child_fact is None:
            continue
        if child_fact.type in _NAMES:
            yield child, "", " ".join(child.text.split()), child_fact.type
        elif child_fact.type_name in leading:
            yield from _typed_names(child, child_fact.type_name, edition)


_NAMES = ("ID", "IDREF")
# the only names of the type IDREF in any edition
REFERRING_ELEMENT = "queue-name"
REFERRING_ATTRIBUTE = "discovery-group-name"


@cache
def _leading_to_names(edition: Edition) -> frozenset[str]:
    """Return the types with an ID or IDREF somewhere below them; all others can be skipped."""
    types = members(edition)
    leading = {owner for owner, inside in types.items() if any(fact.type in _NAMES for fact in inside.values())}
    while True:
        more = {
            owner for owner, inside in types.items() if any(fact.type_name in leading for fact in inside.values())
        } - leading
        if not more:
            return frozenset(leading)
        leading |= more
