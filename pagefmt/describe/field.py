"""One field of a record: its position and its value."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    ``offset`` in the file and ``size`` in bytes. ``value``: None, a number, text, or bytes that are not decoded.
    ``meaning``: the value in words, if they say more than the value.
    """

    offset: int
    size: int
    name: str
    value: object = None
    meaning: str | None = None

    @property
    def text(self) -> str:
        """Return the text to show beside the name."""
        return plain(self.value) if self.meaning is None else self.meaning

    def saying(self, meaning: str) -> Field:
        """Return the field with a description of its value."""
        return replace(self, meaning=meaning)


def plain(value: object) -> str:
    """Return numbers and text unchanged, and nothing for bytes, which are shown as bytes."""
    return "" if value is None or isinstance(value, bytes) else str(value)
