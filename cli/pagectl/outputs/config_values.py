"""Settings in force as rows of text: name, value with its unit, and where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brokerconf.evidence.queue_declarations import QueueDeclarations
from brokerconf.evidence.without_effect import without_effect
from brokerconf.reading.secrets import HIDDEN, masked
from brokerconf.settings.address_settings import EffectiveValue, Values
from brokerconf.settings.comparison import ConfigurationDifferences, SettingDifference
from brokerconf.settings.effective import EffectiveSettings
from brokerconf.settings.settings_model import Scope, Setting, in_scope

from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table, say
from pagefmt.quantities import size_text


def print_effective(
    settings: EffectiveSettings, declared: QueueDeclarations, addresses: Iterable[str], *, every: bool
) -> None:
    """Print the settings in force for addresses and for the broker; without ``every`` only what is set somewhere."""
    for name in addresses:
        idle = without_effect(settings, declared, name)
        matches = ", ".join(repr(match.text) for match in settings.matches(name)) or "none"
        print(f"{one_line(name)} (matches, the most specific first: {one_line(matches)})")
        values = settings.address(name)
        _print_values({key: value for key, value in values.items() if key not in idle}, Scope.ADDRESS, every=every)
        for reason in dict.fromkeys(idle.values()):
            of_reason = [key for key in idle if idle[key] == reason and (every or values[key].origin is not None)]
            if of_reason:
                say(f"no effect: {', '.join(of_reason)}: {one_line(reason)}", 2)
        print()
    print("broker")
    _print_values(settings.broker(), Scope.BROKER, every=every)


def _print_values(values: Values, scope: Scope, *, every: bool) -> None:
    table = list(rows(values, scope, every=every))
    if table:
        print_table(("setting", "value", "from"), table, prose=True)
    else:
        print("nothing is set; --all shows the defaults")


def print_differences(differences: ConfigurationDifferences) -> None:
    """Print the settings that differ: those of the broker, then those of each address."""
    _print_difference("broker", differences.broker, Scope.BROKER)
    for name, of_address in differences.addresses.items():
        _print_difference(name, of_address, Scope.ADDRESS)
    if not differences.exist:
        print("no difference in effect")


def _print_difference(title: str, differences: list[SettingDifference], scope: Scope) -> None:
    if not differences:
        return
    settings = in_scope(scope)
    print(one_line(title))
    table = (
        (row.setting, *(side_text(side, row.setting, settings.get(row.setting)) for side in (row.one, row.other)))
        for row in differences
    )
    print_table(("setting", "A", "B"), table, prose=True)
    print()


def rows(values: Values, scope: Scope, *, every: bool) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and source of settings; without ``every``, only of those that are set somewhere."""
    settings = in_scope(scope)
    for name in sorted(values):
        value = values[name]
        if every or value.origin is not None:
            yield name, value_text(value, name, settings.get(name)), source_text(value)


def value_text(effective: EffectiveValue, name: str, setting: Setting | None = None) -> str:
    """Return a value for people: sizes also in larger units, "not set" if unset, ``?`` if not known."""
    if effective.secret or not effective.known:
        return HIDDEN if effective.secret else "?"
    value = effective.value
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
            return masked(value, name) + (" (known to the running broker)" if effective.unknown else "")


def source_text(effective: EffectiveValue) -> str:
    """Return the origin of a value, such as ``broker.xml:12, match 'a.#'``."""
    origin = effective.origin
    if origin is None:
        return "default" if effective.known else "not in this file"
    at = origin.position
    return f"{at.file}:{at.line}" + (f", match '{origin.match}'" if origin.match is not None else "")


def side_text(side: EffectiveValue | None, name: str, setting: Setting | None) -> str:
    """Return one side of a comparison; None stands for an edition without the setting."""
    if side is None:
        return "(unknown to that edition)"
    return f"{value_text(side, name, setting)} ({source_text(side)})"
