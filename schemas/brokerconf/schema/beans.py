"""The beans that ``broker.properties`` reaches, in one table, ``facts/beans.csv`` (docs/spec/properties.md 2).

A row is a property as the broker names it. ``type`` is what it accepts: a number, a truth value, text, a collection,
another bean, or the words of an enumeration separated by ``|``. ``made`` is the class of the entries that the broker
creates in a collection (``-``: none before it is set as a whole), or of the bean below. A property ``=WORD`` says which
class that word of the type creates; ``*`` is the class of the entries of a bean that is a collection itself. A row
applies from ``since`` up to, not including, ``until``.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from brokerconf.reading.tables import read_table
from brokerconf.schema.schema_facts import editions_between
from pagefmt.editions import Edition

ROOT = "FileConfiguration"


class BeanProperty(NamedTuple):
    """Row of the table of beans: a property of a configuration class, and the editions that have it."""

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
        """Return the words of an enumeration; empty for any other type."""
        return tuple(self.type.split("|")) if "|" in self.type else ()


@cache
def bean_properties() -> tuple[BeanProperty, ...]:
    """Return all rows of the table of beans."""
    return tuple(BeanProperty(editions_between(*row[6:]), *row[:6]) for row in read_table("beans.csv"))


@cache
def beans(edition: Edition) -> dict[str, dict[str, BeanProperty]]:
    """Return the bean properties of an edition by class and by name."""
    by_class: dict[str, dict[str, BeanProperty]] = {}
    for bean in bean_properties():
        if edition in bean.editions:
            by_class.setdefault(bean.owner, {})[bean.name] = bean
    return by_class


def editions_with(owner: str, name: str) -> tuple[Edition, ...]:
    """Return the editions in which a bean has that property, oldest first."""
    return _editions().get((owner, name), ())


@cache
def _editions() -> dict[tuple[str, str], tuple[Edition, ...]]:
    editions_by_property: dict[tuple[str, str], set[Edition]] = {}
    for bean in bean_properties():
        editions_by_property.setdefault((bean.owner, bean.name), set()).update(bean.editions)
    return {name: tuple(sorted(editions)) for name, editions in editions_by_property.items()}
