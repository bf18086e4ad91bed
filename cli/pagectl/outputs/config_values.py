"""Settings in force as rows of text: name, value with its unit, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.reading.secrets import HIDDEN, masked
from brokerconf.settings.address_settings import EffectiveValue, Values
from brokerconf.settings.settings_model import Scope, Setting, in_scope

from pagefmt.quantities import size_text


def rows(values: Values, scope: Scope, *, every: bool) -> Iterator[tuple[str, str, str]]:
    """(name, value, source); without ``every`` only what is set somewhere."""
    known = in_scope(scope)
    for name in sorted(values):
        value = values[name]
        if every or value.origin is not None:
            yield name, value_text(value, name, known.get(name)), source_text(value)


def value_text(found: EffectiveValue, name: str, setting: Setting | None = None) -> str:
    """As a person reads it: sizes also in larger units, nothing for what is not set, ``?`` for what is not known."""
    if found.secret or not found.known:
        return HIDDEN if found.secret else "?"
    value = found.value
    match value:
        case None:
            return "a share of the heap" if name == "global-max-size" else "not set"
        case bool():
            return "true" if value else "false"
        case int():
            large = setting is not None and setting.unit == "bytes" and value >= 1024
            unit = f" {setting.unit}" if setting and setting.unit and value >= 0 else ""
            return f"{value}{unit} ({size_text(value)})" if large else f"{value}{unit}"
        case float():
            return f"{value:g}"
        case str():
            return masked(value, name) + (" (known to the running broker)" if found.unknown else "")


def source_text(found: EffectiveValue) -> str:
    """As ``broker.xml:12, match 'a.#'``."""
    origin = found.origin
    if origin is None:
        return "default" if found.known else "not in this file"
    at = origin.position
    return f"{at.file}:{at.line}" + (f", match '{origin.match}'" if origin.match is not None else "")


def side_text(side: EffectiveValue | None, name: str, setting: Setting | None) -> str:
    """One side of a comparison."""
    if side is None:
        return "(unknown to that edition)"
    return f"{value_text(side, name, setting)} ({source_text(side)})"
