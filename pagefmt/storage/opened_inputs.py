"""The files that a call has opened for reading, so that no output of the same call replaces one of them.

An audit hook of the interpreter sees every file that Python code opens, whichever reader does so: configurations and
what they include, properties, traces, lists, credentials. Pages and large messages are not recorded: outputs below
their directories are refused, and there may be millions of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

_DATA: Final = (".page", ".msg", ".py", ".pyc")
# The files of the calls in progress, the innermost last. State of the process, because the audit hook is the process's:
# the interpreter calls it with an event alone.
_calls: Final[list[set[str | bytes]]] = []


@contextmanager
def inputs_recorded() -> Iterator[None]:
    """Record the files that are opened for reading inside, which is one call."""
    _install_hook()
    _calls.append(set())
    try:
        yield
    finally:
        _calls.pop()


@cache
def _install_hook() -> None:
    """Install the audit hook, once for the process: Python cannot remove one."""
    sys.addaudithook(_see)


def _see(event: str, args: tuple[object, ...]) -> None:
    if event != "open" or not _calls:
        return
    path, _, flags = args
    reads = isinstance(flags, int) and flags & os.O_ACCMODE == os.O_RDONLY and not flags & os.O_DIRECTORY
    if reads and isinstance(path, str | bytes) and not os.fsdecode(path).endswith(_DATA):
        _calls[-1].add(path)


def was_read(target: Path) -> bool:
    """Return whether a file was opened for reading by this call, under this name or another one."""
    with suppress(OSError):
        wanted = target.stat()
        for path in [path for call in _calls for path in call]:
            with suppress(OSError, ValueError):
                if os.path.samestat(Path(os.fsdecode(path)).stat(), wanted):
                    return True
    return False
