"""Effect of ``broker.properties`` and system properties on the settings in force (docs/spec/settings.md 1)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from brokerconf.properties.application import apply_all
from brokerconf.properties.outcomes import Outcome
from brokerconf.schema.beans import ROOT
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.matching import MatchError
from brokerconf.settings.settings_model import Scope, Setting, Value, in_scope
from pagefmt.editions import Edition

if TYPE_CHECKING:
    from brokerconf.reading.property_entries import Entry

_CHARACTERS = {"delimiter": "delimiter", "anyWords": "any_words", "singleWord": "single_word"}
_ADDRESSES = ("addressSettings", "addressesSettings")


def apply(settings: EffectiveSettings, entries: Iterable[Entry]) -> list[Entry]:
    """Apply the entries to the settings, later ones last; return those that set nothing known."""
    outcomes = apply_all(entries, settings.edition, settings.core)
    return [outcome.entry for outcome in outcomes if not lay_over(settings, outcome)]


def lay_over(settings: EffectiveSettings, outcome: Outcome) -> bool:
    """Apply what an entry set to the settings; return whether it is one of them."""
    if not outcome.applied:
        return False
    match outcome.path:
        case ("wildcardConfiguration", name) if name in _CHARACTERS:
            settings.respell(settings.wildcards._replace(**{_CHARACTERS[name]: str(outcome.value)}))
            return True
        case (name,) if outcome.owner == ROOT and name in _by_bean(Scope.BROKER):
            setting = _by_bean(Scope.BROKER)[name]
            settings.override_broker(setting.name, _value(outcome), outcome.entry.position, outcome.entry.value)
            markers = str(outcome.value)
            if name == "literalMatchMarkers" and settings.edition >= Edition.ARTEMIS_2_44:
                settings.respell(settings.wildcards._replace(literal_markers=markers if len(markers) == 2 else ""))
            return True
        case (collection, written) if collection in _ADDRESSES and outcome.value is None:
            settings.forget(written)
            return True
        case (collection,) if collection in _ADDRESSES and outcome.value is None:
            settings.forget()
            return True
        case (collection, written, name) if collection in _ADDRESSES and settings.edition >= Edition.ARTEMIS_2_28:
            return _set(settings, written, _by_bean(Scope.ADDRESS).get(name), outcome)
    return False


def _set(settings: EffectiveSettings, written: str, setting: Setting | None, outcome: Outcome) -> bool:
    value = _value(outcome)
    unset = setting and setting.name.startswith("prefetch-page-") and isinstance(value, int) and value <= 0
    if setting is None or unset:
        return False
    try:
        settings.override(written, setting.name, value, outcome.entry.position, outcome.entry.value)
    except MatchError:
        return False
    return True


@cache
def _by_bean(scope: Scope) -> dict[str, Setting]:
    return {setting.bean: setting for setting in in_scope(scope).values() if setting.bean}


def _value(outcome: Outcome) -> Value:
    value = outcome.value
    return value if isinstance(value, bool | int | float | str) else None
