"""Numbers of a broker's log lines (``AMQ222039``, ``HQ224000``): ``facts/broker_codes.csv``.

A row has the number, what happened, and the settings, rules and commands that help, separated by blanks (commands by a
bar). HornetQ's lines have the same numbers.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from brokerconf.reading.tables import read_table
from brokerconf.rules import rules

_NUMBER = re.compile(r"(?i)(?<![a-z0-9])(?:AMQ|HQ)([0-9]{6})(?![0-9])|\A([0-9]{6})\Z")


class LogNumber(NamedTuple):
    """Meaning of a numbered line of the log; ``commands`` are those of ``pagectl``, without that word."""

    number: str
    happened: str
    settings: tuple[str, ...]
    rules: tuple[str, ...]
    commands: tuple[str, ...]


@cache
def log_numbers() -> dict[str, LogNumber]:
    """Return all rows by number; rules that cite a number are among its rules."""
    numbers = {}
    for number, happened, settings, named, commands in read_table("broker_codes.csv"):
        citing = (rule.id for rule in rules() if number in f"{rule.title} {rule.why} {rule.help}")
        every = tuple(dict.fromkeys((*named.split(), *citing)))
        calls = tuple(filter(None, commands.split("|")))
        numbers[number] = LogNumber(number, happened, tuple(settings.split()), every, calls)
    return numbers


def number_in(text: str) -> str | None:
    """Return the six digits after ``AMQ`` or ``HQ`` in a text, such as a whole line of the log.

    A text of six digits is a number itself. Return None if there is no number.
    """
    match = _NUMBER.search(text)
    return (match[1] or match[2]) if match else None
