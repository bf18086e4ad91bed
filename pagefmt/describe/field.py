"""One field of a record: its position and its value."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Field:
    """``offset`` in the file and ``size`` in bytes. ``value``: None, a number, a text, or bytes nobody looked into.

    ``meaning`` is the value in words where there is more to say than the value.
    """

    offset: int
    size: int
    name: str
    value: object = None
    meaning: str | None = None

    @property
    def text(self) -> str:
        """What to show beside the name."""
        return plain(self.value) if self.meaning is None else self.meaning

    def saying(self, meaning: str) -> Field:
        """The field with its value in words."""
        return replace(self, meaning=meaning)


def plain(value: object) -> str:
    """Numbers and texts as they are; empty for bytes, which are shown as bytes."""
    return "" if value is None or isinstance(value, bytes) else str(value)
