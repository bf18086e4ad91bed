"""Text assembled from parts of a YAML file, so that each character has a position in that file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property

from brokerconf.reading.sources import SourceFile, plain_source
from pagefmt.findings import Position

Place = Callable[[int], Position]


class PlacedText:
    """Parts joined in the order in which they are added."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._places: list[Place] = []
        self._starts: list[int] = [0]

    def add(self, text: str, place: Place) -> PlacedText:
        """Append a part; ``place`` maps an offset in this part to a position. Return this object."""
        self._parts.append(text)
        self._places.append(place)
        self._starts.append(self._starts[-1] + len(text))
        return self

    @property
    def text(self) -> str:
        """Return all parts joined."""
        return "".join(self._parts)

    def position(self, offset: int) -> Position:
        """Return the position in the YAML file for an offset of the text."""
        part = max(min(bisect_right(self._starts, offset) - 1, len(self._places) - 1), 0)
        return self._places[part](offset - self._starts[part])

    def of_line(self, position: Position) -> Position:
        """Return the position in the YAML file for a line and column of the text."""
        start, _ = self._source.line(max(position.line, 1)) or (len(self._source.original), 0)
        return self.position(start + max(position.column, 1) - 1)

    @cached_property
    def _source(self) -> SourceFile:
        return plain_source("", self.text)
