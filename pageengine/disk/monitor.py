"""The broker's disk monitor: when it exists, what it compares, what a change means (docs/spec/disk-monitor.md 1 to 4).

At each scan the monitor asks every file system for two numbers and compares::

    usable = bytes that this process may still use    f_bavail * f_frsize
    total  = size of the file system                  f_blocks * f_frsize, never above 2**63 - 1

    usage kind   : within while  usage <  limit       up to 2.30.0:  usage <= limit
                   usage = 0 if total == 0 else 1 - usable / total
                   limit = percent / 100              up to 2.30.0: in 32-bit floating point
    minimum kind : within while  usable > minimum     since 2.31.0

The first file system beyond its limit decides. Standard library alone: a check from cron has 0.1 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from struct import Struct
from typing import Final, NamedTuple

from pagefmt.editions import NEWEST, Edition

MAX_LONG: Final = 2**63 - 1
_FLOAT32: Final = Struct("f")


class LimitKind(Enum):
    """Setting in force; the value is its name in broker.xml."""

    USAGE = "max-disk-usage"
    MINIMUM = "min-disk-free"


class DiskSpace(NamedTuple):
    """File system at one moment, in bytes, as the broker's virtual machine reports it."""

    usable: int
    total: int

    @classmethod
    def of(cls, usable: int, total: int) -> DiskSpace:
        """Convert the system's numbers as Java does: signed 64 bits, an overflow becomes the largest number."""
        return cls(min(usable, MAX_LONG), min(total, MAX_LONG) if total >= 0 else MAX_LONG)

    @property
    def usage(self) -> float:
        """Return the share in use, reserved blocks included, as ``DiskStoreUsage`` of the broker shows it."""
        return 0.0 if self.total == 0 else 1.0 - float(self.usable) / float(self.total)


class DiskLimit(NamedTuple):
    """The one limit in force. ``value`` is a percentage for ``USAGE``, bytes for ``MINIMUM``."""

    kind: LimitKind
    value: int
    edition: Edition = NEWEST

    @property
    def share(self) -> float:
        """Return the usage limit as the broker's number; up to 2.30.0 in 32 bits (90 % is 0.8999999761581421)."""
        if self.edition >= Edition.ARTEMIS_2_44:
            return self.value / 100.0
        return _float32(self.value / 100.0)

    def within(self, space: DiskSpace) -> bool:
        """Return whether the broker lets producers continue with this much space."""
        if self.kind is LimitKind.MINIMUM:
            return space.usable > self.value
        if self.edition >= Edition.ARTEMIS_2_44:
            return space.usage < self.share
        return not space.usage > self.share

    def blocks_at(self, total: int) -> int | None:
        """Return the greatest number of usable bytes at which the broker blocks; None if it never does.

        Exact to the byte with the broker's floating point: ``within`` never turns from true to false as the usable
        bytes grow, so a binary search finds the boundary.
        """
        if self.within(DiskSpace(0, total)):
            return None
        beyond, within = 0, MAX_LONG
        if not self.within(DiskSpace(within, total)):
            return MAX_LONG
        while within - beyond > 1:
            middle = (beyond + within) // 2
            if self.within(DiskSpace(middle, total)):
                within = middle
            else:
                beyond = middle
        return beyond

    def margin(self, space: DiskSpace) -> int | None:
        """Return the bytes that can still be used before the broker blocks; None if it never does.

        Zero or less means that it has blocked.
        """
        at = self.blocks_at(space.total)
        return None if at is None else space.usable - at

    def __str__(self) -> str:
        return f"{self.kind.value} {self.value}{' %' if self.kind is LimitKind.USAGE else ''}"


def _float32(value: float) -> float:
    return float(_FLOAT32.unpack(_FLOAT32.pack(value))[0])


class Unmonitored(Enum):
    """Why a broker has no working disk monitor; the value is the reason in words."""

    TOO_OLD = "releases before 1.4.0 have no disk monitor"
    SWITCHED_OFF = "max-disk-usage is -1 and min-disk-free is not set"
    DATABASE = "with database-store max-disk-usage is not used, and min-disk-free is not set"
    NO_SCAN = "disk-scan-period is negative: the limits are never checked"


