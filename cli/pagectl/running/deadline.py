"""Work that must end in time, even when a file system hangs and the system call never returns.

The work runs in a child process with no standard streams: whoever waits for the end of our output is not kept waiting
by a child that cannot be killed. Its answer comes back through a pipe.
"""

from __future__ import annotations

import marshal
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable
from io import StringIO
from typing import NamedTuple


class TimedOut(Exception):
    """No answer in time. The child was told to die; one that hangs in the system dies when the system lets it."""


class Answer(NamedTuple):
    """What to print, and the exit status."""

    status: int
    out: str = ""
    err: str = ""


def within(seconds: float, work: Callable[[], Answer]) -> Answer:
    """Run ``work`` in a child process and return its answer.

    Raises ``TimedOut`` after ``seconds``, and ``ChildProcessError`` if the child died without an answer. ``work`` must
    not raise: errors are part of its answer.
    """
    end = time.monotonic() + seconds
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(receiving, sending, work)
    os.close(sending)
    try:
        packed = _read(receiving, end)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(receiving)
    os.waitpid(child, 0)
    if not packed:
        raise ChildProcessError("the process that examined the file systems died")
    status, out, err = marshal.loads(packed)
    return Answer(status, out, err)


def _in_child(receiving: int, sending: int, work: Callable[[], Answer]) -> None:
    """Do the work and exit without returning: exit handlers that the parent registered must not run in the child."""
    try:
        os.close(receiving)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sys.stderr = notes = StringIO()
        answer = work()
        with os.fdopen(sending, "wb") as pipe:
            pipe.write(marshal.dumps((int(answer.status), answer.out, notes.getvalue() + answer.err)))
    finally:
        os._exit(0)


def _read(pipe: int, end: float) -> bytes:
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            left = end - time.monotonic()
            if left <= 0 or not selector.select(left):
                raise TimedOut
            part = os.read(pipe, 1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
