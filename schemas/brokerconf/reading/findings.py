"""What a check found: plain fields with a total order, so that no output depends on the order of checking."""

from __future__ import annotations

from enum import Enum
from functools import total_ordering
from typing import NamedTuple


@total_ordering
class Severity(Enum):
    """``ERROR``: refused by the broker, or messages lost in silence; ``WARNING``: very likely not meant."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    def __lt__(self, other: object) -> bool:
        """The graver first."""
        if not isinstance(other, Severity):
            return NotImplemented
        return _RANK[self] < _RANK[other]


_RANK = {severity: n for n, severity in enumerate(Severity)}


# Tuples: made by the thousand in a large file, where a frozen class costs several times as much.
class Position(NamedTuple):
    """Where something stands in the text as the operator wrote it; line and column count characters from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Finding(NamedTuple):
    """One finding. ``path`` is the element's path in the document; ``help`` what to do, ``why`` what would happen."""

    file: str
    line: int
    column: int
    severity: Severity
    rule: str
    message: str
    path: str = ""
    help: str = ""
    why: str = ""

    @property
    def position(self) -> Position:
        return Position(self.file, self.line, self.column)
