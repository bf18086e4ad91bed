"""Facts about a data directory and a host, which no configuration file states."""

from __future__ import annotations

from typing import NamedTuple

# What the disk monitor looks at (docs/spec/disk-monitor.md 2).
WATCHED = frozenset({"paging", "journal", "large-messages", "bindings"})


class PageFolder(NamedTuple):
    """Page folder on the disk: its address ("" if unknown), page files and their bytes."""

    address: str
    folder: str
    pages: int
    bytes: int


class Volume(NamedTuple):
    """File system of a directory; ``what`` is paging, journal, bindings, large-messages or journal-retention."""

    what: str
    device: int
    total: int
    usable: int
