"""File systems that a trace reports on, watched as the broker watches them (docs/spec/disk-monitor.md 3 and 4)."""

from __future__ import annotations

from pageengine.disk.monitor import DiskLimit, DiskMonitor, DiskSettings, DiskSpace
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings
from pageengine.trace.operations import DiskSpaceChange

EVERY_STORE = ""


class WatchedDisks:
    """Last report of each file system; ``full`` by the disk limit of the edition."""

    def __init__(self, settings: EngineSettings, profile: Profile) -> None:
        configured = DiskSettings(max_disk_usage=settings.max_disk_usage, min_disk_free=settings.min_disk_free)
        limit = configured.limit(profile.edition)
        scans = settings.disk_scan_period >= 0
        self.monitor = DiskMonitor(limit) if scans and isinstance(limit, DiskLimit) else None
        self.spaces: dict[str, DiskSpace] = {}

    @property
    def full(self) -> bool:
        """Return whether the monitor counts the disk as full."""
        return self.monitor is not None and self.monitor.disk_full

    def report(self, op: DiskSpaceChange) -> None:
        """Apply a report and the disk scan that follows; a report on all stores replaces those on single ones."""
        if op.store is None:
            self.spaces.clear()
        self.spaces[op.store or EVERY_STORE] = DiskSpace.of(op.usable, op.total)
        if self.monitor is not None:
            self.monitor.tick(list(self.spaces.values()))
