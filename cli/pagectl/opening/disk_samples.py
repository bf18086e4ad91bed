"""The samples of disks that ``disk forecast`` keeps from one run to the next."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from brokerconf.reading.decoding import read_at_most

from pagectl.opening.monitored_disks import MonitoredDisks
from pagectl.running.exits import CallError
from pageengine.disk.samples import DiskSample, DiskSamples, largest, parse_samples
from pageengine.disk.state import FileStoreState
from pagefmt.directory.usage import DirectoryUsage, count_stores
from pagefmt.storage.user_folders import user_folder

LARGEST_FILE = 16 << 20  # bytes that are read of a file of samples; what pagectl writes is far smaller


def default_file(disks: MonitoredDisks) -> Path:
    """Return the file of samples below the folder that systemd gives a service, or below the user's own.

    Raises ``CallError`` if the folder cannot be made.
    """
    service = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    folder = (Path(service) if service else user_folder("XDG_STATE_HOME", ".local/state")) / "pagectl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise CallError(f"{folder}: {err.strerror}; name a file for the samples with --state") from err
    return folder / f"disk-{sha256(os.fsencode(disks.place)).hexdigest()[:16]}.json"


def read_samples(file: Path, disks: MonitoredDisks) -> DiskSamples:
    """Return the samples of earlier runs; none if there is no file yet."""
    try:
        text = read_at_most(file, LARGEST_FILE).decode("utf-8", "replace")
    except FileNotFoundError:
        text = ""
    return parse_samples(text, disks.place, str(file))


def with_sample(
    before: DiskSamples, stores: Iterable[FileStoreState], disks: MonitoredDisks, *, addresses: bool
) -> DiskSamples:
    """Return the samples with one of now; ``addresses``: count the bytes of each address for it."""
    used = {store.file_system.mount: (store.space.total - store.space.usable, store.space.total) for store in stores}
    sizes = _sizes(disks.directories.get("paging")) if addresses else {}
    return before.added(DiskSample(time.time(), used, largest(sizes.items(), before.names())))


def _sizes(paging: Path | None) -> dict[str, int]:
    """Return bytes by address: pages, and other files in their folders."""
    usage = DirectoryUsage()
    if paging is not None:
        count_stores(paging, usage, lambda _count: None)
    sizes = Counter[str]()
    for row in usage.addresses:
        sizes[row.address if row.address is not None else str(row.folder)] += row.bytes
    return dict(sizes)
