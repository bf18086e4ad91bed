"""Comparison of two configurations in effect: what the broker and each address would use differently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brokerconf.settings.address_settings import EffectiveValue, Values
from brokerconf.settings.effective import EffectiveSettings

# A word that no address has, for an address that fits a match and as few others as possible.
_ANY = "\N{MIDDLE DOT}"


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """Setting that differs; a side is None if its edition does not know the setting."""

    setting: str
    one: EffectiveValue | None
    other: EffectiveValue | None


@dataclass(frozen=True, slots=True)
class ConfigurationDifferences:
    """Differences of two configurations: settings of the broker, and by address those that differ there."""

    broker: list[SettingDifference]
    addresses: dict[str, list[SettingDifference]]

    @property
    def exist(self) -> bool:
        """Return whether anything differs."""
        return bool(self.broker or self.addresses)


def compare(a: EffectiveSettings, b: EffectiveSettings, addresses: Iterable[str] = ()) -> ConfigurationDifferences:
    """Return the differences of the broker and of every address, or only of ``addresses`` if there are any."""
    names = list(addresses)
    # the broker's own settings say nothing about one address
    of_broker = [] if names else differences(a.broker(), b.broker())
    by_address = {name: differences(a.address(name), b.address(name)) for name in names or addresses_to_compare(a, b)}
    return ConfigurationDifferences(of_broker, {name: rows for name, rows in by_address.items() if rows})


def differences(values: Values, other: Values) -> list[SettingDifference]:
    """Return the settings whose values differ by name, wherever they were set.

    An unknown value differs from one that was set, and says nothing about a default.
    """
    result = []
    for name in sorted(values.keys() | other.keys()):
        value, other_value = values.get(name), other.get(name)
        if value and other_value and not (value.known and other_value.known):
            differs = (value.origin or other_value.origin) is not None
        else:
            differs = (value.value if value else None) != (other_value.value if other_value else None)
        if differs:
            result.append(SettingDifference(name, value, other_value))
    return result


def addresses_to_compare(*configurations: EffectiveSettings) -> list[str]:
    """Return one address for each match and each declared address of any configuration, sorted."""
    addresses: set[str] = set()
    for settings in configurations:
        addresses.update(example_of(written, settings) for written in settings.settings)
        addresses.update(declared_addresses(settings))
    return sorted(addresses)


def example_of(written: str, settings: EffectiveSettings) -> str:
    """Return an address that a match fits and few other matches do: ``a.*.#`` becomes ``a.·.·``."""
    match, wildcards = settings.settings[written].match, settings.wildcards
    assert match is not None
    if match.literal or not match.wild:
        return match.name
    bare = match.name.removesuffix(wildcards.any_words)
    words = bare.replace(wildcards.single_word, _ANY)
    if bare == match.name:
        return words
    joint = wildcards.delimiter if words and not words.endswith(wildcards.delimiter) else ""
    return f"{words}{joint}{_ANY}"


def declared_addresses(settings: EffectiveSettings) -> list[str]:
    """Return the names of the addresses that the configuration creates."""
    block = settings.core.descendant("addresses") if settings.core else None
    nodes: Iterable[str] = (n.attributes.get("name", "") for n in block.children_named("address")) if block else ()
    return [name for name in nodes if name]
