"""What ``disk check`` and ``disk forecast`` say about the file systems of a broker."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Count, EditionName, PluginStatus, Report

if TYPE_CHECKING:
    from pageengine.disk.config import WhenBlocked
    from pageengine.disk.forecast import TimeLeft, Trend
    from pageengine.disk.monitor import DiskLimit

StoreWord = Literal["blocked", "near", "ok", "unmonitored"]
ExitStatus = Literal[0, 1, 2, 3]


class LimitInForce(Report):
    """The limit of the broker's disk monitor."""

    setting: Literal["max-disk-usage", "min-disk-free"]
    value: int
    """Percent for max-disk-usage, bytes for min-disk-free."""

    @classmethod
    def of(cls, limit: DiskLimit) -> LimitInForce:
        """Return the report of a limit."""
        return cls(setting=limit.kind.value, value=limit.value)


class CheckedFileSystem(Report):
    """A file system that the disk monitor looks at; sizes in bytes."""

    mount: str
    directories: list[str]
    """The broker's directories that are there, such as ``paging``."""
    state: StoreWord
    status: PluginStatus
    usable: Count
    total: Count
    usage_percent: float
    """By the broker's formula."""
    blocks_at: Count | None
    """Usable bytes at which the broker blocks; null if it never does."""
    margin: int | None
    """Bytes until the broker blocks; negative while it blocks."""
    to_free: Count | None
    """Bytes to free until the broker no longer blocks."""
    df_percent: float | None
    """The usage that df shows."""
    reserved: Count
    """Bytes reserved for root, which the broker counts as used."""
    inodes: Count
    inodes_usable: Count
    inodes_percent: float | None


class BlockedProducers(Report):
    """What producers of some addresses experience while the broker blocks."""

    addresses: list[str]
    address_full_policy: str
    disk_full_policy: str | None
    asked: Literal["waits", "refused", "goes on"]
    """What a producer gets that asks for permission to send."""
    arriving: Literal["kept in memory", "page mode", "refused", "dropped"]
    """What happens to a message that arrives nevertheless."""
    text: str

    @classmethod
    def of(cls, group: WhenBlocked) -> BlockedProducers:
        """Return the report of a group of addresses."""
        return cls(
            addresses=list(group.addresses),
            address_full_policy=group.address_full_policy,
            disk_full_policy=group.disk_full_policy,
            asked=group.effect.asked.value,
            arriving=group.effect.arriving.value,
            text=group.effect.words,
        )


class DiskCheck(Report):
    """``disk check --format json``: the broker's decision about its disks."""

    status: PluginStatus
    exit_status: ExitStatus
    state: StoreWord
    """The broker's state in one word."""
    text: str
    broker: str
    took_for: str
    """What the path was recognised as."""
    edition: EditionName
    limit: LimitInForce | None
    unmonitored: str | None
    """Why the broker has no working disk monitor."""
    stores: list[CheckedFileSystem]
    missing: list[str]
    """Directories that do not exist, which the broker does not look at."""
    when_blocked: list[BlockedProducers]
    closed_at_send: str
    """Protocols whose connections are closed at a send while the broker blocks."""
    notes: list[str]


class DiskUnknown(Report):
    """``disk check --format json`` without an answer."""

    status: Literal["UNKNOWN"]
    exit_status: Literal[3]
    state: Literal["unknown"]
    broker: str | UnsetType = UNSET
    text: str
    """Why nothing is known."""


class PluginUnknown(Report):
    """``--format json`` of a monitoring plugin without an answer."""

    status: Literal["UNKNOWN"]
    exit_status: Literal[3]
    text: str
    """Why nothing is known."""


Seconds = Annotated[float, Meta(ge=0)]


class FilledFileSystem(Report):
    """A file system, how fast it fills, and how long that lasts; bytes and seconds, null if not known."""

    mount: str
    directories: list[str]
    """The broker's directories that are there, such as ``paging``."""
    status: PluginStatus
    blocked: bool
    usable: Count
    total: Count
    usage_percent: float
    """By the broker's formula."""
    blocks_at: Count | None
    """Usable bytes at which the broker blocks; null if it never does."""
    margin: int | None
    """Bytes until the broker blocks; negative while it blocks."""
    rate: float | None
    """Growth in bytes per second."""
    rate_low: float | None
    rate_high: float | None
    samples: Count | None
    span: float | None
    """Seconds from the first sample to the last."""
    sureness: Literal["good", "fair", "poor"] | None
    seconds_left: Seconds | None
    soonest: Seconds | None
    latest: Seconds | None
    """Null also for never."""


class GrowingAddress(Report):
    """An address that grows; bytes and seconds, null if not known."""

    address: str
    bytes: Count
    rate: float | None
    """Growth in bytes per second."""
    rate_low: float | None
    rate_high: float | None
    samples: Count | None
    span: float | None
    """Seconds from the first sample to the last."""
    sureness: Literal["good", "fair", "poor"] | None
    seconds_left: Seconds | None
    """Until the broker blocks if only this address continues to grow."""
    soonest: Seconds | None
    latest: Seconds | None
    """Null also for never."""


def trend_values(trend: Trend | None) -> dict[str, Any]:
    """Return the fields of a report that describe how fast something grows."""
    if trend is None:
        return dict.fromkeys(("rate", "rate_low", "rate_high", "samples", "span", "sureness"))
    return {
        "rate": trend.rate,
        "rate_low": trend.low,
        "rate_high": trend.high,
        "samples": trend.samples,
        "span": trend.span,
        "sureness": str(trend.sureness),
    }


def left_values(left: TimeLeft | None) -> dict[str, Any]:
    """Return the fields of a report that say how long it lasts."""
    if left is None:
        return dict.fromkeys(("seconds_left", "soonest", "latest"))
    latest = None if math.isinf(left.latest) else left.latest
    return {"seconds_left": left.seconds, "soonest": left.soonest, "latest": latest}


class DiskForecast(Report):
    """``disk forecast --format json``: when the broker will block; seconds, bytes per second."""

    status: PluginStatus
    exit_status: ExitStatus
    text: str
    took_for: str
    """What the path was recognised as."""
    edition: EditionName
    samples: Count
    warn_within: Seconds | None
    critical_within: Seconds | None
    stores: list[FilledFileSystem]
    addresses: list[GrowingAddress]
    notes: list[str]


ANSWERS = {"disk-check": (DiskCheck, DiskUnknown), "disk-forecast": (DiskForecast, PluginUnknown)}
