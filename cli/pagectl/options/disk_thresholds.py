"""What ``-w`` and ``-c`` mean for a store, and the status that follows.

A range of plain numbers (a percent sign may follow) is about the usage in percent as the broker works it out. With a
size unit (``10G:``) it is about the bytes left until the broker blocks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pagectl.terminal.nagios import Range, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pageengine.disk.state import FileStoreState

_SIZE = r"(?ia)(\d+(?:\.\d*)?)\s*([kmgt])i?b?"
_FACTORS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class Threshold(NamedTuple):
    """A range over the usage in percent, or with ``of_margin`` over the bytes that are left."""

    range: Range
    of_margin: bool = False

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """ValueError says what is wrong with the text."""
        bytes_text, sizes = re.subn(_SIZE, _in_bytes, text)
        if sizes and "%" in text:
            raise ValueError(f"{text!r} mixes percent and bytes")
        try:
            return cls(Range.parse(re.sub(r"(?<=\d)%", "", bytes_text)), bool(sizes))
        except ValueError:
            raise ValueError(f"{text!r} is not a range such as 80, 70:80, @80:90, 10G: or 500M:") from None

    def alerts(self, store: FileStoreState) -> bool:
        """Whether the store's usage, or its margin, is one to alert about."""
        value = store.margin if self.of_margin else store.usage_percent
        return value is not None and self.range.alerts(value)


def _in_bytes(found: re.Match[str]) -> str:
    return str(int(float(found[1]) * _FACTORS[found[2].lower()]))


class Thresholds(NamedTuple):
    """All of one call; None where not asked for. Inodes: used, in percent."""

    warn: Threshold | None = None
    crit: Threshold | None = None
    inodes_warn: Range | None = None
    inodes_crit: Range | None = None

    def status(self, store: FileStoreState) -> Status:
        """A blocked store is critical whatever was asked; so is one without a single inode left."""
        if not store.within or _alerts(self.crit, store) or self._inodes(store, self.inodes_crit):
            return Status.CRITICAL
        if store.file_system.inodes > 0 and store.file_system.inodes_usable <= 0:
            return Status.CRITICAL
        if _alerts(self.warn, store) or self._inodes(store, self.inodes_warn):
            return Status.WARNING
        return Status.OK

    def worst(self, stores: Iterable[FileStoreState]) -> Status:
        """The gravest status of the stores."""
        return Status.worst(self.status(store) for store in stores)

    def near(self, store: FileStoreState) -> bool:
        """Inside the band that the operator drew before the limit."""
        return store.within and (_alerts(self.warn, store) or _alerts(self.crit, store))

    def _inodes(self, store: FileStoreState, limit: Range | None) -> bool:
        percent = store.file_system.inodes_percent
        return limit is not None and percent is not None and limit.alerts(percent)


def _alerts(threshold: Threshold | None, store: FileStoreState) -> bool:
    return threshold is not None and threshold.alerts(store)
