"""The beans that ``broker.properties`` reaches, in one table, ``facts/beans.csv`` (docs/spec/properties.md 2).

A row is a property as the broker names it. ``type`` is what it takes: a number, a truth value, text, a collection,
another bean, or the words of an enumeration with ``|`` between them. ``made`` is the class of the entries that the
broker makes in a collection (``-``: it has none before one is given whole), or of the bean below. A property ``=WORD``
says which class that word of the type makes; ``*`` what the entries of a bean are that is a collection itself. A row
holds from ``since`` up to, not including, ``until``.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from brokerconf.reading.tables import read_table
from brokerconf.schema.schema_facts import editions_between
from pagefmt.editions import Edition

ROOT = "FileConfiguration"


class BeanProperty(NamedTuple):
    """One row of the table."""

    editions: tuple[Edition, ...]
    owner: str
    name: str
    type: str
    made: str
    access: str
    # of the setter: "!VALUE" for what it refuses, "!*" all, "~VALUE" for what it leaves out without a word
    odd: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words of an enumeration; none for any other type."""
        return tuple(self.type.split("|")) if "|" in self.type else ()


@cache
def bean_properties() -> tuple[BeanProperty, ...]:
    """All rows."""
    return tuple(BeanProperty(editions_between(*row[6:]), *row[:6]) for row in read_table("beans.csv"))


@cache
def beans(edition: Edition) -> dict[str, dict[str, BeanProperty]]:
    """The beans of an edition: of each class its properties by name."""
    found: dict[str, dict[str, BeanProperty]] = {}
    for one in bean_properties():
        if edition in one.editions:
            found.setdefault(one.owner, {})[one.name] = one
    return found


def editions_with(owner: str, name: str) -> tuple[Edition, ...]:
    """The editions in which a bean has that property, oldest first."""
    return _editions().get((owner, name), ())


@cache
def _editions() -> dict[tuple[str, str], tuple[Edition, ...]]:
    found: dict[tuple[str, str], set[Edition]] = {}
    for one in bean_properties():
        found.setdefault((one.owner, one.name), set()).update(one.editions)
    return {name: tuple(sorted(editions)) for name, editions in found.items()}
