"""Size notation of the broker, and the whole numbers it reads (docs/spec/settings.md 2).

    blank* digits blank* [k|m|g] [i] [b] blank*      any case; factors of 1024; ``i`` since 2.28
    else a plain signed decimal number of 64 bits     no blanks, no factor

Arithmetic is that of a 64-bit signed integer: a product that does not fit wraps silently. HornetQ knows plain numbers
only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.reading.secrets import masked
from pagefmt.editions import NEWEST, Edition

LONG_MAX = 2**63 - 1
LONG_MIN = -(2**63)
INT_MAX = 2**31 - 1
INT_MIN = -(2**31)

_BLANK = "[ \\t\\n\\x0b\\f\\r]*+"
_WITH_UNIT = f"(?ia){_BLANK}([0-9]+){_BLANK}([kmg]?)(i?)(b?){_BLANK}"
_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
# More digits than any number of 64 bits has: the rest of a longer one is not looked at.
_LONGEST = 25
# What String.trim() takes off: everything up to the blank.
_TRIMMED = "".join(map(chr, range(33)))


class SizeError(BrokerConfError):
    """Error for a text that the broker does not accept as a size or number; the message says why and what would do."""


class Size(NamedTuple):
    """Size in bytes as the broker reads it; ``exact`` is what the text says, which differs if the product wrapped."""

    value: int
    exact: int

    @property
    def overflowed(self) -> bool:
        """Return whether number times unit wrapped around 64 bits."""
        return self.value != self.exact


def trimmed(text: str) -> str:
    """Return the text trimmed as the broker's reader trims it."""
    return text.strip(_TRIMMED)


def wrapped(number: int) -> int:
    """Return the number wrapped around to a 64-bit signed integer."""
    return (number + 2**63) % 2**64 - 2**63


@lru_cache(maxsize=4096)
def parse_size(text: str, edition: Edition = NEWEST) -> Size:
    """Parse a size as the reader of that edition does, ignoring blanks around it; raise ``SizeError`` if it is none."""
    text = trimmed(text)
    match = re.fullmatch(_WITH_UNIT, text) if edition > Edition.HORNETQ_2_4 else None
    if match is None:
        number = parse_long(text)
        return Size(number, number)
    digits, unit, binary, _ = match.groups()
    if binary and not unit:
        raise SizeError(f"'{text}' is not a size: 'i' is allowed only after k, m or g")
    if binary and edition < Edition.ARTEMIS_2_28:
        raise SizeError(f"'{text}' is not a size before 2.28: write {digits}{unit}B, which means the same")
    number = int(digits.lstrip("0")[:_LONGEST] or "0")
    if number > LONG_MAX:
        raise SizeError(f"'{_short(text)}' is beyond 64 bits")
    exact = number * _FACTORS[unit.lower()]
    return Size(wrapped(exact), exact)


def parse_long(text: str) -> int:
    """Parse a whole number of 64 bits as the broker's reader does; raise ``SizeError`` if it is none."""
    return _number(text, LONG_MIN, LONG_MAX, "64 bits")


def parse_int(text: str) -> int:
    """Parse a whole number of 32 bits as the broker's reader does; raise ``SizeError`` if it is none."""
    return _number(text, INT_MIN, INT_MAX, "32 bits (at most 2147483647)")


def _number(text: str, low: int, high: int, width: str) -> int:
    text = trimmed(text)
    if not re.fullmatch(r"[+-]?\d+", text):
        raise SizeError(f"'{_short(text)}' is not a number" if text else "empty, but a number is needed")
    sign, digits = ("-" if text[0] == "-" else ""), text.lstrip("+-").lstrip("0")
    number = int(f"{sign}{digits[:_LONGEST] or 0}")
    if not low <= number <= high:
        raise SizeError(f"'{_short(text)}' does not fit into {width}")
    return number


def _short(text: str) -> str:
    text = masked(text)
    return text if len(text) <= 40 else f"{text[:37]}…"


def parse_boolean(text: str) -> bool:
    """Return True only for ``true`` in any case, blanks around it ignored; the schema's ``1`` counts as false."""
    return trimmed(text).lower() == "true"
