"""Single keys from a terminal, while something else is shown; the terminal is put back as it was."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Keys:
    """``pressed`` waits for a key. Without a terminal on standard input it only waits."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def pressed(self, seconds: float) -> str:
        """Return the key pressed within so many seconds, "" if none was."""
        if self._descriptor is None:
            select.select([], [], [], seconds)
            return ""
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            return ""
        read = os.read(self._descriptor, 16)
        if not read:
            self._descriptor = None
        return read.decode("utf-8", "replace")


@contextmanager
def keys() -> Iterator[Keys]:
    """Read keys one at a time without echo; Ctrl-C still interrupts."""
    if not sys.stdin.isatty():
        yield Keys(None)
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
