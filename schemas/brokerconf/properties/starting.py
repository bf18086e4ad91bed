"""What keeps a broker from starting although each entry of its properties is accepted: ``facts/bean_starts.csv``.

A row says what a property of a class must not be once all entries are applied. ``property`` is a path below the
bean, or several with ``|`` of which one is enough. ``stops``: ``missing``, ``set``, ``not a number``, a range
``low..high``, ``unknown COLLECTION`` if it names no entry of that collection, ``bare COLLECTION`` if it names one that
properties alone made. ``when``: a property of the bean that is set, or ``name=value``; ``unless``: settings of the
broker that are set to more than 0, or ``name=value`` (docs/spec/properties.md 6).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.properties.application import Bean
from brokerconf.reading.tables import read_table
from brokerconf.schema.schema_facts import editions_between
from pagefmt.editions import Edition

if TYPE_CHECKING:
    from brokerconf.reading.document import ConfigNode

_NUMBER = re.compile(r"[+-]?[0-9]+")


class Need(NamedTuple):
    """Row of the table of what beans need at start."""

    owner: str
    property: str
    stops: str
    when: str
    unless: str
    help: str


class Stop(NamedTuple):
    """Reason why the broker does not start: a bean, its path, and what is wrong with it.

    ``name``: the property that is wrong; ``lacks``: something is missing that a ``broker.xml`` may declare.
    """

    bean: Bean
    path: tuple[str, ...]
    name: str
    said: str
    help: str
    lacks: bool


@cache
def _needs(edition: Edition) -> Mapping[str, list[Need]]:
    by_class: dict[str, list[Need]] = {}
    for *row, since, until in read_table("bean_starts.csv"):
        if edition in editions_between(since, until):
            by_class.setdefault(row[0], []).append(Need(*row))
    return by_class


def stops(root: Bean, edition: Edition, core: ConfigNode | None = None) -> Iterator[Stop]:
    """Yield what keeps the broker from starting, except in beans that share their name with an element of the file."""
    declared = {node.attributes["name"] for node in core.walk() if "name" in node.attributes} if core else set()
    judge = _BeansAtStart(root, core, frozenset(declared))
    for path, bean in _walk(root, ()):
        if not declared.intersection(path):
            for need in _needs(edition).get(bean.owner, ()):
                fault = judge.fault(bean, need)
                if fault:
                    lacks = need.stops.startswith(("missing", "unknown ", "bare "))
                    yield Stop(bean, path, need.property, fault, need.help, lacks)


def _walk(bean: Bean, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Bean]]:
    yield path, bean
    for name, below in bean.held.items():
        if isinstance(below, Bean):
            yield from _walk(below, (*path, name))


class _BeansAtStart(NamedTuple):
    root: Bean
    core: ConfigNode | None
    declared: frozenset[str]

    def fault(self, bean: Bean, need: Need) -> str:
        """Return what is wrong with a bean by one row of the table, or an empty string."""
        name, _, wanted = need.when.partition("=")
        if name and (_at(bean, name) is None or wanted not in ("", _at(bean, name))):
            return ""
        if any(self._has(term) for term in need.unless.split()):
            return ""
        values = [_at(bean, path) for path in need.property.split("|")]
        names = " or ".join(path.rpartition(".")[2] for path in need.property.split("|"))
        value = values[0]
        if need.stops == "missing":
            return "" if any(candidate is not None for candidate in values) else f"has no {names}"
        if need.stops == "not a number":
            return "" if _NUMBER.fullmatch(str(value)) else f"has no number as {names}"
        if value is None:
            return ""
        if need.stops == "set":
            return f"{names} takes no text"
        kind, _, collection = need.stops.partition(" ")
        if collection:
            declared_beans = _at(self.root, collection)
            group = declared_beans.held.get(str(value)) if isinstance(declared_beans, Bean) else None
            ours = group is not None and (kind == "unknown" or _at(group, "broadcastEndpointFactory") is None)
            if value in self.declared or ours is (kind == "unknown"):
                return ""
            return f"{names} names one that {'is not declared' if kind == 'unknown' else 'has no endpoint'}"
        low, high = (int(text) if text else None for text in need.stops.split(".."))
        if isinstance(value, int) and (low is None or low <= value) and (high is None or value <= high):
            return f"{names} is {value}"
        return ""

    def _has(self, term: str) -> bool:
        """Return whether a setting of the broker is on or has a value, by a property or else in the file."""
        name, _, wanted = term.partition("=")
        value = self.root.held.get(name)
        node = self.core.child(re.sub("([A-Z])", r"-\1", name).lower()) if self.core and value is None else None
        text = node.text.strip() if node else "" if value is None else str(value)
        return text.lower() == wanted.lower() if wanted else text not in ("", "0")


def _at(value: object, path: str) -> object:
    """Return the value at a path below a bean, or None if there is none or it is empty."""
    for name in path.split("."):
        value = value.held.get(name) if isinstance(value, Bean) else None
    empty = value == "" or (isinstance(value, Bean) and value.kind != "bean" and not value.held)
    return None if empty else value
