"""Correspondence of elements and attributes with beans' properties: ``facts/element_beans.csv``, and equal names.

A row is about an element or attribute by the end of its path (the longest one counts; ``a[manager]``: an ``a`` with a
``manager`` inside). ``bean`` are the properties on the way from the bean around it, with ``=WORD`` if a word creates
one; ``.``: what is inside belongs to the bean around, ``-``: brokers ignore it, ``!``: no key is equivalent, for the
reason in ``values``. ``name`` says how entries are called that have no name of their own: as the one ``above``, by
``count``, or as their ``class`` with ``.class`` after it. ``values`` are words for words, or ``>0``: an element below 1
says nothing. ``absent`` is what the reader of elements sets without the element if a bean has another default
(``<other|text``: the value of that other one; ``|``: the name of the bean). An element that is not in the table is
found by its name, whose words run together.
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
_ABOVE_ZERO = ">0"
# set by keys of another form, or by none
APART = ("acceptors", "connectors", "security-settings")


class BeanPlace(NamedTuple):
    """Place of an element or attribute: ``keys`` to its property, with an empty one for the name of an entry.

    ``kind``: ``value``, ``list`` (of which it is one item), ``map`` (of which it is one pair), ``entry``, ``bean``,
    ``word`` (a bean created by the word of its last key), ``inside`` (of the bean around), ``journals`` (one key for
    each kind of journal), ``past`` (not read), ``none`` (no key is equivalent; ``values`` is the reason).
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
        """Return the words of the element, mapped to those of the bean."""
        return {word: meant for word, _, meant in (pair.partition("=") for pair in self.values.split()) if meant}

    def only_above_zero(self) -> bool:
        """Return whether an element below 1 is equal to its absence, while such a key disables something."""
        return self.values == _ABOVE_ZERO


@cache
def bean_places(edition: Edition) -> dict[Path, BeanPlace]:
    """Return the places of an edition by the tags from ``core`` down, in the order of the schema."""
    walk = _SchemaWalk(edition)
    walk.inside(root_type(edition), ROOT, (), ())
    return walk.found


@cache
def places_of_keys(edition: Edition) -> dict[Path, BeanPlace]:
    """Return the places of an edition by their keys; of several with the same keys the one that is not deprecated."""
    places: dict[Path, BeanPlace] = {}
    for place in bean_places(edition).values():
        earlier = places.get(place.keys)
        if place.property and (earlier is None or (earlier.deprecated and not place.deprecated)):
            places[place.keys] = place
    return places


@cache
def beginnings(edition: Edition) -> frozenset[Path]:
    """Return the keys to all properties of an edition, and those on the way to them."""
    return frozenset(keys[:end] for keys in places_of_keys(edition) for end in range(1, len(keys) + 1))


@cache
def defaults_below(edition: Edition) -> dict[Path, list[BeanPlace]]:
    """Return the places that have a value without their element, by the tags of the element around."""
    places: dict[Path, list[BeanPlace]] = {}
    for place in bean_places(edition).values():
        if place.absent:
            places.setdefault(place.tags[:-1], []).append(place)
    return places


@cache
def _rows() -> dict[Path, list[str]]:
    return {tuple(row[0].split("/")): row[1:] for row in read_table("element_beans.csv")}


