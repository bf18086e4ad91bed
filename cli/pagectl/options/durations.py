"""Lengths of time as people write them: ``6h``, ``90m``, ``1h30m``, ``2d``, plain seconds."""

from __future__ import annotations

import re

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])", re.ASCII)


def parse_duration(text: str) -> float:
    """Seconds; ValueError says what is wrong."""
    plain = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", plain, re.ASCII):
        return float(plain)
    if not plain or _PART.sub("", plain):
        raise ValueError(f"{text!r} is not a length of time such as 6h, 90m, 1h30m or 2d")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(plain))
