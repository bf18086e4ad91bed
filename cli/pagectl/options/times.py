"""Instants as people write them: ISO times, dates, times of day, and ages such as ``2h``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pagectl.options.durations import parse_duration
from pagefmt.quantities import time_text

TIME_HELP = (
    "2026-11-22T10:00, with Z, +01:00 or in the local zone; a date (its midnight), 10:00 (today), an age such as 2h, "
    "or milliseconds since 1970 as JSON has them"
)
_AGE = re.compile(r"(\d+(\.\d+)?[dhms])+", re.ASCII | re.IGNORECASE)
_MILLISECONDS = re.compile(r"\d{11,}", re.ASCII)
_TIME_OF_DAY = re.compile(r"T?\d{1,2}:\d\d", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def parse_instant(text: str, now: datetime) -> datetime:
    """Return a time as written by the user in UTC. Raise ``ValueError`` with a message if it is invalid.

    ``now`` has a time zone, and is the reference for ages and times of day.
    """
    plain = text.strip()
    try:
        if _AGE.fullmatch(plain):
            return (now - timedelta(seconds=parse_duration(plain))).astimezone(UTC)
        if _MILLISECONDS.fullmatch(plain):
            return _EPOCH + int(plain) * _MILLISECOND
        if _TIME_OF_DAY.match(plain):
            hour, colon, minutes = plain.removeprefix("T").partition(":")
            plain = f"{now.astimezone():%Y-%m-%d}T{hour:0>2}{colon}{minutes}"
        return datetime.fromisoformat(plain.upper()).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!r} is not a time; write {TIME_HELP}") from None


def milliseconds(instant: datetime) -> int:
    """Since 1970-01-01 UTC, as brokers count."""
    return (instant - _EPOCH) // _MILLISECOND


def in_both_zones(instant: datetime) -> str:
    """UTC, and the local zone where that is another."""
    local = instant.astimezone()
    utc = time_text(milliseconds(instant), "seconds")
    return utc if local.utcoffset() == UTC.utcoffset(None) else f"{utc} ({local.isoformat(timespec='seconds')})"
