"""How the broker's own reader interprets a value after the schema has accepted it: ``facts/reader.csv``.

``where`` is the element inside which the reader looks up the name (``replication//master``: a ``master`` anywhere
below ``replication``), ``read_as`` the type it parses the text as, ``check`` the range it requires. ``since`` and
``until`` are as in ``facts/schema.csv``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from brokerconf.reading.sizes import INT_MAX, SizeError, parse_int, parse_long, parse_size, trimmed, wrapped
from brokerconf.reading.tables import read_table
from brokerconf.schema.schema_facts import editions_between
from brokerconf.settings.settings_model import parse_double
from pagefmt.editions import Edition

Number = int | float


class ReaderFact(NamedTuple):
    """Row of the reader's table: where a value is looked up, under which name, as which type, within which range."""

    where: str
    element: str
    read_as: str
    check: str

    @property
    def is_attribute(self) -> bool:
        """Return whether the value is an attribute instead of an element's text."""
        return self.read_as.endswith(" attribute")


@cache
def reader_facts(edition: Edition) -> dict[str, dict[str, ReaderFact]]:
    """Return the rows that apply to an edition, by ``where`` and element."""
    facts: dict[str, dict[str, ReaderFact]] = {}
    for *row, since, until in read_table("reader.csv"):
        fact = ReaderFact(*row)
        if edition in editions_between(since, until):
            facts.setdefault(fact.where, {})[fact.element] = fact
    return facts


_RANGES: dict[str, tuple[Callable[[Number], bool], str]] = {
    "gt-zero": (lambda n: n > 0, "above 0"),
    "ge-zero": (lambda n: n >= 0, "0 or more"),
    "le-one": (lambda n: n <= 1, "at most 1"),
    "ge-zero le-one": (lambda n: 0 <= n <= 1, "from 0 to 1"),
    "minus-one-or-gt-zero": (lambda n: n == -1 or n > 0, "-1 or above 0"),
    "minus-one-or-ge-zero": (lambda n: n == -1 or n >= 0, "-1, 0 or more"),
    "percentage": (lambda n: 0 <= n <= 100, "from 0 to 100"),
    "percentage-or-minus-one": (lambda n: n == -1 or 0 <= n <= 100, "from 0 to 100, or -1"),
    "positive-int": (lambda n: 0 < n <= INT_MAX, "from 1 to 2147483647"),
    "minus-one-or-positive-int": (lambda n: n == -1 or 0 < n <= INT_MAX, "-1, or from 1 to 2147483647"),
    "positive-power-of-two": (lambda n: n > 0 and int(n) & (int(n) - 1) == 0, "a power of two"),
    "thread-priority-range": (lambda n: 1 <= n <= 10, "from 1 to 10"),
}


# Where the schema lists no words, the reader does.
_WORDS: dict[str, tuple[str, ...]] = {
    "address-full-message-policy-type": ("PAGE", "DROP", "FAIL", "BLOCK"),
    "disk-full-message-policy-type": ("DROP", "FAIL", "BLOCK"),
    "page-full-message-policy-type": ("DROP", "FAIL"),
    "slow-consumer-policy-type": ("KILL", "NOTIFY"),
    "deletion-policy-type": ("OFF", "FORCE"),
    "routing-type": ("ANYCAST", "MULTICAST"),
    "component-routing-type": ("ANYCAST", "MULTICAST", "PASS", "STRIP"),
    "journal-type": ("NIO", "ASYNCIO", "MAPPED"),
}


def fault(fact: ReaderFact, text: str, edition: Edition) -> str:
    """Return why the reader refuses the text, as half a sentence; empty if it accepts the text."""
    if fact.read_as.startswith(("string", "enum")):
        return _string_fault(fact.check, trimmed(text))
    try:
        number = _number(fact.read_as, text, edition)
    except SizeError as err:
        return str(err)
    holds, needed = _RANGES.get(fact.check, (lambda _: True, ""))
    shown = trimmed(text)
    return (
        ""
        if holds(number) and not (isinstance(number, float) and math.isnan(number) and needed)
        else (f"'{shown}' is out of range: {needed} is needed")
    )


def range_asked(fact: ReaderFact) -> str:
    """Return the range or words that the reader requires; empty if it requires nothing that has a short name."""
    return _RANGES[fact.check][1] if fact.check in _RANGES else "|".join(_WORDS.get(fact.check, ()))


def _number(read_as: str, text: str, edition: Edition) -> Number:
    match read_as.removesuffix(" attribute"):
        case "int":
            return parse_int(text)
        case "long":
            return parse_long(text)
        case "double":
            return parse_double(text)
        case _:
            return wrapped(parse_size(text, edition).value)


def _string_fault(check: str, text: str) -> str:
    if check == "not-null-or-empty" and not text:
        return "empty, but text is needed"
    if check in _WORDS and text not in _WORDS[check]:
        return f"'{text[:40]}' is not one of {', '.join(_WORDS[check])}"
    if check == "null-or-two-characters" and len(text) != 2:
        return f"'{text}' has {len(text)} characters, but needs two"
    return ""
