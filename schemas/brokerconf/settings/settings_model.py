"""Every setting that concerns paging, memory, disk and stores: type, unit, default by release, since, effect, trap.

The facts stand in ``facts/settings.csv`` (one row a setting, ``;`` between fields). A default is one text for all
releases, or ``release:text`` pairs of which the last that has begun counts; ``hq`` stands for HornetQ.
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
_DATED = re.compile(r"(?:^| )(hq|\d+\.\d+\.\d+):")


class Scope(Enum):
    """Where a setting stands: below ``core``, in an ``address-setting``, in ``database-store``, … or in a URL."""

    BROKER = "broker"
    ADDRESS = "address"
    STORE = "store"
    WILDCARD = "wildcard"
    URL = "url"
    PROPERTY = "property"


class Setting(NamedTuple):
    """One setting. ``kind`` is boolean, int, long, double, size, enum, text, path or char; ``bean`` its name in
    ``broker.properties``; ``ignored`` the release from which it has no effect."""

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
        """Whether that edition's schema has it."""
        now = release(edition)
        return version(self.since) <= now and (not self.until or now < version(self.until))

    def ignored_in(self, edition: Edition) -> bool:
        """Whether the edition accepts the setting and ignores it."""
        return bool(self.ignored) and version(self.ignored) <= release(edition)

    def default_said(self, edition: Edition) -> str:
        """The default in words, as a person reads it."""
        dated = list(_DATED.finditer(self.default_text))
        if not dated:
            return self.default_text
        said = ""
        for found, following in zip(dated, [*dated[1:], None], strict=True):
            if version(found.group(1)) <= release(edition):
                said = self.default_text[found.end() : following.start() if following else None]
        return said

    def default(self, edition: Edition) -> Value:
        """The default as a value; None where there is none, or where it is worked out from other settings."""
        said = self.default_said(edition)
        try:
            return self.value(said, edition) if said or (self.kind == "text" and self.name.endswith("fix")) else None
        except SizeError:
            return None

    def value(self, text: str, edition: Edition) -> Value:
        """A text of the file as the broker reads it; raises ``SizeError``."""
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
    """A number as the broker's reader takes it; ``INF`` is not one, though the schema has it."""
    try:
        number = re.fullmatch(
            r"[+-]?(\d++\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|Infinity|NaN)[dDfF]?", trimmed(text)
        )
        return float(number.group().rstrip("dDfF").replace("Infinity", "inf") if number else "x")
    except ValueError:
        raise SizeError(f"'{masked(trimmed(text))}' is not a number") from None


def version(text: str) -> Release:
    """``2.28.0`` as numbers; HornetQ comes before all."""
    return HORNETQ if text == "hq" else tuple(int(part) for part in text.split("."))


def release(edition: Edition) -> Release:
    """The release that an edition stands for."""
    return HORNETQ if edition is Edition.HORNETQ_2_4 else version(edition.release)


@cache
def settings() -> tuple[Setting, ...]:
    """All of them, in the order of the table."""
    return tuple(Setting(Scope(scope), *rest) for scope, *rest in read_table("settings.csv"))


@cache
def in_scope(scope: Scope) -> dict[str, Setting]:
    """The settings of one place, by name."""
    return {setting.name: setting for setting in settings() if setting.scope is scope}


def find(name: str) -> list[Setting]:
    """The settings of that name, wherever they stand."""
    return [setting for setting in settings() if setting.name == name]


class ManualsSaying(NamedTuple):
    """What manuals say of a setting, and what brokers do instead."""

    says: str
    does: str


def contradicted(name: str) -> list[ManualsSaying]:
    """Where manuals and brokers disagree about a setting."""
    return [ManualsSaying(says, does) for setting, says, does in read_table("manuals.csv") if setting == name]
