"""Part of a page file, which one worker reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FilePart:
    """Part of a page file: from the record ``number`` at offset ``start`` on, up to ``end`` (None: the file's end)."""

    start: int = 0
    number: int = 0
    end: int | None = None


WHOLE_FILE: Final = FilePart()
