"""Two configurations compared in effect: what the broker and each address would use differently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brokerconf.settings.address_settings import EffectiveValue, Values
from brokerconf.settings.effective import EffectiveSettings

# A word that no address has, for an address that fits a match and as few others as possible.
_ANY = "\N{MIDDLE DOT}"


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """A setting that differs; None where an edition does not know it."""

    setting: str
    one: EffectiveValue | None
    other: EffectiveValue | None


@dataclass(frozen=True, slots=True)
class ConfigurationDifferences:
    """What two configurations do differently: settings of the broker, and by address those that differ there."""

    broker: list[SettingDifference]
    addresses: dict[str, list[SettingDifference]]

    @property
    def exist(self) -> bool:
        """Whether anything differs."""
        return bool(self.broker or self.addresses)


def compare(a: EffectiveSettings, b: EffectiveSettings, addresses: Iterable[str] = ()) -> ConfigurationDifferences:
    """Return the differences of the broker and of every address, or only of ``addresses`` if there are any."""
    names = list(addresses)
    # the broker's own settings say nothing about one address
    of_broker = [] if names else differences(a.broker(), b.broker())
    by_address = {name: differences(a.address(name), b.address(name)) for name in names or addresses_to_compare(a, b)}
    return ConfigurationDifferences(of_broker, {name: rows for name, rows in by_address.items() if rows})


def differences(one: Values, other: Values) -> list[SettingDifference]:
    """The settings whose values differ, by name; where they were set does not matter.

    A value that is not known differs from one that was set, and says nothing of a default.
    """
    found = []
    for name in sorted(one.keys() | other.keys()):
        here, there = one.get(name), other.get(name)
        if here and there and not (here.known and there.known):
            differs = (here.origin or there.origin) is not None
        else:
            differs = (here.value if here else None) != (there.value if there else None)
        if differs:
            found.append(SettingDifference(name, here, there))
    return found


def addresses_to_compare(*configurations: EffectiveSettings) -> list[str]:
    """An address for each match and each declared address of any of them."""
    found: set[str] = set()
    for settings in configurations:
        found.update(example_of(written, settings) for written in settings.settings)
        found.update(declared_addresses(settings))
    return sorted(found)


def example_of(written: str, settings: EffectiveSettings) -> str:
    """An address that fits a match: ``a.*.#`` becomes ``a.·.·``, as few others as possible fit it."""
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
    """The names of the addresses that the configuration creates."""
    block = settings.core.descendant("addresses") if settings.core else None
    nodes: Iterable[str] = (n.attributes.get("name", "") for n in block.children_named("address")) if block else ()
    return [name for name in nodes if name]
