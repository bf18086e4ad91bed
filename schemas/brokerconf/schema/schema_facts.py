"""The schemas of all editions in one table, ``facts/schema.csv``, from which our XSD files are generated.

A row is an element, an attribute, a type, the document element or another global element of a document (``core``,
``jms``, and HornetQ's own ``hq-core``, ``hq-jms``, ``hq-users``). ``owner`` is the type that contains it. A ``type``
that begins with ``@`` names a type of the table; others are XSD's own. ``group`` lists the compositors from the type
down, each with its occurrence unless that is one: ``sequence/choice[1..*]``. A row applies from the edition ``since``
up to, not including, ``until``; an empty ``until`` means that it still applies, so a new edition changes no row.

``facts/subsystem.csv`` has the same columns for the messaging subsystems of application servers, by version.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from brokerconf.reading.subsystems import Subsystem
from brokerconf.reading.tables import read_table
from pagefmt.editions import Edition

_BY_NAME = {
    "hq" if edition is Edition.HORNETQ_2_4 else edition.value.removeprefix("artemis-"): edition for edition in Edition
}


class SchemaFact(NamedTuple):
    """Row of the table of schemas.

    ``use`` belongs to an attribute, or is the head of the substitution group of an element; ``editions`` is empty for
    an application server.
    """

    editions: tuple[Edition, ...]
    document: str
    owner: str
    kind: str
    name: str
    type: str
    enum: str
    min: str
    max: str
    use: str
    default: str
    group: str
    xml: str
    deprecated: str

    @property
    def type_name(self) -> str:
        """Return the name of a type defined in the table; empty for a type of XSD."""
        return self.type[1:] if self.type.startswith("@") else ""


@cache
def facts() -> tuple[SchemaFact, ...]:
    """Return all rows of the table of schemas."""
    return tuple(SchemaFact(editions_between(*row[13:]), *row[:13]) for row in read_table("schema.csv"))


@cache
def editions_between(since: str, until: str) -> tuple[Edition, ...]:
    """Return the editions from ``since`` (``hq``, ``1.5``, …) up to, not including, ``until`` (empty: no end)."""
    first, end = _BY_NAME[since], _BY_NAME.get(until)
    return tuple(edition for edition in Edition if first <= edition and (end is None or edition < end))


@cache
def facts_of(schema: Edition | Subsystem) -> tuple[SchemaFact, ...]:
    """Return the rows that apply to an edition, or to a version of a subsystem."""
    if isinstance(schema, Subsystem):
        rows = (row for row in read_table("subsystem.csv") if row[0] == schema.product and schema.holds(*row[13:]))
        return tuple(SchemaFact((), *row[:13]) for row in rows)
    return tuple(fact for fact in facts() if schema in fact.editions)


def _name_in_table(schema: Edition | Subsystem, document: str) -> str:
    if isinstance(schema, Subsystem):
        return schema.product
    return f"hq-{document}" if schema is Edition.HORNETQ_2_4 else document


@cache
def members(schema: Edition | Subsystem, document: str = "core") -> dict[str, dict[str, SchemaFact]]:
    """Return, for each type of a document, its elements and attributes by name (the latter as ``@name``)."""
    document = _name_in_table(schema, document)
    members_by_type: dict[str, dict[str, SchemaFact]] = {}
    for fact in facts_of(schema):
        if fact.document == document and fact.kind in ("element", "attribute"):
            name = f"@{fact.name}" if fact.kind == "attribute" else fact.name
            members_by_type.setdefault(fact.owner, {})[name] = fact
    return members_by_type


@cache
def holding_elements() -> frozenset[str]:
    """Return the names of elements that contain others in some edition."""
    owners = {(fact.document, fact.owner) for fact in facts() if fact.kind == "element"}
    return frozenset(fact.name for fact in facts() if (fact.document, fact.type_name) in owners)


def root_type(schema: Edition | Subsystem, document: str = "core") -> str:
    """Return the type of the document element."""
    wanted = _name_in_table(schema, document)
    return next(f.type_name for f in facts_of(schema) if f.kind == "root" and f.document == wanted)


def facts_named(name: str) -> list[SchemaFact]:
    """Return the elements and attributes of that name, for each place its newest description."""
    newest: dict[tuple[str, str, str], SchemaFact] = {}
    for fact in facts():
        if fact.name == name and fact.kind in ("element", "attribute"):
            key = (fact.document.removeprefix("hq-"), fact.owner, fact.kind)
            earlier = newest.get(key)
            if earlier is None or earlier.editions[-1] < fact.editions[-1]:
                newest[key] = fact
    return list(newest.values())


def known_from(name: str, owner: str) -> tuple[Edition, Edition]:
    """Return the first and the last edition with that name in that type."""
    held = [edition for fact in facts() if (fact.name, fact.owner) == (name, owner) for edition in fact.editions]
    return min(held), max(held)
