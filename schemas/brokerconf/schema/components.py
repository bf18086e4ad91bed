"""What may stand where: the component model of an edition's XSDs, as xmlschema reads them.

Names are local ones: what an editor or a person writes before the name spaces are right. Loading takes a quarter of a
second, so a model is made when it is first asked for.
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
    """The type of a value: ``type`` by XSD's name, ``words`` of an enumeration, the schema's ``default``."""

    type: str
    words: tuple[str, ...]
    default: str | None


class AttributeComponent(NamedTuple):
    """An attribute as the schema has it."""

    name: str
    value: ValueComponent
    required: bool


class ElementComponent:
    """An element at one place: ``path`` begins at ``core``, ``jms`` or HornetQ's ``configuration``.

    ``particle`` stands for it in the content model ``group``: the element itself, or its substitution group's head.
    """

    def __init__(self, path: Steps, declaration: Any, group: Any = None, particle: Any = None) -> None:
        self.path = path
        self.declaration = declaration
        self._group, self._particle = group, particle
        self._content: Any = declaration.type.content if declaration.type.has_complex_content() else ()

    @property
    def name(self) -> str:
        """The local name."""
        return self.path[-1]

    @cached_property
    def occurs(self) -> Occurrence:
        """How often it must and may stand there; None: any number of times."""
        if self._group is None:
            return 1, 1
        from xmlschema.validators import ModelVisitor

        visitor = ModelVisitor(self._group)
        return visitor.overall_min_occurs(self._particle), visitor.overall_max_occurs(self._particle)

    @property
    def stands_for(self) -> str:
        """The head of its substitution group, of whose members one stands there; else its own name."""
        return self._particle.local_name if self._group is not None else self.name

    def has_room(self, there: int) -> bool:
        """Whether one more may stand beside so many."""
        most = self.occurs[1]
        return most is None or there < most

    @property
    def value(self) -> ValueComponent | None:
        """The value that stands between the tags; None where elements stand there, or nothing."""
        simple = self.declaration.type.simple_type
        return None if simple is None else _value(simple, self.declaration.default)

    @property
    def order(self) -> str:
        """``all``: in any order, ``sequence``: in this order, ``choice``: one of them; empty: nothing stands inside."""
        return str(self._content.model) if self.children else ""

    @cached_property
    def attributes(self) -> dict[str, AttributeComponent]:
        """By name; those that belong to every XML document are left out."""
        return {
            name: AttributeComponent(name, _value(one.type, one.default), one.use == "required")
            for name, one in self.declaration.attributes.items()
            if name and not name.startswith("{")
        }

    @cached_property
    def children(self) -> dict[str, ElementComponent]:
        """The elements that may stand inside, by name; for the head of a substitution group its members."""
        found: dict[str, ElementComponent] = {}
        for particle in self._content.iter_elements() if self._content else ():
            for one in particle.iter_substitutes() if getattr(particle, "abstract", False) else (particle,):
                if one.local_name:
                    child = ElementComponent((*self.path, one.local_name), one, self._content, particle)
                    found.setdefault(child.name, child)
        return found

    def following(self, before: Sequence[str]) -> list[str]:
        """Names of the elements that may come behind those that stand there already."""
        if self.order == "all":
            there = Counter(self.children[name].stands_for for name in before if name in self.children)
            return [name for name, child in self.children.items() if child.has_room(there[child.stands_for])]
        rest: tuple[Any, ...] = (self._content,) if self.children else ()
        # more than two of the same tell no more than two
        for name in (name for _, run in groupby(before) for name in islice(run, 2)):
            rest = _behind(rest, name) or rest
        return [name for name in self.children if _behind(rest, name) is not None]


def _behind(particles: tuple[Any, ...], name: str) -> tuple[Any, ...] | None:
    """What may still come in a row of particles after an element of that name; None where it cannot come.

    A particle is one of xmlschema's, or a pair of one and how often it may still stand there.
    """
    if not particles:
        return None
    first, *others = particles
    particle, left = first if isinstance(first, tuple) else (first, first.max_occurs)
    if left != 0:
        again = ((particle, None if left is None else left - 1), *others)
        inside = _inside(particle, name)
        if inside is not None:
            return (*inside, *again)
    skipped = isinstance(first, tuple) or particle.is_emptiable()
    return _behind(tuple(others), name) if skipped else None


def _inside(particle: Any, name: str) -> tuple[Any, ...] | None:
    """The same within one occurrence of a particle."""
    if not hasattr(particle, "model"):
        heads = particle.iter_substitutes() if getattr(particle, "abstract", False) else (particle,)
        return () if any(one.local_name == name for one in heads) else None
    if particle.model == "sequence":
        return _behind(tuple(particle), name)
    return next((found for one in particle if (found := _behind((one,), name)) is not None), None)


def _value(simple: Any, default: str | None) -> ValueComponent:
    named = simple
    while named.local_name is None and named.base_type is not None:
        named = named.base_type
    return ValueComponent(named.local_name or "string", tuple(simple.enumeration or ()), default)


@cache
def roots(edition: Edition) -> dict[str, ElementComponent]:
    """The elements that a broker looks for: ``core`` and ``jms``, or HornetQ's ``configuration``."""
    import xmlschema

    hornetq = edition is Edition.HORNETQ_2_4
    file = path_of(edition, "core.xsd" if hornetq else "server.xsd")
    elements = xmlschema.XMLSchema10(str(file), validation="skip", allow="local").maps.elements
    tags = [f"{{urn:hornetq}}{CONFIGURATION}"] if hornetq else ["{urn:activemq:core}core", "{urn:activemq:jms}jms"]
    return {tag.rpartition("}")[2]: ElementComponent((tag.rpartition("}")[2],), elements[tag]) for tag in tags}


def element_at(edition: Edition, names: Sequence[str]) -> ElementComponent | None:
    """The element that the names of open elements lead to, the outermost first.

    They may begin at the document element, at a root, or, in an included file, at any element below one.
    """
    if not names:
        return None
    known = roots(edition)
    start = known.get(names[0])
    if start is None and names[0] == CONFIGURATION and len(names) > 1:
        names = names[1:]
        start = known.get(names[0])
    elif start is None:
        start = next(iter(places(edition, names[0])), None)
    for name in names[1:]:
        start = start.children.get(name) if start else None
    return start


@cache
def _by_name(edition: Edition) -> dict[str, list[ElementComponent]]:
    found: dict[str, list[ElementComponent]] = {}
    for root in roots(edition).values():
        for element in _below(root, ()):
            found.setdefault(element.name, []).append(element)
    return {name: sorted(some, key=lambda one: len(one.path)) for name, some in found.items()}


def _below(element: ElementComponent, around: tuple[Any, ...]) -> Iterator[ElementComponent]:
    """The element and all that may stand below it; of types within themselves the first level."""
    yield element
    kind = element.declaration.type
    if kind not in around:
        for child in element.children.values():
            yield from _below(child, (*around, kind))


def places(edition: Edition, *steps: str) -> list[ElementComponent]:
    """Where an element stands whose path ends with these names, those nearest to the root first."""
    found = _by_name(edition).get(steps[-1], ())
    return [one for one in found if one.path[-len(steps) :] == steps or (CONFIGURATION, *one.path) == steps]


def fact_at(edition: Edition, path: Sequence[str]) -> SchemaFact | None:
    """The row of ``facts/schema.csv`` of an element or ``@attribute``; None where that edition has none there."""
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
    """The editions that have an element or ``@attribute`` at that place."""
    return [edition for edition in Edition if len(path) == 1 or fact_at(edition, path)]
