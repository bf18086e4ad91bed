"""What ``-w`` and ``-c`` mean for a store, and the status that follows.

A range of plain numbers (a percent sign may follow) is about the usage in percent as the broker works it out. With a
size unit (``10G:``) it is about the bytes left until the broker blocks.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from pagectl.terminal.nagios import Range, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pageengine.disk.state import FileStoreState

_SIZE = r"(?ia)(?<!\d)(\d++(?:\.\d*+)?)\s*([kmgt])i?b?"
_FACTORS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class Threshold(NamedTuple):
    """A range over the usage in percent, or with ``of_margin`` over the bytes that are left."""

    range: Range
    of_margin: bool = False

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """ValueError says what is wrong with the text."""
        bytes_text, sizes = with_sizes_in_bytes(text)
        if sizes and "%" in text:
            raise ValueError(f"{text!r} mixes percent and bytes")
        try:
            return cls(Range.parse(re.sub(r"(?<=\d)%", "", bytes_text)), bool(sizes))
        except ValueError:
            raise ValueError(f"{text!r} is not a range such as 80, 70:80, @80:90, 10G: or 500M:") from None

    def alerts(self, store: FileStoreState) -> bool:
        """Return whether the store's usage or margin is in the range that alerts."""
        value = store.margin if self.of_margin else store.usage_percent
        return value is not None and self.range.alerts(value)


def with_sizes_in_bytes(text: str) -> tuple[str, int]:
    """Return a range with its sizes as plain numbers of bytes, and the number of sizes in it."""
    return re.subn(_SIZE, _in_bytes, text)


def _in_bytes(size: re.Match[str]) -> str:
    return f"{float(size[1]) * _FACTORS[size[2].lower()]:.0f}"


# fraction of the usable bytes; with less left, the default is to warn
NEAR = 0.1


class Thresholds(NamedTuple):
    """All of one call; None where not asked for, and then ``warn`` is by ``NEAR``. Inodes: used, in percent."""

    warn: Threshold | None = None
    crit: Threshold | None = None
    inodes_warn: Range | None = None
    inodes_crit: Range | None = None

    def status(self, store: FileStoreState) -> Status:
        """Return the status of a store.

        A blocked store, and one without a single free inode, is critical whatever the thresholds are.
        """
        if not store.within or _alerts(self.crit, store) or self._inodes(store, self.inodes_crit):
            return Status.CRITICAL
        if store.file_system.inodes > 0 and store.file_system.inodes_usable <= 0:
            return Status.CRITICAL
        if self._warned(store) or self._inodes(store, self.inodes_warn):
            return Status.WARNING
        return Status.OK

    def worst(self, stores: Iterable[FileStoreState]) -> Status:
        """Return the gravest status of the stores."""
        return Status.worst(self.status(store) for store in stores)

    def near(self, store: FileStoreState) -> bool:
        """Return whether usage is within the warning margin below the limit."""
        return store.within and (self._warned(store) or _alerts(self.crit, store))

    def margin_warn(self, store: FileStoreState) -> Range | None:
        """Return the free bytes for which a warning is given, None without a margin."""
        if self.warn is not None:
            return self.warn.range if self.warn.of_margin else None
        if store.blocks_at is None:
            return None
        return Range(max(1, int(NEAR * (store.space.total - store.blocks_at))), math.inf)

    def _warned(self, store: FileStoreState) -> bool:
        if self.warn is not None:
            return self.warn.alerts(store)
        default = self.margin_warn(store)
        return default is not None and store.margin is not None and default.alerts(store.margin)

    def _inodes(self, store: FileStoreState, limit: Range | None) -> bool:
        percent = store.file_system.inodes_percent
        return limit is not None and percent is not None and limit.alerts(percent)


def _alerts(threshold: Threshold | None, store: FileStoreState) -> bool:
    return threshold is not None and threshold.alerts(store)
