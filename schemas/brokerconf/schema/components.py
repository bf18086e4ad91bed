"""Allowed structure: the component model of an edition's XSDs, as xmlschema reads them.

Names are local ones: what an editor or a person writes before the namespaces are right. Loading takes a quarter of a
second, so a model is loaded when it is first needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import groupby, islice
from typing import Any, NamedTuple

from brokerconf.schema.schema_facts import SchemaFact, members, root_type
from brokerconf.schema.xsd_files import path_of
from pagefmt.editions import Edition

Steps = tuple[str, ...]
Occurrence = tuple[int, int | None]
CONFIGURATION = "configuration"


class ValueComponent(NamedTuple):
    """Type of a value: ``type`` by XSD's name, ``words`` of an enumeration, the schema's ``default``."""

    type: str
    words: tuple[str, ...]
    default: str | None


class AttributeComponent(NamedTuple):
    """Attribute as the schema declares it."""

    name: str
    value: ValueComponent
    required: bool


class ElementComponent:
    """Element at one place: ``path`` begins at ``core``, ``jms`` or HornetQ's ``configuration``.

    ``particle`` represents it in the content model ``group``: the element itself, or its substitution group's head.
    """

    def __init__(self, path: Steps, declaration: Any, group: Any = None, particle: Any = None) -> None:
        self.path = path
        self.declaration = declaration
        self._group, self._particle = group, particle
        self._content: Any = declaration.type.content if declaration.type.has_complex_content() else ()

    @property
    def name(self) -> str:
        """Return the local name of the element."""
        return self.path[-1]

    @cached_property
    def occurs(self) -> Occurrence:
        """Return the minimum and maximum number of occurrences in the parent; the maximum is None if unlimited."""
        if self._group is None:
            return 1, 1
        from xmlschema.validators import ModelVisitor

        visitor = ModelVisitor(self._group)
        return visitor.overall_min_occurs(self._particle), visitor.overall_max_occurs(self._particle)

    @property
    def stands_for(self) -> str:
        """Return the head of its substitution group, or its own name if it belongs to none."""
        return self._particle.local_name if self._group is not None else self.name

    def has_room(self, there: int) -> bool:
        """Return whether one more may occur besides ``there`` elements of it."""
        most = self.occurs[1]
        return most is None or there < most

    @property
    def value(self) -> ValueComponent | None:
        """Return the value between the tags, or None for an element that contains elements or nothing."""
        simple = self.declaration.type.simple_type
        return None if simple is None else _value(simple, self.declaration.default)

    @property
    def order(self) -> str:
        """Return the order of children, or an empty string without any.

        ``all``: in any order, ``sequence``: in this order, ``choice``: one of them.
        """
        return str(self._content.model) if self.children else ""

    @cached_property
    def attributes(self) -> dict[str, AttributeComponent]:
        """Return the attributes by name, without those of XML itself such as ``xml:base``."""
        return {
            name: AttributeComponent(name, _value(attribute.type, attribute.default), attribute.use == "required")
            for name, attribute in self.declaration.attributes.items()
            if name and not name.startswith("{")
        }

    @cached_property
    def children(self) -> dict[str, ElementComponent]:
        """Return the elements that may be inside, by name; substitution groups are replaced by their members."""
        by_name: dict[str, ElementComponent] = {}
        for particle in self._content.iter_elements() if self._content else ():
            for declaration in particle.iter_substitutes() if getattr(particle, "abstract", False) else (particle,):
                if declaration.local_name:
                    child = ElementComponent((*self.path, declaration.local_name), declaration, self._content, particle)
                    by_name.setdefault(child.name, child)
        return by_name

    def following(self, before: Sequence[str]) -> list[str]:
        """Return the names of the elements that may follow the present ones."""
        if self.order == "all":
            there = Counter(self.children[name].stands_for for name in before if name in self.children)
            return [name for name, child in self.children.items() if child.has_room(there[child.stands_for])]
        remaining: tuple[Any, ...] = (self._content,) if self.children else ()
        # more than two in a row add nothing to two
        for name in (name for _, run in groupby(before) for name in islice(run, 2)):
            remaining = _particles_after(remaining, name) or remaining
        return [name for name in self.children if _particles_after(remaining, name) is not None]


def _particles_after(particles: tuple[Any, ...], name: str) -> tuple[Any, ...] | None:
    """Return what may follow an element of that name in a row of particles, or None if the element cannot occur.

    A particle is one of xmlschema's, or a pair of one and how often it may still occur.
    """
    if not particles:
        return None
    first, *others = particles
    particle, left = first if isinstance(first, tuple) else (first, first.max_occurs)
    if left != 0:
        again = ((particle, None if left is None else left - 1), *others)
        inside = _particles_after_within(particle, name)
        if inside is not None:
            return (*inside, *again)
    skipped = isinstance(first, tuple) or particle.is_emptiable()
    return _particles_after(tuple(others), name) if skipped else None


def _particles_after_within(particle: Any, name: str) -> tuple[Any, ...] | None:
    """Return what may follow an element of that name within one occurrence of a particle, or None."""
    if not hasattr(particle, "model"):
        heads = particle.iter_substitutes() if getattr(particle, "abstract", False) else (particle,)
        return () if any(item.local_name == name for item in heads) else None
    if particle.model == "sequence":
        return _particles_after(tuple(particle), name)
    return next((following for item in particle if (following := _particles_after((item,), name)) is not None), None)


def _value(simple: Any, default: str | None) -> ValueComponent:
    named = simple
    while named.local_name is None and named.base_type is not None:
        named = named.base_type
    return ValueComponent(named.local_name or "string", tuple(simple.enumeration or ()), default)


@cache
def roots(edition: Edition) -> dict[str, ElementComponent]:
    """Return the elements that a broker looks for: ``core`` and ``jms``, or HornetQ's ``configuration``."""
    import xmlschema

    hornetq = edition is Edition.HORNETQ_2_4
    file = path_of(edition, "core.xsd" if hornetq else "server.xsd")
    elements = xmlschema.XMLSchema10(str(file), validation="skip", allow="local").maps.elements
    tags = [f"{{urn:hornetq}}{CONFIGURATION}"] if hornetq else ["{urn:activemq:core}core", "{urn:activemq:jms}jms"]
    return {tag.rpartition("}")[2]: ElementComponent((tag.rpartition("}")[2],), elements[tag]) for tag in tags}


