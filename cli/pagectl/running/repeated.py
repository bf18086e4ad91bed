"""Something that is looked at again and again in a thread of its own, so that a file system that hangs hangs that."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeVar

from pagectl.running.exits import debugging, describe, report

T = TypeVar("T")

REST: Final = 20.0
"""The processor time of a look, so many times over, is rested afterwards: one in twenty, whatever there is to read."""
LONGEST_REST: Final = 300.0
"""Seconds; unless the interval is longer."""
STALE: Final = 3
"""What is older than so many rests of the longest kind counts no more."""


class Seen(NamedTuple, Generic[T]):
    """What was seen last. ``value`` None: nothing, or too long ago. ``age``, ``spent`` in seconds; None before the
    first look; ``spent`` is processor time."""

    value: T | None
    age: float | None
    spent: float | None


class Repeated(Generic[T]):
    """``look`` is called at every ``interval`` in seconds, or less often where it takes long. What it raises is told on
    standard error once, and it is called again."""

    def __init__(self, name: str, look: Callable[[], T], interval: float) -> None:
        self._name = name
        self._look = look
        self._interval = interval
        self._last: tuple[T | None, float, float] | None = None
        self._told = ""

    def start(self) -> None:
        """A thread that ends with the process."""
        threading.Thread(target=self._run, daemon=True, name=self._name).start()

    def seen(self) -> Seen[T]:
        """The last look; from any thread."""
        last = self._last
        if last is None:
            return Seen(None, None, None)
        value, when, spent = last
        age = time.monotonic() - when
        fresh = age <= STALE * max(self._interval, LONGEST_REST)
        return Seen(value if fresh else None, age, spent)

    def once(self) -> float:
        """One look; how long to rest then."""
        began, before = time.monotonic(), time.thread_time()
        value, told = None, ""
        try:
            value = self._look()
        except Exception as err:
            if debugging():
                traceback.print_exc()
            told = describe(err)
        spent = time.thread_time() - before
        self._last = value, began, spent
        if told and told != self._told:
            report(f"{self._name}: {told}")
        self._told = told
        return max(self._interval, min(REST * spent, LONGEST_REST))

    def _run(self) -> None:
        while True:
            time.sleep(self.once())