class DiskSettings(NamedTuple):
    """Disk settings of one configuration; None if it does not set one."""

    max_disk_usage: int | None = None
    min_disk_free: int | None = None
    disk_scan_period: int | None = None
    database: bool = False

    def limit(self, edition: Edition = NEWEST) -> DiskLimit | Unmonitored:
        """Return what the broker compares with (section 1): min-disk-free wins over max-disk-usage if it exists."""
        if edition < Edition.ARTEMIS_1_5:
            return Unmonitored.TOO_OLD
        if self.disk_scan_period is not None and self.disk_scan_period < 0:
            return Unmonitored.NO_SCAN
        newer = edition >= Edition.ARTEMIS_2_44
        if newer and self.min_disk_free not in (None, -1):
            assert self.min_disk_free is not None
            return DiskLimit(LimitKind.MINIMUM, self.min_disk_free, edition)
        if newer and self.database:
            return Unmonitored.DATABASE
        percent = default_max_disk_usage(edition) if self.max_disk_usage is None else self.max_disk_usage
        return Unmonitored.SWITCHED_OFF if percent == -1 else DiskLimit(LimitKind.USAGE, percent, edition)

    def refusal(self, edition: Edition = NEWEST) -> str | None:
        """Return why this release would not start with these numbers in broker.xml (settings.md 3); None if it does.

        ``broker.properties`` and system properties bypass the broker's checks; so does ``limit``.
        """
        if edition < Edition.ARTEMIS_1_5:
            return None
        usage, free, period = self.max_disk_usage, self.min_disk_free, self.disk_scan_period
        if usage is not None and usage not in _PERCENT and (usage != -1 or edition < Edition.ARTEMIS_2_10):
            off = " or -1" if edition >= Edition.ARTEMIS_2_10 else ""
            return f"max-disk-usage {usage} is not 0 to 100{off}"
        if free is not None and edition >= Edition.ARTEMIS_2_44 and free != -1 and free <= 0:
            return f"min-disk-free {free} is neither -1 nor above 0"
        if period is not None and period != -1 and period <= 0:
            return f"disk-scan-period {period} is neither -1 nor above 0"
        return None

    def overridden(self, edition: Edition = NEWEST) -> bool:
        """Return whether an explicit max-disk-usage has no effect because min-disk-free is set (AMQ224130)."""
        return (
            edition >= Edition.ARTEMIS_2_44
            and self.min_disk_free not in (None, -1)
            and self.max_disk_usage not in (None, -1)
        )


def default_max_disk_usage(edition: Edition) -> int:
    """Return the percentage without a setting: 90 since 2.7.0, 100 before (``artemis create`` always wrote 90)."""
    return 90 if edition >= Edition.ARTEMIS_2_10 else 100


_PERCENT: Final = range(101)


def beyond(limit: DiskLimit, spaces: Iterable[DiskSpace]) -> int | None:
    """Return the index of the first file system beyond the limit, None if there is none.

    Of several, the broker may name any.
    """
    return next((n for n, space in enumerate(spaces) if not limit.within(space)), None)


_SINCE: Final = (
    ((2, 50), Edition.ARTEMIS_2_56),  # disk-full-policy
    ((2, 31), Edition.ARTEMIS_2_44),  # min-disk-free; exactly at the limit is beyond
    ((2, 25), Edition.ARTEMIS_2_28),  # OpenWire producers are made to wait
    ((2, 17), Edition.ARTEMIS_2_17),
    ((2, 7), Edition.ARTEMIS_2_10),  # default 90
    ((2, 0), Edition.ARTEMIS_2_4),
    ((1, 4), Edition.ARTEMIS_1_5),
)


def edition_of_monitor(release: str) -> Edition:
    """Return the edition whose disk monitor a release such as ``2.31.0`` has; before 1.4.0 one without a monitor."""
    numbers = tuple(int(part) for part in release.split(".")[:2])
    return next((edition for since, edition in _SINCE if numbers >= since), Edition.HORNETQ_2_4)


class Transition(Enum):
    """Change by a scan. The value is the broker's log code of (usage kind, minimum kind)."""

    BLOCKED = ("AMQ222210", "AMQ224128")
    RELEASED = ("AMQ222211", "AMQ224129")

    def code(self, kind: LimitKind) -> str:
        """Return the code of the line that the broker logs."""
        return self.value[0 if kind is LimitKind.USAGE else 1]


@dataclass(slots=True)
class DiskMonitor:
    """State that survives from scan to scan (section 4): producers wait while ``disk_full``.

    A scan within limits releases waiting producers even when nothing changed; the caller does that.
    """

    limit: DiskLimit
    disk_full: bool = False

    def tick(self, spaces: Sequence[DiskSpace]) -> Transition | None:
        """Scan every file system once; the transition, None where nothing changed."""
        full = beyond(self.limit, spaces) is not None
        if full == self.disk_full:
            return None
        self.disk_full = full
        return Transition.BLOCKED if full else Transition.RELEASED
