"""A text put together from parts of a YAML file, each character of which is somewhere in that file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from pagefmt.findings import Position

Place = Callable[[int], Position]


class PlacedText:
    """Parts joined in the order in which they are added."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._places: list[Place] = []
        self._starts: list[int] = [0]
        self._lines: list[int] | None = None

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
        if self._lines is None:
            self._lines = list(accumulate((len(line) + 1 for line in self.text.split("\n")), initial=0))
        line = min(max(position.line, 1), len(self._lines) - 1)
        return self.position(self._lines[line - 1] + max(position.column, 1) - 1)
