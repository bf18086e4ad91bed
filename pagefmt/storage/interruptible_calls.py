"""Calls of libraries that may not return, made so that a signal ends the wait for them.

A signal is handled by the main thread between two instructions of Python, not inside a library. So the call runs in a
thread of its own, which ends with the process if it never returns.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")

_LOOK: Final = 0.5  # seconds between two looks at the limits


class CallLimits(NamedTuple):
    """What one call may take: seconds, and bytes of memory by which the process grows."""

    seconds: float
    memory: int


# Of an answer of a store. A listing has some million entries then: the library collects all of them before it returns.
LIMITS: Final = CallLimits(900.0, 1 << 30)


class NoEnd(Exception):
    """Why a call is not waited for any longer."""


class _LibraryCall(threading.Thread, Generic[T]):
    """A thread that makes one call. ``done`` is set when the call has returned or raised."""

    def __init__(self, call: Callable[[], T]) -> None:
        super().__init__(name="library call", daemon=True)
        self._call = call
        self.results: list[T] = []
        self.errors: list[BaseException] = []
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.results.append(self._call())
        except BaseException as err:
            self.errors.append(err)
        finally:
            self.done.set()


def interruptibly(call: Callable[[], T], limits: CallLimits | None = None) -> T:
    """Return what ``call`` returns or raise what it raises, but let a signal end the wait.

    Raises:
        NoEnd: It took more than the limits allow. It goes on in its thread.
    """
    thread = _LibraryCall(call)
    begun, before = time.monotonic(), _resident()
    thread.start()
    while not thread.done.wait(_LOOK):
        if limits is not None and time.monotonic() - begun > limits.seconds:
            raise NoEnd(f"no end after {limits.seconds:g} s")
        if limits is not None and _resident() - before > limits.memory:
            raise NoEnd(f"no end after {limits.memory >> 20} MiB")
    if thread.errors:
        raise thread.errors[0]
    return thread.results[0]


@contextmanager
def thread_pool(size: int) -> Iterator[ThreadPoolExecutor]:
    """Provide threads for calls by ``interruptibly``; after an exception, such as a signal's, none is waited for."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(size)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown(cancel_futures=True)


def is_any_unfinished() -> bool:
    """Return whether an abandoned call is still running, so that the interpreter could not exit normally."""
    return any(isinstance(thread, _LibraryCall) and not thread.done.is_set() for thread in threading.enumerate())


def _resident() -> int:
    """Return the bytes of memory that the process has, or 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_bytes().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
