"""Facts about the host for the rules: page folders below a data directory, and the volumes of the directories."""

from __future__ import annotations

import os
from pathlib import Path

from brokerconf.evidence.host import Store, Volume
from brokerconf.instance.instance import directories
from brokerconf.reading.document import Document

from pagectl.running.exits import CallError

RETENTION = "journal-retention-directory"


def stores_below(data: Path) -> tuple[Store, ...]:
    """Every page folder with its pages and their bytes; raises ``CallError`` or pagefmt's own errors."""
    from pagectl.opening.location import located
    from pagefmt.directory.locate import stores

    place = located(data)
    if place.paging is None and place.store is None and place.page is None:
        raise CallError(f"--data {data}: no paging directory there")
    found = []
    for store in stores(place):
        size = sum(page.size for page in store.pages)
        found.append(Store(store.address or "", store.name, len(store.pages), size))
    return tuple(found)


def volumes_of(document: Document, root: Path) -> tuple[Volume, ...] | None:
    """The file systems of those directories that exist here; None where none does."""
    where = directories(document, root)
    named = {
        "paging": where.paging,
        "journal": where.journal,
        "bindings": where.bindings,
        "large-messages": where.large_messages,
    }
    retention = document.core.descendant(RETENTION) if document.core else None
    if retention is not None and retention.text.strip():
        named["journal-retention"] = root / retention.text.strip()
    found = [_volume(what, path) for what, path in named.items() if path.is_dir()]
    return tuple(found) or None


def _volume(what: str, path: Path) -> Volume:
    stats = os.statvfs(path)
    size = stats.f_frsize
    return Volume(what, path.stat().st_dev, stats.f_blocks * size, stats.f_bavail * size)
