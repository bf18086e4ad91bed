"""What a check found: plain fields with a total order, so that no output depends on the order of checking."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import total_ordering


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


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where something stands in the text as the operator wrote it; line and column count characters from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Finding:
    """One finding. ``path`` is the element's path in the document; ``help`` what to do, ``why`` what would happen."""

    file: str
    line: int
    column: int
    severity: Severity
    rule: str
    path: str = ""
    message: str
    help: str = ""
    why: str = ""

    @property
    def position(self) -> Position:
        return Position(self.file, self.line, self.column)
