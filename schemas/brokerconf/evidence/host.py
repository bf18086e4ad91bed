"""Plain values about a data directory and a host, which no configuration file tells."""

from __future__ import annotations

from typing import NamedTuple

# What the disk monitor looks at (docs/spec/disk-monitor.md 2).
WATCHED = frozenset({"paging", "journal", "large-messages", "bindings"})


class PageFolder(NamedTuple):
    """A page folder on the disk: its address ("" where unknown), page files and their bytes."""

    address: str
    folder: str
    pages: int
    bytes: int


class Volume(NamedTuple):
    """The file system of a directory; ``what`` is paging, journal, bindings, large-messages or journal-retention."""

    what: str
    device: int
    total: int
    usable: int
