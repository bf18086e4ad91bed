"""Lines and rows of a trace before they become operations, and those that never do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pageengine.trace.operations import Operation


@dataclass(frozen=True, slots=True)
class UnknownOperation:
    """An operation of a name that this version does not know."""

    i: int
    t: int
    op: str


@dataclass(frozen=True, slots=True)
class MalformedLine:
    """A line (from 1; in Parquet a row from 1) that is no operation, and why."""

    i: int
    t: int
    line: int
    reason: str


Item = Operation | UnknownOperation | MalformedLine


@dataclass(frozen=True, slots=True)
class Unread:
    """Line or row ``number`` (from 1) as a JSON value or a BadValue; ``learn`` is called with its operation."""

    number: int
    value: Any
    learn: Callable[[Operation | UnknownOperation], None] | None = None
