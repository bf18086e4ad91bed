"""Settings in force as rows of text: name, value with its unit, and where it came from."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.reading.secrets import masked
from brokerconf.settings.address_settings import EffectiveValue, Origin, Values
from brokerconf.settings.settings_model import Scope, Setting, Value, in_scope

from pagefmt.quantities import size_text


def rows(values: Values, scope: Scope, *, every: bool) -> Iterator[tuple[str, str, str]]:
    """(name, value, source); without ``every`` only what is set somewhere."""
    known = in_scope(scope)
    for name in sorted(values):
        value = values[name]
        if every or value.origin is not None:
            yield name, _text(value, name, known.get(name)), source_text(value.origin)


def value_text(value: Value, name: str, setting: Setting | None = None) -> str:
    """As a person reads it: sizes also in larger units, nothing for what is not set."""
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
            return masked(value, name)


def source_text(origin: Origin | None) -> str:
    """As ``broker.xml:12, match 'a.#'``."""
    if origin is None:
        return "default"
    at = origin.position
    return f"{at.file}:{at.line}" + (f", match '{origin.match}'" if origin.match is not None else "")


def side_text(side: EffectiveValue | None, name: str, setting: Setting | None) -> str:
    """One side of a comparison."""
    if side is None:
        return "(unknown to that edition)"
    return f"{_text(side, name, setting)} ({source_text(side.origin)})"


def _text(value: EffectiveValue, name: str, setting: Setting | None) -> str:
    """A value that was set and is none is an expression that only the running server resolves."""
    if value.value is None and value.origin is not None:
        return "? (known to the running server)"
    return value_text(value.value, name, setting)