class _SchemaWalk:
    def __init__(self, edition: Edition) -> None:
        self.members, self.beans = members(edition), beans(edition)
        # these brokers create no missing beans, and set keys in no certain order
        self.poor = edition < Edition.ARTEMIS_2_44
        self.found: dict[Path, BeanPlace] = {}
        self._around: list[str] = []

    def inside(self, schema: str, owner: str, tags: Path, keys: Path, old: bool = False) -> None:
        """Add the members of an element that belong to a bean; HornetQ's nested server belongs to none."""
        if schema in self._around:
            return
        self._around.append(schema)
        for member, fact in self.members.get(schema, {}).items():
            path = (*tags, member)
            if path[0] not in APART:
                for tag in (member, f"{member}[manager]"):
                    row = self._row((*tags, tag))
                    if row is not None or tag == member:
                        self._member(fact, owner, (*tags, tag), keys, row, old or bool(fact.deprecated))
        self._around.pop()

    def _member(self, fact: SchemaFact, owner: str, tags: Path, keys: Path, row: list[str] | None, old: bool) -> None:
        """Add the place of an element or attribute and of what is inside it to ``found``.

        ``owner``: class of the bean that it belongs to, and ``keys`` lead to. ``row``: its row in
        ``element_beans.csv``, without the tags; without one, its property is the one of its name. ``old``: it is
        deprecated, or inside of something deprecated. A member without a property has no place, but what is inside it
        may have.
        """
        keys_column, name, values, absent = row or ["", "", "", ""]
        if keys_column == "-":
            self.found[tags] = BeanPlace(tags, keys, "past")
        if keys_column == "!":
            self.found[tags] = BeanPlace(tags, keys, "none", values=values)
        if keys_column in ("-", "!") or (self.poor and (("=" in keys_column) or keys_column == "queueConfigurations")):
            return
        # only elements directly in core set properties of the broker itself by their names
        named = self._by_name(owner, tags[-1]) if owner != ROOT or len(tags) == 1 else None
        chain = named if not keys_column else self._chain(owner, keys_column) if keys_column != "." else None
        if chain is None:
            if fact.type_name in self.members:
                self.found[tags] = BeanPlace(tags, keys, "inside")
                self.inside(fact.type_name, owner, tags, keys, old)
            return
        bean, below = chain
        kind, bean_class = self._sort(bean, below[-1], fact)
        if self.poor and kind == "bean" and "w" in bean.access:
            return
        place = BeanPlace(tags, (*keys, *below), kind, bean, name, values, absent, old)
        if kind == "list" and fact.type_name in self.members:
            # the element around the items belongs to no property
            self.found[tags] = BeanPlace(tags, keys, "inside")
            for member, item in self.members[fact.type_name].items():
                if member.startswith("@"):
                    self._member(item, owner, (*tags, member), keys, self._row((*tags, member)), old)
                else:
                    self.found[*tags, member] = place._replace(tags=(*tags, member))
            return
        self.found[tags] = place
        if kind in ("bean", "word", "entry"):
            self.inside(fact.type_name, bean_class, tags, (*place.keys, "") if kind == "entry" else place.keys, old)
        elif fact.type_name in self.members and kind in ("value", "inside"):
            self.inside(fact.type_name, owner, tags, keys, old)

    def _row(self, tags: Path) -> list[str] | None:
        return next((_rows()[tags[n:]] for n in range(len(tags)) if tags[n:] in _rows()), None)

    def _sort(self, bean: BeanProperty, key: str, fact: SchemaFact) -> tuple[str, str]:
        """Return the kind of a place, and the class of the bean that begins there (empty if none does)."""
        inner = self.members.get(fact.type_name, {})
        if "=" in key:
            return "word", self.beans[bean.type][key[key.index("=") :]].made
        if bean.type in COLLECTIONS and bean.made.strip("-"):
            return "entry", bean.made
        if key.endswith("_NIO"):
            return "journals", ""
        if bean.type == "Map":
            return ("map" if "@key" in inner else "inside"), ""
        if bean.type in _LISTS:
            return "list", ""
        return ("bean", bean.made) if bean.made and bean.made != "-" and inner else ("value", "")

    def _chain(self, owner: str, ways: str) -> tuple[BeanProperty, Path] | None:
        for way in ways.split("|"):
            keys: Path = ()
            at, bean, last = owner, None, ""
            for key in way.split():
                name, mark, word = key.partition("=")
                bean = self.beans.get(at, {}).get(name)
                of_word = self.beans.get(bean.type, {}).get(mark + word) if bean and word else bean
                if bean is None or of_word is None or (keys and self.poor and "w" in last):
                    break
                last = bean.access
                keys, at = (*keys, key), of_word.made or bean.type
            else:
                return (bean, keys) if bean and _settable(bean) else None
        return None

    def _by_name(self, owner: str, member: str) -> tuple[BeanProperty, Path] | None:
        """Return the property with the member's name and its keys, from the bean or one that always exists below it."""
        name = member.removeprefix("@").partition("[")[0]
        properties = self.beans.get(owner, {})
        scope = {ROOT: Scope.BROKER, "AddressSettings": Scope.ADDRESS}.get(owner)
        setting = in_scope(scope).get(name) if scope else None
        bean = properties.get(setting.bean) if setting else None
        if bean is None:
            small = name.replace("-", "").lower()
            # of two that differ in their case the one that can be read as well
            candidates = sorted(
                (bean for bean in properties.values() if bean.name.lower() == small), key=lambda bean: -len(bean.access)
            )
            bean = next(filter(_settable, candidates), None)
        if bean is not None:
            return (bean, (bean.name,)) if _settable(bean) else None
        for below in properties.values():
            if below.access == "r" and below.made in self.beans and below.type not in COLLECTIONS:
                inner = self._by_name(below.made, member)
                if inner:
                    return inner[0], (below.name, *inner[1])
        return None


def _settable(bean: BeanProperty) -> bool:
    """Return whether a key sets the property, or something below it."""
    return "w" in bean.access or bool(bean.made) or bean.type == "Map"
