"""Lengths of time as people write them: ``6h``, ``90m``, ``1h30m``, ``2d``; seconds and rates."""

from __future__ import annotations

import math
import re

import typer

_DAY = 86400
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_PART = r"(?a)(\d+(?:\.\d+)?)([dhms])"


def parse_duration(text: str) -> float:
    """Return the seconds. Raise ``ValueError``, which says what is wrong: also of a number without a unit."""
    plain = text.strip().lower()
    seconds = sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, plain))
    if not plain or re.sub(_PART, "", plain) or seconds == math.inf:
        raise ValueError(f"{text!r} is not a length of time such as 6h, 90m, 1h30m or 2d")
    return seconds


def bounded_seconds(value: float | None) -> float | None:
    """Return an option's number of seconds. Raise ``BadParameter`` above a day, which no wait of the system needs."""
    if value is not None and not value <= _DAY:
        raise typer.BadParameter(f"{value:g} is not a number of seconds up to a day ({_DAY})")
    return value


def real_number(value: float | None) -> float | None:
    """Return an option's number. Raise ``BadParameter`` for ``nan``, which is within any limits."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter(f"{value} is not a number")
    return value
