"""Standard output and error of the program, and what happens if they cannot be written any more.

A failed write to standard error never ends anything. After a failed write to standard output a command goes on to its
end, without output, unless it does nothing but print (``end_with_reader``): then it ends there. In both cases the
failure is kept, and ``pagectl.running.exits.guarded`` decides the exit status.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PIPE_BUF: Final = 512  # bytes; a pipe that select() calls writable takes as many without blocking on any system


class ReaderGone(KeyboardInterrupt):
    """The reader of standard output closed it. The command tidies up as after Ctrl-C."""

    status = 128 + signal.SIGPIPE


class _StandardStream(io.FileIO):
    """A descriptor to write to, which takes and discards everything after the first failed write."""

    def __init__(self, descriptor: int, title: str) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._title = title
        self.failure: OSError | None = None
        self.ends_command = False
        self.is_leaving = False

    def write(self, content: ReadableBuffer, /) -> int:
        """Write as much as the system takes at once. Wait for a slow reader, unless the program is leaving."""
        view = memoryview(content).cast("B")
        try:
            while self.failure is None:
                if self.is_leaving:
                    if not select.select((), (self,), (), 0)[1]:
                        break
                    view = view[:_PIPE_BUF]
                count = super().write(view)
                if count is not None:
                    return count
                select.select((), (self,), ())  # the descriptor is in non-blocking mode
        except OSError as err:
            self.failure = OSError(err.errno, err.strerror, self._title)
            if self.ends_command:
                raise (ReaderGone if isinstance(err, BrokenPipeError) else self.failure) from None
        return len(view)


# Standard output and standard error, of which a process has one each.
_streams: Final[list[_StandardStream]] = []


def open_standard_streams() -> None:
    """Put streams that behave as described above in the place of Python's.

    Files and pipes get UTF-8 whatever the locale is; what a terminal's encoding lacks becomes an escape. Descriptors 0
    to 2 that were closed before the program was called lead to the null device: otherwise the next file that is opened
    would get such a number, and a library's message would be written into it.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the system gives the lowest free number
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (open until the end)
    _streams[:] = _StandardStream(1, "standard output"), _StandardStream(2, "standard error")
    sys.stdout, sys.stderr = map(_with_text, (sys.stdout, sys.stderr), _streams)


def _with_text(replaced: Any, raw: _StandardStream) -> io.TextIOWrapper:
    terminal = replaced is not None and replaced.isatty()
    unbuffered = replaced is not None and replaced.write_through  # PYTHONUNBUFFERED, python -u
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=replaced.encoding if terminal else "utf-8",
        errors="backslashreplace",
        line_buffering=terminal or unbuffered or raw.fileno() == 2,
    )


def end_with_reader() -> None:
    """Let the command end as soon as standard output cannot be written, because it does nothing but print."""
    for raw in _streams[:1]:
        raw.ends_command = True


def output_failure() -> OSError | None:
    """Return the error of the first failed write to standard output, or None if there was none."""
    return _streams[0].failure if _streams else None


def leave() -> None:
    """Discard from now on what a reader does not take at once: an interrupted program must not wait for one."""
    for raw in _streams:
        raw.is_leaving = True
