"""An entry of a properties file, and the error for a file that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from brokerconf.reading.parsing import ReadingError
from pagefmt.findings import Position

_DROPPED = "the broker starts without this file; only its status attribute shows the error"
NOT_READ = "a limit of this check: it is not known what the broker does with the file"


class PropertiesError(ReadingError):
    """Error for a properties file that cannot be read; it has a line if the broker ignores the whole file."""

    def __init__(self, position: Position, message: str, help: str = "", why: str = _DROPPED) -> None:
        super().__init__("properties-unreadable", position, message, help, why)


class Entry(NamedTuple):
    """Entry of ``broker.properties`` or of the system properties, without the latter's prefix.

    ``at_value`` is where the value begins. ``earlier`` is the entry that this one replaces and at whose place it is
    applied, without the one it replaced itself. ``steps``: offsets in the key and the position of the name there, for a
    key that is not written in one piece, or a function from offset to position. ``substituted``: a ``${…}`` was
    replaced in the key or value.
    """

    key: str
    value: str
    position: Position
    at_value: Position | None = None
    earlier: Entry | None = None
    steps: tuple[tuple[int, Position], ...] | Callable[[int], Position] = ()
    substituted: bool = False

    def whole(self) -> Entry:
        """Return the entry without the positions of names in its key, so that it can be sent to another process."""
        return self._replace(steps=(), earlier=self.earlier and self.earlier.whole())

    def at_step(self, offset: int) -> Position:
        """Return the position of the name that begins at an offset of the key."""
        if callable(self.steps):
            return self.steps(offset)
        if not self.steps:
            return self.position._replace(column=self.position.column + offset) if self.at_value else self.position
        return max(step for step in self.steps if step[0] <= offset)[1]
