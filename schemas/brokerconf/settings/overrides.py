"""What ``broker.properties`` and system properties set over the file (docs/spec/settings.md 1), with their own reading.

No range is checked there. A size with a unit is understood only where the broker keeps 64 bits; elsewhere it becomes 0,
or is left out for the prefetch limits. An unknown word of an enumeration leaves the value as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from brokerconf.reading.sizes import SizeError, parse_long, parse_size
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.matching import MatchError
from brokerconf.settings.settings_model import Scope, Setting, Value, in_scope
from pagefmt.editions import Edition

if TYPE_CHECKING:
    from brokerconf.reading.properties import Entry

_ADDRESS = re.compile(r'addressSettings\.("(?P<quoted>[^"]*)"|(?P<plain>[^".]+))\.(?P<bean>\w+)')
_TRUE = frozenset({"true", "yes", "on", "1", "y"})
# setters of a plain ``long`` take units and refuse what is no number, by real classes of 2.44 and 2.56; all other
# numbers, also those of ``Long``, take no units and make 0 of it
_LONG_SIZES = {"globalMaxSize", "minDiskFree", "maxSizeBytes", "maxSizeBytesRejectThreshold"}
_BOXED = {"expiryDelay", "minExpiryDelay", "maxExpiryDelay", "defaultDelayBeforeDispatch", "pageLimitMessages"}


def apply(settings: EffectiveSettings, entries: Iterable[Entry]) -> list[Entry]:
    """Lays the entries over the settings, the later ones last; returns those that set nothing known."""
    return [entry for entry in entries if not _applied(settings, entry)]


def _applied(settings: EffectiveSettings, entry: Entry) -> bool:
    found = _ADDRESS.fullmatch(entry.key)
    if found is None:
        setting = _by_bean(Scope.BROKER).get(entry.key)
        value = _value(setting, entry.value) if setting else None
        if setting is None or value is None:
            return False
        settings.override_broker(setting.name, value, entry.position, entry.value)
        return True
    if settings.edition < Edition.ARTEMIS_2_28:
        return False
    setting = _by_bean(Scope.ADDRESS).get(found["bean"])
    value = _value(setting, entry.value) if setting else None
    if setting is None or value is None:
        return False
    match = found["quoted"] if found["quoted"] is not None else found["plain"]
    try:
        settings.override(match, setting.name, value, entry.position, entry.value)
    except MatchError:
        return False
    return True


def _by_bean(scope: Scope) -> dict[str, Setting]:
    return {setting.bean: setting for setting in in_scope(scope).values() if setting.bean}


def _value(setting: Setting, text: str) -> Value:
    """The value as the setter takes it; None where the old one stays."""
    match setting.kind:
        case "boolean":
            return text.lower() in _TRUE
        case "enum":
            return text if text in setting.allowed.split("|") else None
        case "int" | "long" | "size":
            return _number(setting, text)
        case "double":
            try:
                return float(text)
            except ValueError:
                return 0.0
        case _:
            return text


def _number(setting: Setting, text: str) -> int | None:
    prefetch = setting.name.startswith("prefetch-page-")
    primitive = setting.bean in _LONG_SIZES or (setting.kind == "long" and setting.bean not in _BOXED)
    try:
        number = parse_size(text).value if primitive else parse_long(text)
    except SizeError:
        return None if prefetch or primitive else 0
    return None if prefetch and number <= 0 else number