def element_at(edition: Edition, names: Sequence[str]) -> ElementComponent | None:
    """Return the element that a path of open elements leads to, the outermost first; None if there is none.

    The path may begin at the document element, at a root, or, in an included file, at any element below one.
    """
    if not names:
        return None
    root_elements = roots(edition)
    start = root_elements.get(names[0])
    if start is None and names[0] == CONFIGURATION and len(names) > 1:
        names = names[1:]
        start = root_elements.get(names[0])
    elif start is None:
        start = next(iter(places(edition, names[0])), None)
    for name in names[1:]:
        start = start.children.get(name) if start else None
    return start


@cache
def _by_name(edition: Edition) -> dict[str, list[ElementComponent]]:
    elements: dict[str, list[ElementComponent]] = {}
    for root in roots(edition).values():
        for element in _below(root, ()):
            elements.setdefault(element.name, []).append(element)
    return {name: sorted(some, key=lambda element_: len(element_.path)) for name, some in elements.items()}


def _below(element: ElementComponent, around: tuple[Any, ...]) -> Iterator[ElementComponent]:
    """Yield the element and all that may occur below it; a type that contains itself is entered once."""
    yield element
    kind = element.declaration.type
    if kind not in around:
        for child in element.children.values():
            yield from _below(child, (*around, kind))


def places(edition: Edition, *steps: str) -> list[ElementComponent]:
    """Return the elements whose path ends with these names, those nearest to the root first."""
    elements = _by_name(edition).get(steps[-1], ())
    return [
        element
        for element in elements
        if element.path[-len(steps) :] == steps or (CONFIGURATION, *element.path) == steps
    ]


def fact_at(edition: Edition, path: Sequence[str]) -> SchemaFact | None:
    """Return the row of ``facts/schema.csv`` of an element or ``@attribute``; None if that edition has no such path."""
    document = "jms" if path[0] == "jms" else "core"
    if edition is Edition.HORNETQ_2_4 and path[0] == "jms":
        return None
    owner, fact = root_type(edition, document), None
    for step in path[1:]:
        fact = members(edition, document).get(owner, {}).get(step)
        if fact is None:
            return None
        owner = fact.type_name
    return fact


def editions_of(path: Sequence[str]) -> list[Edition]:
    """Return the editions that have an element or ``@attribute`` at that path."""
    return [edition for edition in Edition if len(path) == 1 or fact_at(edition, path)]
