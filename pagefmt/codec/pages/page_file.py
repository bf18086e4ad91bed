"""The name and size of one page file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class PageFile(NamedTuple):
    """A page file with its number and size in bytes. A directory may hold very many of them."""

    number: int
    folder: Path
    name: str
    size: int

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return self.folder / self.name
