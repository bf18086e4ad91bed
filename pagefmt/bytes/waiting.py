"""Calls of libraries that may not return, made so that a signal ends the wait for them.

A signal is handled by the main thread between two instructions of Python, not inside a library. So the call runs in a
thread of its own, which ends with the process if it never returns.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")

_LOOK: Final = 0.5  # seconds between two looks at the limits


_unfinished: Final = set[threading.Event]()  # of calls that have not returned


class CallLimits(NamedTuple):
    """What one call may take: seconds, and bytes of memory by which the process grows."""

    seconds: float
    memory: int


# Of an answer of a store. A listing has some million entries then: the library collects all of them before it returns.
LIMITS: Final = CallLimits(900.0, 1 << 30)


class NoEnd(Exception):
    """Why a call is not waited for any longer."""


def interruptibly(call: Callable[[], T], limits: CallLimits | None = None) -> T:
    """Return what ``call`` returns or raise what it raises, but let a signal end the wait.

    Raises:
        NoEnd: It took more than the limits allow. It goes on in its thread.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(call())
        except BaseException as err:
            errors.append(err)
        finally:
            done.set()

    begun, before = time.monotonic(), _resident()
    threading.Thread(target=run, name="library call", daemon=True).start()
    _unfinished.add(done)
    while not done.wait(_LOOK):
        if limits is not None and time.monotonic() - begun > limits.seconds:
            raise NoEnd(f"no end after {limits.seconds:g} s")
        if limits is not None and _resident() - before > limits.memory:
            raise NoEnd(f"no end after {limits.memory >> 20} MiB")
    _unfinished.discard(done)
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def thread_pool(size: int) -> Iterator[ThreadPoolExecutor]:
    """Provide threads for calls by ``interruptibly``; after an exception, such as a signal's, none is waited for."""
    pool = ThreadPoolExecutor(size)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown(cancel_futures=True)


def is_any_unfinished() -> bool:
    """Return whether a call goes on that nobody waits for any longer: the interpreter could not end in order."""
    return bool(_unfinished)


def _resident() -> int:
    """Return the bytes of memory that the process has, or 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_bytes().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
