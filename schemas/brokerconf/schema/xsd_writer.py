"""Generator of our XSD files from the facts.

For each edition of Artemis ``server.xsd`` (the whole file), ``core.xsd`` and ``jms.xsd``; for HornetQ ``core.xsd`` and
``jms.xsd``. They give the verdicts of the broker's own schemas: same names, types, occurrence, order and defaults.
For a messaging subsystem of an application server the schema of that version, generated when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.sax.saxutils import quoteattr

from brokerconf.reading.subsystems import Subsystem
from brokerconf.schema.schema_facts import SchemaFact, facts_of
from pagefmt.editions import Edition

XS = "http://www.w3.org/2001/XMLSchema"
NAMESPACES = {"core": "urn:activemq:core", "jms": "urn:activemq:jms"}
SERVER = "urn:activemq"
HORNETQ = "urn:hornetq"
_COMPOSITOR = re.compile(r"(sequence|choice|all)(?:\[(\d+)\.\.(\d+|\*)\])?")
_NOTE = "<!-- Made from facts/schema.csv: change that, not this. -->"


def documents(edition: Edition) -> dict[str, str]:
    """Return the schemas of one edition by file name."""
    hornetq = edition is Edition.HORNETQ_2_4
    texts = {
        f"{name}.xsd": _document(edition, f"hq-{name}" if hornetq else name, HORNETQ if hornetq else NAMESPACES[name])
        for name in NAMESPACES
    }
    return texts if hornetq else texts | {"server.xsd": _server()}


def of_subsystem(subsystem: Subsystem) -> str:
    """Return the schema of a version of a messaging subsystem."""
    return _document(subsystem, subsystem.product, subsystem.namespace)


def _server() -> str:
    """Return the schema of the document element, which holds elements of other namespaces, all of them known."""
    lines = [
        f"<xs:import namespace={quoteattr(uri)} schemaLocation={quoteattr(f'{name}.xsd')}/>"
        for name, uri in NAMESPACES.items()
    ]
    any_other = '<xs:any namespace="##other" processContents="strict" maxOccurs="unbounded"/>'
    lines += [
        '<xs:element name="configuration">',
        "<xs:complexType>",
        f"<xs:sequence>{any_other}</xs:sequence>",
        "</xs:complexType>",
        "</xs:element>",
    ]
    return _schema(SERVER, lines)


def _schema(namespace: str, lines: Iterable[str]) -> str:
    head = (
        f'<xs:schema xmlns:xs="{XS}" xmlns:t={quoteattr(namespace)} targetNamespace={quoteattr(namespace)}'
        ' elementFormDefault="qualified" version="1.0">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, _NOTE, *_indented(lines), "</xs:schema>", ""])


def _indented(lines: Iterable[str]) -> Iterator[str]:
    depth = 1
    for line in lines:
        closes = line.startswith("</")
        depth -= closes
        yield "  " * depth + line
        opens = not closes and not line.endswith("/>") and "</" not in line
        depth += opens


def _document(edition: Edition | Subsystem, document: str, namespace: str) -> str:
    rows = [fact for fact in facts_of(edition) if fact.document == document]
    lines: list[str] = []
    if any(fact.xml for fact in rows):
        lines.append('<xs:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="../xml.xsd"/>')
    for fact in rows:
        if fact.kind in ("root", "global"):
            lines += _global(fact)
    by_owner: dict[str, list[SchemaFact]] = {}
    for fact in rows:
        if fact.kind not in ("root", "global"):
            by_owner.setdefault(fact.owner, []).append(fact)
    for owner, members in by_owner.items():
        lines += _type(owner, members)
    return _schema(namespace, lines)


def _global(fact: SchemaFact) -> list[str]:
    if fact.type == "abstract":
        return [f'<xs:element name={quoteattr(fact.name)} abstract="true"/>']
    stands_for = f' substitutionGroup="t:{fact.use}"' if fact.use else ""
    return [f"<xs:element name={quoteattr(fact.name)} type={quoteattr(_qualified(fact))}{stands_for}/>"]


def _qualified(fact: SchemaFact) -> str:
    return f"t:{fact.type_name}" if fact.type_name else f"xs:{fact.type}"


def _type(name: str, members: list[SchemaFact]) -> Iterator[str]:
    own = next(fact for fact in members if fact.kind == "type")
    attributes = [line for fact in members if fact.kind == "attribute" for line in _attribute(fact)]
    if own.xml:
        attributes.append('<xs:attributeGroup ref="xml:specialAttrs"/>')
    if own.type.startswith("simple "):
        yield from _simple_content(name, own, attributes)
        return
    yield f"<xs:complexType name={quoteattr(name)}>"
    elements = [fact for fact in members if fact.kind == "element" and not fact.use]
    yield from _particles(elements, 0)
    yield from attributes
    yield "</xs:complexType>"


def _simple_content(name: str, own: SchemaFact, attributes: list[str]) -> Iterator[str]:
    base = f"xs:{own.type.removeprefix('simple ')}"
    if own.enum:
        yield f"<xs:simpleType name={quoteattr(name + '.value')}>"
        yield from _restriction(base, own.enum)
        yield "</xs:simpleType>"
        base = f"t:{name}.value"
    yield f"<xs:complexType name={quoteattr(name)}>"
    yield "<xs:simpleContent>"
    yield f"<xs:extension base={quoteattr(base)}>"
    yield from attributes
    yield "</xs:extension>"
    yield "</xs:simpleContent>"
    yield "</xs:complexType>"


def _particles(elements: list[SchemaFact], depth: int) -> Iterator[str]:
    """Yield the elements of one compositor; neighbours that share a nested compositor are written inside it."""
    for step, run in groupby(elements, key=lambda fact: _step(fact, depth)):
        members = list(run)
        if not step:
            for fact in members:
                yield from _element(fact)
            continue
        compositor = _COMPOSITOR.fullmatch(step.partition("#")[0])
        assert compositor, f"{members[0].owner}: {step}"
        kind, low, high = compositor.groups()
        yield f"<xs:{kind}{_occurs(low or '1', high or '1')}>"
        yield from _particles(members, depth + 1)
        yield f"</xs:{kind}>"


def _step(fact: SchemaFact, depth: int) -> str:
    steps = fact.group.split("/")
    return steps[depth] if depth < len(steps) else ""


def _occurs(low: str, high: str) -> str:
    high = "unbounded" if high == "*" else high
    return ("" if low == "1" else f' minOccurs="{low}"') + ("" if high == "1" else f' maxOccurs="{high}"')


def _element(fact: SchemaFact) -> Iterator[str]:
    occurs = _occurs(fact.min, fact.max)
    if fact.type == "abstract":
        yield f"<xs:element ref={quoteattr('t:' + fact.name)}{occurs}/>"
    else:
        yield from _declaration("element", fact, _default(fact) + occurs)


def _attribute(fact: SchemaFact) -> Iterator[str]:
    return _declaration("attribute", fact, (' use="required"' if fact.use == "required" else "") + _default(fact))


def _default(fact: SchemaFact) -> str:
    return f" default={quoteattr(fact.default)}" if fact.default else ""


def _declaration(kind: str, fact: SchemaFact, properties: str) -> Iterator[str]:
    """Yield an element or attribute with a named type, or with an anonymous one if the fact lists its values."""
    head = f"<xs:{kind} name={quoteattr(fact.name)}"
    if not fact.enum:
        yield f"{head} type={quoteattr(_qualified(fact))}{properties}/>"
        return
    yield f"{head}{properties}>"
    yield "<xs:simpleType>"
    yield from _restriction(_qualified(fact), fact.enum)
    yield "</xs:simpleType>"
    yield f"</xs:{kind}>"


def _restriction(base: str, enum: str) -> Iterator[str]:
    yield f"<xs:restriction base={quoteattr(base)}>"
    for word in enum.split("|"):
        yield f"<xs:enumeration value={quoteattr(word)}/>"
    yield "</xs:restriction>"
