"""Something that is looked at again and again in a thread of its own, so that a file system that hangs hangs that."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeVar

from pagectl.running.exits import debugging, describe, report

T = TypeVar("T")

# factor of processor time: each reading is followed by a pause 20 times as long, so it takes 5 % at most
REST: Final = 20.0
# seconds of the longest pause, unless the interval is longer
LONGEST_REST: Final = 300.0
# longest pauses after which a result is out of date
STALE: Final = 3


class Seen(NamedTuple, Generic[T]):
    """The result of the last reading.

    ``value`` is None if there is none or if it is out of date. ``age`` and ``spent``, which is processor time, are in
    seconds; None before the first reading.
    """

    value: T | None
    age: float | None
    spent: float | None


class Repeated(Generic[T]):
    """Calls ``look`` every ``interval`` seconds, or less often if it takes long.

    An error is reported on standard error once, and ``look`` is called again.
    """

    def __init__(self, name: str, read: Callable[[], T], interval: float) -> None:
        self._name = name
        self._look = read
        self._interval = interval
        self._last: tuple[T | None, float, float] | None = None
        self._told = ""

    def start(self) -> None:
        """Start a thread that ends with the process."""
        threading.Thread(target=self._run, daemon=True, name=self._name).start()

    def seen(self) -> Seen[T]:
        """Return the last reading; may be called from any thread."""
        last = self._last
        if last is None:
            return Seen(None, None, None)
        value, when, spent = last
        age = time.monotonic() - when
        fresh = age <= STALE * max(self._interval, LONGEST_REST)
        return Seen(value if fresh else None, age, spent)

    def once(self) -> float:
        """Read once, and return how many seconds to pause afterwards."""
        began, before = time.monotonic(), time.thread_time()
        value, problem = None, ""
        try:
            value = self._look()
        except Exception as err:
            if debugging():
                traceback.print_exc()
            problem = describe(err)
        spent = time.thread_time() - before
        self._last = value, began, spent
        if problem and problem != self._told:
            report(f"{self._name}: {problem}")
        self._told = problem
        return max(self._interval, min(REST * spent, LONGEST_REST))

    def _run(self) -> None:
        while True:
            time.sleep(self.once())
