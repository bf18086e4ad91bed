"""The differences in effect between two configurations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from pagectl.reports.config_effective import EffectiveSetting
from pagectl.reports.config_lint import ConfigFinding
from pagectl.reports.form import Report

if TYPE_CHECKING:
    from brokerconf.settings.comparison import ConfigurationDifferences, SettingDifference

    from pagefmt.findings import Finding


class DifferentSetting(Report):
    """A setting that differs."""

    setting: str
    a: EffectiveSetting | None
    """Null if the edition of A does not have the setting."""
    b: EffectiveSetting | None

    @classmethod
    def of(cls, difference: SettingDifference) -> DifferentSetting:
        """Return the report of a difference."""
        name, a, b = difference.setting, difference.one, difference.other
        return cls(
            setting=name,
            a=None if a is None else EffectiveSetting.of(a, name),
            b=None if b is None else EffectiveSetting.of(b, name),
        )


class StartFaults(Report):
    """The findings with which no broker starts, for each side."""

    a: list[ConfigFinding]
    b: list[ConfigFinding]


class ConfigDiff(Report):
    """``config diff --format json``: what two configurations do differently."""

    broker: list[DifferentSetting]
    addresses: dict[str, Annotated[list[DifferentSetting], Meta(min_length=1)]]
    stops_start: StartFaults

    @classmethod
    def of(cls, differences: ConfigurationDifferences, a: Sequence[Finding], b: Sequence[Finding]) -> ConfigDiff:
        """Return the report of the differences; ``a`` and ``b``: findings with which a side does not start."""
        return cls(
            broker=list(map(DifferentSetting.of, differences.broker)),
            addresses={
                name: list(map(DifferentSetting.of, of_address)) for name, of_address in differences.addresses.items()
            },
            stops_start=StartFaults(a=list(map(ConfigFinding.of, a)), b=list(map(ConfigFinding.of, b))),
        )


ANSWERS = {"config-diff": ConfigDiff}
