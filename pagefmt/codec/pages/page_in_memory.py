"""A page that is in no file: messages that lie elsewhere, laid out as its records."""

from __future__ import annotations

from typing import NamedTuple


class PageInMemory(NamedTuple):
    """A page made from loose records.

    ``content``: records behind one another. It is no page of a store: its number is 0.
    """

    content: bytes
    number: int = 0
    name: str = ""

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return len(self.content)
