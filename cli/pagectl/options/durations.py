"""Lengths of time as people write them: ``6h``, ``90m``, ``1h30m``, ``2d``, plain seconds."""

from __future__ import annotations

import re

import typer

_DAY = 86400
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


def bounded_seconds(value: float | None) -> float | None:
    """Return an option's number of seconds. Raise ``BadParameter`` above a day, which no wait of the system needs."""
    if value is not None and not value <= _DAY:
        raise typer.BadParameter(f"{value:g} is not a number of seconds up to a day ({_DAY})")
    return value
