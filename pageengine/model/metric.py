"""Pair of limits, in bytes and in messages, with the flag whether one of them is reached.

Editions compare in one of three ways, which are the three classes. Source: docs/spec/paging-engine.md 1.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pageengine.settings.profiles import FullWhen

BY_SIZE = 1
BY_COUNT = 2


@dataclass(eq=False)
class Metric:
    """Limits of 2.33 and later: over at the limit, under below it. A limit below 0 is none."""

    max_bytes: int
    max_messages: int
    on_over: Callable[[], None]
    on_under: Callable[[], None]
    size: int = 0
    count: int = 0
    over: int = 0
    touched: bool = False

    def add(self, size: int, count: int) -> None:
        """Add bytes and messages; ``size`` may be negative, but never 0."""
        self.size += size
        self.count += count
        self.touched = True
        if size > 0:
            if not self.over:
                self._grow()
        elif self.over:
            self._shrink()

    def limits(self, max_bytes: int, max_messages: int) -> None:
        """Set new limits at run time; they take effect at once."""
        self.max_bytes = max_bytes
        self.max_messages = max_messages
        if self.touched:
            self._shrink()
            if not self.over:
                self._grow()

    def _grow(self) -> None:
        if self.max_bytes >= 0 and self.size >= self.max_bytes:
            self.over = BY_SIZE
            self.on_over()
        elif self.max_messages >= 0 and self.count >= self.max_messages:
            self.over = BY_COUNT
            self.on_over()

    def _size_is_under(self) -> bool:
        return self.size < self.max_bytes

    def _count_is_under(self) -> bool:
        return self.count < self.max_messages

    def _shrink(self) -> None:
        if self.over == BY_SIZE and (self.max_bytes < 0 or self._size_is_under()):
            if self.max_messages >= 0 and self.count >= self.max_messages:
                self.over = BY_COUNT
            else:
                self.over = 0
                self.on_under()
        elif self.over == BY_COUNT and (self.max_messages < 0 or self._count_is_under()):
            if self.max_bytes >= 0 and self.size >= self.max_bytes:
                self.over = BY_SIZE
            else:
                self.over = 0
                self.on_under()


class ClearedAtLimit(Metric):
    """Limits of 2.21 to 2.32: under already at the limit itself."""

    def _size_is_under(self) -> bool:
        return self.size <= self.max_bytes

    def _count_is_under(self) -> bool:
        return self.count <= self.max_messages


class AboveLimit(Metric):
    """Limits up to 2.20: no flag, size compared at each use; over only above a limit that is itself above 0."""

    def _grow(self) -> None:
        if self.max_bytes > 0 and self.size > self.max_bytes:
            self.over = BY_SIZE
            self.on_over()

    def _shrink(self) -> None:
        if self.over and (self.max_bytes <= 0 or self.size <= self.max_bytes):
            self.over = 0
            self.on_under()


METRICS: dict[FullWhen, type[Metric]] = {
    FullWhen.ABOVE: AboveLimit,
    FullWhen.AT_CLEARED_AT: ClearedAtLimit,
    FullWhen.AT_CLEARED_BELOW: Metric,
}
