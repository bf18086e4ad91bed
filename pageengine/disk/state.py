"""All file systems that a broker watches, judged at one moment (docs/spec/disk-monitor.md 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pageengine.disk.monitor import DiskLimit, DiskSettings, DiskSpace, LimitKind, Unmonitored, default_max_disk_usage
from pagefmt.editions import Edition
from pagefmt.storage.filesystems import FileSystem


class FileStoreState(NamedTuple):
    """File system as the broker sees it; ``blocks_at`` and ``margin`` are bytes, None if it never blocks."""

    file_system: FileSystem
    space: DiskSpace
    within: bool
    blocks_at: int | None
    margin: int | None

    @classmethod
    def of(cls, file_system: FileSystem, limit: DiskLimit | Unmonitored) -> FileStoreState:
        """Return the state of a file system against a limit."""
        space = DiskSpace.of(file_system.usable, file_system.total)
        if isinstance(limit, Unmonitored):
            return cls(file_system, space, True, None, None)
        at = limit.blocks_at(space.total)
        return cls(file_system, space, limit.within(space), at, None if at is None else space.usable - at)

    @property
    def usage_percent(self) -> float:
        """Return the used space in percent."""
        return 100.0 * self.space.usage

    @property
    def never_within(self) -> bool:
        """Return whether even an empty file system of this size would be beyond the limit."""
        return not self.within and self.blocks_at is not None and self.blocks_at >= self.space.total

    @property
    def to_free(self) -> int:
        """Return the bytes that must become usable before the broker continues; 0 if it is not blocked."""
        return 0 if self.within or self.margin is None else 1 - self.margin


class DiskState(NamedTuple):
    """The broker's decision: ``limit`` in force, every store, and the directories that it would skip."""

    settings: DiskSettings
    edition: Edition
    limit: DiskLimit | Unmonitored
    stores: tuple[FileStoreState, ...]
    missing: tuple[str, ...]

    @classmethod
    def of(
        cls, settings: DiskSettings, edition: Edition, stores: Iterable[FileSystem], missing: Iterable[str] = ()
    ) -> DiskState:
        """Return the state of several file systems against one limit."""
        limit = settings.limit(edition)
        return cls(settings, edition, limit, tuple(FileStoreState.of(store, limit) for store in stores), tuple(missing))

    @property
    def blocked(self) -> bool:
        """Return whether any of the file systems is beyond the limit."""
        return not all(store.within for store in self.stores)

    @property
    def deciding(self) -> FileStoreState | None:
        """Return the store that blocks, or will first: the one with the least margin; None if no store can."""
        limited = [store for store in self.stores if store.margin is not None]
        return min(limited, key=lambda store: (store.within, store.margin), default=None)

    def notes(self) -> list[str]:
        """Return what an operator should know about this configuration, one sentence each."""
        return [*self._settings_notes(), *self._store_notes()]

    def _settings_notes(self) -> Iterable[str]:
        if isinstance(self.limit, Unmonitored):
            yield f"nothing is monitored: {self.limit.value}"
            return
        if self.settings.overridden(self.edition):
            yield "min-disk-free is in force, the max-disk-usage beside it is ignored (AMQ224130)"
        if self.limit.kind is LimitKind.USAGE and self.settings.max_disk_usage is None:
            yield f"max-disk-usage is not set: the default of {default_max_disk_usage(self.edition)} % is in force"
        if self.limit.kind is LimitKind.USAGE and self.settings.min_disk_free not in (None, -1):
            yield f"min-disk-free does not exist in {self.edition.value}: max-disk-usage is in force"

    def _store_notes(self) -> Iterable[str]:
        for name in self.missing:
            yield f"the {name} directory does not exist: the broker does not watch it"
        for store in self.stores:
            if store.never_within:
                yield f"{store.file_system.mount} is beyond the limit even when empty"
        if len(self.stores) > 1 and self.deciding is not None:
            where = self.deciding.file_system
            verb = "decides" if self.blocked else "will decide first"
            yield f"{len(self.stores)} file systems are watched; {where.mount} ({', '.join(where.names)}) {verb}"
