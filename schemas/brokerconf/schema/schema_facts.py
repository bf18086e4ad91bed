"""What the schemas of all editions say, written once: ``facts/schema.csv``, from which our XSDs are made.

A row is an element, an attribute, a type, the document element or another global element of a document (``core``,
``jms``, and HornetQ's own ``hq-core``, ``hq-jms``, ``hq-users``), with the editions it holds for. ``owner`` is the type
it stands in. A ``type`` that begins with ``@`` names a type of the table; others are XSD's own. ``group`` lists the
compositors from the type down, each with its own occurrence where that is not one: ``sequence/choice[1..*]``.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pagefmt.editions import Edition

_SHORT = {
    edition: "hq" if edition is Edition.HORNETQ_2_4 else edition.value.removeprefix("artemis-") for edition in Edition
}


class Fact(NamedTuple):
    """One row of the table; ``use`` is an attribute's, or the head that an element may stand for."""

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
        """The type of the table, without its mark; empty for XSD's own."""
        return self.type[1:] if self.type.startswith("@") else ""


@cache
def facts() -> tuple[Fact, ...]:
    """All rows."""
    text = (Path(__file__).parents[1] / "facts" / "schema.csv").read_text("utf-8")
    rows = csv.reader(text.splitlines(), delimiter=";")
    next(rows)
    return tuple(Fact(editions_of(row[13]), *row[:13]) for row in rows)


@cache
def editions_of(text: str) -> tuple[Edition, ...]:
    """``1.5-2.28 2.56`` as editions."""
    found: list[Edition] = []
    order = list(Edition)
    by_name = {short: edition for edition, short in _SHORT.items()}
    for span in text.split(" "):
        first, _, last = span.partition("-")
        found += order[order.index(by_name[first]) : order.index(by_name[last or first]) + 1]
    return tuple(found)


@cache
def facts_of(edition: Edition) -> tuple[Fact, ...]:
    """The rows that hold for an edition."""
    return tuple(fact for fact in facts() if edition in fact.editions)


@cache
def members(edition: Edition, document: str = "core") -> dict[str, dict[str, Fact]]:
    """For each type of a document: its elements and attributes (the latter as ``@name``)."""
    if edition is Edition.HORNETQ_2_4:
        document = f"hq-{document}"
    found: dict[str, dict[str, Fact]] = {}
    for fact in facts_of(edition):
        if fact.document == document and fact.kind in ("element", "attribute"):
            name = f"@{fact.name}" if fact.kind == "attribute" else fact.name
            found.setdefault(fact.owner, {})[name] = fact
    return found


def root_type(edition: Edition, document: str = "core") -> str:
    """The type of the document element."""
    wanted = f"hq-{document}" if edition is Edition.HORNETQ_2_4 else document
    return next(f.type_name for f in facts_of(edition) if f.kind == "root" and f.document == wanted)


def named(name: str) -> list[Fact]:
    """The elements and attributes of that name, the newest description of each place."""
    found: dict[tuple[str, str, str], Fact] = {}
    for fact in facts():
        if fact.name == name and fact.kind in ("element", "attribute"):
            key = (fact.document.removeprefix("hq-"), fact.owner, fact.kind)
            known = found.get(key)
            if known is None or known.editions[-1] < fact.editions[-1]:
                found[key] = fact
    return list(found.values())


def known_from(name: str, owner: str) -> tuple[Edition, Edition]:
    """The first and last edition with that name in that place."""
    held = [edition for fact in facts() if (fact.name, fact.owner) == (name, owner) for edition in fact.editions]
    return min(held), max(held)
