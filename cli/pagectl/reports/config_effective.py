"""Settings in force, and where they were set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from brokerconf.evidence.without_effect import without_effect
from brokerconf.reading.secrets import HIDDEN, masked
from msgspec import UNSET, UnsetType

from pagectl.reports.form import Count, Report

if TYPE_CHECKING:
    from brokerconf.evidence.queue_declarations import QueueDeclarations
    from brokerconf.settings.address_settings import EffectiveValue, Origin, Values
    from brokerconf.settings.effective import EffectiveSettings


class SettingSource(Report):
    """The place where a setting was set."""

    file: str
    line: Count
    match: str | UnsetType = UNSET
    """The match of the address setting; absent for settings of the broker."""

    @classmethod
    def of(cls, origin: Origin) -> SettingSource:
        """Return the report of an origin."""
        at = origin.position
        return cls(file=at.file, line=at.line, match=UNSET if origin.match is None else origin.match)


class EffectiveSetting(Report):
    """The value of a setting, and where it comes from."""

    value: str | int | float | bool | None
    """Sizes in bytes; null for not set; ``****`` for a secret."""
    source: SettingSource | Literal["default", "unknown"]
    """``unknown``: what decides the value is not in the configuration."""

    @classmethod
    def of(cls, effective: EffectiveValue, name: str) -> EffectiveSetting:
        """Return the report of the value of the setting ``name``."""
        value = effective.value
        if effective.secret:
            value = HIDDEN
        elif isinstance(value, str):
            value = masked(value, name)
        if effective.origin is not None:
            return cls(value=value, source=SettingSource.of(effective.origin))
        return cls(value=value, source="default" if effective.known else "unknown")


class AddressInForce(Report):
    """The settings in force for an address."""

    settings: dict[str, EffectiveSetting]
    without_effect: dict[str, str]
    """Settings that do nothing for this address, and why."""


class ConfigEffective(Report):
    """``config effective --format json``: the settings in force for addresses, and for the broker."""

    addresses: dict[str, AddressInForce]
    broker: dict[str, EffectiveSetting]

    @classmethod
    def of(cls, settings: EffectiveSettings, declared: QueueDeclarations, addresses: Iterable[str]) -> ConfigEffective:
        """Return the settings in force for addresses, in their order, and then those for the broker."""
        by_address = {
            name: AddressInForce(
                settings=_by_name(settings.address(name)), without_effect=dict(without_effect(settings, declared, name))
            )
            for name in addresses
        }
        return cls(addresses=by_address, broker=_by_name(settings.broker()))


def _by_name(values: Values) -> dict[str, EffectiveSetting]:
    return {name: EffectiveSetting.of(value, name) for name, value in sorted(values.items())}


ANSWERS = {"config-effective": ConfigEffective}
