"""The page stores of a data directory with their bytes, as facts for a configuration."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from brokerconf.evidence.host import PageFolder

from pagectl.opening.broker import open_broker
from pagectl.options.configuration import ConfigurationOptions
from pagectl.running.exits import CallError
from pagefmt.directory.locate import stores
from pagefmt.errors import PageFmtError


def stores_below(data: Path) -> tuple[PageFolder, ...]:
    """Return the page stores of ``--data``; raises ``CallError`` or pagefmt's own errors."""
    place = open_broker(data, None, ConfigurationOptions()).place
    if place.paging is None and place.store is None and place.page is None:
        raise CallError(f"--data {data}: no paging directory there")
    return tuple(
        PageFolder(store.address or "", store.name, len(store.pages), sum(page.size for page in store.pages))
        for store in stores(place)
    )


def bytes_by_address(data: Path | None, instance: Path) -> dict[str, int] | None:
    """Return bytes of pages by address, of ``--data`` or of the instance itself; None if neither has pages.

    Raises ``CallError`` or pagefmt's own errors for ``--data`` only.
    """
    try:
        folders = stores_below(data or instance) if data or instance.is_dir() else None
    except (CallError, PageFmtError):
        if data is not None:
            raise
        folders = None
    if folders is None:
        return None
    sizes = Counter[str]()
    for folder in folders:
        if folder.address:
            sizes[folder.address] += folder.bytes
    return dict(sizes)
