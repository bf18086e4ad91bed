"""A text put together from parts of a YAML file, each character of which is somewhere in that file."""

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
        """One more part; ``place`` tells where its characters stand by their number in it. Returns itself."""
        self._parts.append(text)
        self._places.append(place)
        self._starts.append(self._starts[-1] + len(text))
        return self

    @property
    def text(self) -> str:
        """All parts."""
        return "".join(self._parts)

    def position(self, offset: int) -> Position:
        """Where a character stands in the YAML file."""
        part = max(min(bisect_right(self._starts, offset) - 1, len(self._places) - 1), 0)
        return self._places[part](offset - self._starts[part])

    def of_line(self, position: Position) -> Position:
        """The same for a line and column of the text."""
        start, _ = self._source.line(max(position.line, 1)) or (len(self._source.original), 0)
        return self.position(start + max(position.column, 1) - 1)

    @cached_property
    def _source(self) -> SourceFile:
        return plain_source("", self.text)
