"""Exit statuses, and how an error becomes one line on standard error.

Statuses (public contract): 0 done and fine; 1 done, and something was found; 2 the call cannot be carried out;
130 interrupted; 129 and 143 ended by SIGHUP and SIGTERM; 141 without a reader
(``statuses.END_WITH_READER``). ``disk check``, ``disk forecast`` and ``messages check``
follow the monitoring-plugin convention instead (``pagectl.terminal.nagios``).
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable
from enum import IntEnum

from pagectl.terminal.sanitise import visible, without_secrets
from pagectl.terminal.standard_streams import ReaderGone, leave, output_failure


class Exit(IntEnum):
    """Exit statuses of all commands but the monitoring plugins."""

    OK = 0
    FOUND = 1
    FAILED = 2
    INTERRUPTED = 130


class EndedBySignal(KeyboardInterrupt):
    """Somebody ends the program: it tidies up as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


def tidy_up_on_signals() -> None:
    """Make Ctrl-C, SIGTERM and SIGHUP end the program in order, unless they are ignored (``nohup``).

    Some daemons start their children with SIGCHLD ignored. The system then keeps no status of a process that ended, and
    its id may belong to another process when it is to be stopped; so SIGCHLD gets its default handling back.
    """
    import signal

    def end(number: int, _: object) -> None:
        raise EndedBySignal(number)

    for number_of_signal in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number_of_signal) is signal.SIG_DFL:
            signal.signal(number_of_signal, end)
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class CallError(Exception):
    """The call cannot be carried out. The message is one line: what, where, what to do."""


def report(message: str, *, prefix: str = "pagectl: ") -> None:
    """Print a message to standard error, safe for a terminal."""
    print(f"{prefix}{visible(without_secrets(message))}", file=sys.stderr)


def debugging() -> bool:
    """Return whether internal errors are shown with a traceback."""
    return os.environ.get("PAGECTL_DEBUG", "") not in ("", "0")


def guarded(run: Callable[[], int | None], *, unexpected: int = Exit.FAILED) -> int:
    """Run a command; turn what it raises into a status and one line.

    A command whose output nobody reads any more keeps its status, or has that of ``ReaderGone`` if it ended there. Any
    other failed write to standard output, such as to a full disk, is an error.
    """
    try:
        status = int(run() or 0)
        with contextlib.suppress(ReaderGone):
            sys.stdout.flush()
        failure = output_failure()
        if failure is None or isinstance(failure, BrokenPipeError):
            return status
        raise failure
    except ReaderGone as err:
        return err.status
    except KeyboardInterrupt as err:
        leave()
        report("interrupted")
        return err.status if isinstance(err, EndedBySignal) else Exit.INTERRUPTED
    except Exception as err:
        if debugging():
            raise
        report(describe(err))
        return unexpected


_ADVICE = {
    errno.ENOENT: "is the name right?",
    errno.EACCES: "run as a user with access, such as the broker's",
    errno.EPERM: "run as a user with access, such as the broker's",
    errno.ENOSPC: "make room there, or write somewhere else",
    errno.EDQUOT: "make room there, or write somewhere else",
    errno.EROFS: "write somewhere else",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "name a folder",
    errno.EPIPE: "its reader ended before everything was written",
    errno.EIO: "the device failed: see the system's log",
}


def is_reported(err: BaseException) -> bool:
    """Return whether an error is meant for the operator, as opposed to a fault of this program."""
    return isinstance(err, OSError | CallError) or getattr(err, "speaks_for_itself", False)


# the dynamic linker's message for a library without memory, or on a file system mounted noexec
_UNMAPPED = "failed to map segment"


def _memory_is_limited() -> bool:
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _nowhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 (which says no name)
    except FileNotFoundError:
        return True
    return False


def describe(err: BaseException) -> str:
    """Return an error in one line: own errors as they are, those of the system with the file's name."""
    if isinstance(err, FileNotFoundError) and err.filename is None and _nowhere():
        return "the working folder was deleted; change to one that is there"
    if isinstance(err, OSError):
        name = f"{err.filename}: " if err.filename else ""
        of_the_system = err.errno is not None and os.strerror(err.errno) in str(err.strerror)
        advice = f"; {_ADVICE[err.errno]}" if of_the_system and err.errno in _ADVICE else ""
        return f"{name}{err.strerror or err}{advice}"
    text = " ".join(str(err).split())
    if is_reported(err):
        return text
    limited = _memory_is_limited()
    if isinstance(err, MemoryError) or (isinstance(err, ImportError) and limited and _UNMAPPED in text):
        return f"not enough memory{f' ({text})' * bool(text)}; raise its limit (ulimit -v), or use fewer --jobs"
    detail = f"{type(err).__name__}: {text} (--debug shows where)"
    if isinstance(err, SystemError) and limited:  # a library that has lost its MemoryError, or a true fault of one
        return f"perhaps not enough memory: raise its limit (ulimit -v); if it stays, please report it: {detail}"
    return f"internal error, please report it: {detail}"
