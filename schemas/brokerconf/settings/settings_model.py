"""Every setting that concerns paging, memory, disk and stores: type, unit, default by release, since, effect, trap.

The facts are in ``facts/settings.csv`` (one row a setting, ``;`` between fields). A default is one text for all
releases, or ``release:text`` pairs of which the last that has begun counts; ``hq`` is HornetQ.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import NamedTuple

from brokerconf.reading.secrets import masked
from brokerconf.reading.sizes import SizeError, parse_boolean, parse_int, parse_long, parse_size, trimmed
from brokerconf.reading.tables import read_table
from pagefmt.editions import Edition

Value = bool | int | float | str | None
Release = tuple[int, ...]
HORNETQ: Release = (0,)
_DATED = r"(?:^| )(hq|\d+\.\d+\.\d+):"


class Scope(Enum):
    """Place of a setting: below ``core``, in an ``address-setting``, in ``database-store``, … or in a URL."""

    BROKER = "broker"
    ADDRESS = "address"
    STORE = "store"
    WILDCARD = "wildcard"
    URL = "url"
    PROPERTY = "property"


class Setting(NamedTuple):
    """Setting of the broker's configuration.

    ``kind`` is boolean, int, long, double, size, enum, text, path or char; ``bean`` its name in ``broker.properties``;
    ``ignored`` the release from which it has no effect.
    """

    scope: Scope
    name: str
    kind: str
    unit: str
    default_text: str
    since: str
    until: str
    ignored: str
    bean: str
    reload: str
    allowed: str
    effect: str
    trap: str

    def known_in(self, edition: Edition) -> bool:
        """Return whether that edition's schema has the setting."""
        now = release(edition)
        return version(self.since) <= now and (not self.until or now < version(self.until))

    def ignored_in(self, edition: Edition) -> bool:
        """Return whether the edition accepts the setting and ignores it."""
        return bool(self.ignored) and version(self.ignored) <= release(edition)

    def default_in(self, edition: Edition) -> str:
        """Return the default for an edition in words."""
        dated = list(re.finditer(_DATED, self.default_text))
        if not dated:
            return self.default_text
        text = ""
        for dated_text, following in zip(dated, [*dated[1:], None], strict=True):
            if version(dated_text.group(1)) <= release(edition):
                text = self.default_text[dated_text.end() : following.start() if following else None]
        return text

    def default(self, edition: Edition) -> Value:
        """Return the default as a value; None if there is none, or if it is derived from other settings."""
        text = self.default_in(edition)
        try:
            return self.value(text, edition) if text or (self.kind == "text" and self.name.endswith("fix")) else None
        except SizeError:
            return None

    def value(self, text: str, edition: Edition) -> Value:
        """Return the value of a text as the broker reads it; raise ``SizeError``."""
        match self.kind:
            case "boolean":
                return parse_boolean(text)
            case "int":
                return parse_int(text)
            case "long":
                return parse_long(text)
            case "size":
                return parse_size(text, edition).value
            case "double":
                return parse_double(text)
            case _:
                return trimmed(text)


def parse_double(text: str) -> float:
    """Parse a number as the broker's reader does; raise ``SizeError``, also for ``INF``, which the schema allows."""
    try:
        number = re.fullmatch(
            r"[+-]?(\d++\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|Infinity|NaN)[dDfF]?", trimmed(text)
        )
        return float(number.group().rstrip("dDfF").replace("Infinity", "inf") if number else "x")
    except ValueError:
        raise SizeError(f"'{masked(trimmed(text))}' is not a number") from None


def version(text: str) -> Release:
    """Return ``2.28.0`` as numbers; HornetQ comes before all."""
    return HORNETQ if text == "hq" else tuple(int(part) for part in text.split("."))


def release(edition: Edition) -> Release:
    """Return the release that an edition represents."""
    return HORNETQ if edition is Edition.HORNETQ_2_4 else version(edition.release)


@cache
def settings() -> tuple[Setting, ...]:
    """Return all settings in the order of the table."""
    return tuple(Setting(Scope(scope), *columns) for scope, *columns in read_table("settings.csv"))


@cache
def in_scope(scope: Scope) -> dict[str, Setting]:
    """Return the settings of one scope by name."""
    return {setting.name: setting for setting in settings() if setting.scope is scope}


def find(name: str) -> list[Setting]:
    """Return the settings of that name in all scopes."""
    return [setting for setting in settings() if setting.name == name]


class ManualsSaying(NamedTuple):
    """What manuals say about a setting, and what brokers do instead."""

    says: str
    does: str


def contradicted(name: str) -> list[ManualsSaying]:
    """Return the statements of manuals about a setting that brokers contradict."""
    return [ManualsSaying(says, does) for setting, says, does in read_table("manuals.csv") if setting == name]
