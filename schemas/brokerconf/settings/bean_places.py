"""Which element or attribute is which property of which bean: ``facts/element_beans.csv``, and names that are the same.

A row is about an element or attribute by the end of its path (the longest one counts; ``a[manager]``: an ``a`` with a
``manager`` inside). ``bean`` are the properties on the way from the bean around it, with ``=WORD`` where one is made by
a word; ``.``: what is inside belongs to the bean around, ``-``: brokers read past it,
``!``: no key says it. ``name`` says how entries are
called that have no name of their own: as the one ``above``, by ``count``, or as their ``class`` with ``.class`` behind
it. ``values`` are words for words; ``absent`` is what the reader of elements sets where one says nothing and a bean has
something else (``<other|text``: what that other one is given; ``|``: the name of the bean). All that is not in the
table is found by its name: an element's words run together.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from brokerconf.reading.tables import read_table
from brokerconf.schema.beans import ROOT, BeanProperty, beans
from brokerconf.schema.schema_facts import SchemaFact, members, root_type
from brokerconf.settings.settings_model import Scope, in_scope
from pagefmt.editions import Edition

Path = tuple[str, ...]
COLLECTIONS = ("List", "Set", "Map")
_LISTS, _NAMED = ("List", "Set"), "NamedPropertyConfiguration"
# said in another way, or not at all
APART = ("acceptors", "connectors", "security-settings")


class BeanPlace(NamedTuple):
    """One element or attribute: ``keys`` to its property with nothing where the name of an entry stands.

    ``kind``: ``value``, ``list`` (of which it is one item), ``map`` (of which it is one pair), ``entry``, ``bean``,
    ``word`` (a bean made by the word of its last key), ``inside`` (of the bean around), ``past`` (not read).
    """

    tags: Path
    keys: Path
    kind: str
    property: BeanProperty | None = None
    name: str = ""
    values: str = ""
    absent: str = ""
    deprecated: bool = False

    def words(self) -> dict[str, str]:
        """The words of the element with those of the bean."""
        return {word: meant for word, _, meant in (pair.partition("=") for pair in self.values.split())}


@cache
def bean_places(edition: Edition) -> dict[Path, BeanPlace]:
    """All of an edition, by the tags from ``core`` down, in the order of the schema."""
    walk = _SchemaWalk(edition)
    walk.inside(root_type(edition), ROOT, (), ())
    return walk.found


@cache
def places_of_keys(edition: Edition) -> dict[Path, BeanPlace]:
    """The same by their keys: of several the one that is not deprecated."""
    found: dict[Path, BeanPlace] = {}
    for place in bean_places(edition).values():
        known = found.get(place.keys)
        if place.property and (known is None or (known.deprecated and not place.deprecated)):
            found[place.keys] = place
    return found


@cache
def _rows() -> dict[Path, list[str]]:
    return {tuple(row[0].split("/")): row[1:] for row in read_table("element_beans.csv")}


class _SchemaWalk:
    def __init__(self, edition: Edition) -> None:
        self.members, self.beans = members(edition), beans(edition)
        # it makes no bean that is missing, and sets its keys in no certain order
        self.poor = edition < Edition.ARTEMIS_2_44
        self.found: dict[Path, BeanPlace] = {}
        self._around: list[str] = []

    def inside(self, schema: str, owner: str, tags: Path, keys: Path, old: bool = False) -> None:
        """The members of an element that belong to a bean; a whole server inside of one (HornetQ) belongs to none."""
        if schema in self._around:
            return
        self._around.append(schema)
        for member, fact in self.members.get(schema, {}).items():
            here = (*tags, member)
            if here[0] not in APART:
                for tag in (member, f"{member}[manager]"):
                    row = next((_rows()[end] for n in range(len(here)) if (end := (*here[n:-1], tag)) in _rows()), None)
                    if row is not None or tag == member:
                        self._member(fact, owner, (*tags, tag), keys, row, old or bool(fact.deprecated))
        self._around.pop()

    def _member(self, fact: SchemaFact, owner: str, tags: Path, keys: Path, row: list[str] | None, old: bool) -> None:
        said, name, values, absent = row or ["", "", "", ""]
        if said == "-":
            self.found[tags] = BeanPlace(tags, keys, "past")
        if said in ("-", "!") or (self.poor and (("=" in said) or said == "queueConfigurations")):
            return
        # settings of the broker itself stand in core alone
        named = self._by_name(owner, tags[-1]) if owner != ROOT or len(tags) == 1 else None
        chain = named if not said else self._chain(owner, said) if said != "." else None
        if chain is None:
            if fact.type_name in self.members:
                self.found[tags] = BeanPlace(tags, keys, "inside")
                self.inside(fact.type_name, owner, tags, keys, old)
            return
        one, below = chain
        kind, made = self._sort(one, below[-1], fact)
        if self.poor and kind == "bean" and "w" in one.access:
            return
        place = BeanPlace(tags, (*keys, *below), kind, one, name, values, absent, old)
        if kind == "list" and fact.type_name in self.members:
            # around the items
            self.found[tags] = BeanPlace(tags, keys, "inside")
            for member, item in self.members[fact.type_name].items():
                if member.startswith("@"):
                    self._member(item, owner, (*tags, member), keys, self._row((*tags, member)), old)
                else:
                    self.found[*tags, member] = place._replace(tags=(*tags, member))
            return
        self.found[tags] = place
        if kind in ("bean", "word", "entry"):
            self.inside(fact.type_name, made, tags, (*place.keys, "") if kind == "entry" else place.keys, old)
        elif fact.type_name in self.members and kind in ("value", "inside"):
            self.inside(fact.type_name, owner, tags, keys, old)

    def _row(self, tags: Path) -> list[str] | None:
        return next((_rows()[tags[n:]] for n in range(len(tags)) if tags[n:] in _rows()), None)

    def _sort(self, one: BeanProperty, key: str, fact: SchemaFact) -> tuple[str, str]:
        """Of which kind it is, and the class of the bean that begins there."""
        inner = self.members.get(fact.type_name, {})
        if "=" in key:
            return "word", self.beans[one.type][key[key.index("=") :]].made
        if one.type in COLLECTIONS and one.made.strip("-"):
            return "entry", one.made
        if one.type == "Map":
            return ("map" if "@key" in inner else "inside"), ""
        if one.type in _LISTS:
            return "list", ""
        return ("bean", one.made) if one.made and one.made != "-" and inner else ("value", "")

    def _chain(self, owner: str, said: str) -> tuple[BeanProperty, Path] | None:
        for way in said.split("|"):
            keys: Path = ()
            at, one, last = owner, None, ""
            for key in way.split():
                name, mark, word = key.partition("=")
                one = self.beans.get(at, {}).get(name)
                of_word = self.beans.get(one.type, {}).get(mark + word) if one and word else one
                if one is None or of_word is None or (keys and self.poor and "w" in last):
                    break
                last = one.access
                keys, at = (*keys, key), of_word.made or one.type
            else:
                return (one, keys) if one and _settable(one) else None
        return None

    def _by_name(self, owner: str, member: str) -> tuple[BeanProperty, Path] | None:
        """The property that is called as the member is, in the bean or in one that is always there below it."""
        name = member.removeprefix("@").partition("[")[0]
        known = self.beans.get(owner, {})
        scope = {ROOT: Scope.BROKER, "AddressSettings": Scope.ADDRESS}.get(owner)
        setting = in_scope(scope).get(name) if scope else None
        one = known.get(setting.bean) if setting else None
        if one is None:
            small = name.replace("-", "").lower()
            # of two that differ in their case the one that can be read as well
            found = sorted(
                (one for one in known.values() if one.name.lower() == small), key=lambda one: -len(one.access)
            )
            one = next(filter(_settable, found), None)
        if one is not None:
            return (one, (one.name,)) if _settable(one) else None
        for below in known.values():
            if below.access == "r" and below.made in self.beans and below.type not in COLLECTIONS:
                inner = self._by_name(below.made, member)
                if inner:
                    return inner[0], (below.name, *inner[1])
        return None


def _settable(one: BeanProperty) -> bool:
    """Whether a key sets it, or something below it."""
    return "w" in one.access or bool(one.made) or one.type == "Map"
