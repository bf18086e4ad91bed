"""Looking at disks again and again in the background, so that a file system that hangs does not freeze the picture."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pageengine.disk.samples import DiskSample, DiskSamples
from pageengine.disk.state import DiskState

if TYPE_CHECKING:
    from pagefmt.directory.usage import AddressUsage

# the pause between counts is this factor times the duration of the last count, and at least as many seconds
REST = 5.0


@dataclass(slots=True)
class LiveDisks:
    """The newest state, what was seen so far, the addresses by size; ``failure`` ends it all.

    ``probe`` looks at the file systems; ``paging`` is the directory whose addresses are counted.
    """

    root: Path
    paging: Path | None
    probe: Callable[[], DiskState]
    interval: float
    state: DiskState | None = None
    samples: DiskSamples = field(default_factory=lambda: DiskSamples(""))
    addresses: list[AddressUsage] = field(default_factory=list)
    sizes: list[tuple[float, dict[str, int]]] = field(default_factory=list)
    looked: float = field(default_factory=time.monotonic)
    failure: Exception | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Two threads that die with the process."""
        self.look()
        for run in (self._keep_looking, self._keep_counting):
            threading.Thread(target=run, daemon=True).start()

    def stop(self) -> None:
        """Make both threads end after what they are doing."""
        self._stop.set()

    def look(self) -> None:
        """Read the file systems once. Raise what locating and probing raise."""
        state = self.probe()
        used = {
            store.file_system.mount: (store.space.total - store.space.usable, store.space.total)
            for store in state.stores
        }
        self.samples = self.samples.added(DiskSample(time.monotonic(), used))
        self.state = state
        self.looked = time.monotonic()

    def _keep_looking(self) -> None:
        while not self._stop.wait(self.interval):
            try:
                self.look()
            except Exception as err:
                self.failure = err
                return

    def _keep_counting(self) -> None:
        while self.paging is not None:
            began = time.monotonic()
            self._count(self.paging)
            if self._stop.wait(max(self.interval, REST * (time.monotonic() - began))):
                return

    def _count(self, paging: Path) -> None:
        from pagefmt.directory.usage import DirectoryUsage, count_stores

        usage = DirectoryUsage()
        count_stores(paging, usage, lambda _count: None)
        rows = sorted(usage.addresses, key=lambda row: (-row.bytes, row.address or "", row.folder or ""))
        sizes = {row.folder: row.bytes for row in rows[:200] if row.folder is not None}
        self.addresses = rows
        self.sizes = [*self.sizes[-59:], (time.monotonic(), sizes)]

    def growth(self, folder: str | None) -> float | None:
        """Return the growth of a store folder in bytes per second over at most the last minute of counts."""
        seen = [(when, sizes[folder]) for when, sizes in list(self.sizes) if folder is not None and folder in sizes]
        if len(seen) < 2 or seen[-1][0] <= seen[0][0]:
            return None
        return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])
