"""The garbage collector while very many small objects come and go that it has nothing to do with."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# new surviving objects before the collector runs; a replay holds millions, and a run visits them all
SELDOM = 1_000_000


# thresholds of a new interpreter; a process that runs for days needs them, since a cycle may hold a journal
USUAL: Final = (700, 10, 10)


def collected_as_usual() -> None:
    """Turn on regular garbage collection for a long-running command.

    Objects of imports are frozen first, so that the collector never visits them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*USUAL)


@contextmanager
def never_collected() -> Iterator[None]:
    """Collect no garbage, at exit either, for a command whose objects live until its end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Collect garbage less often inside: a third of the time of a replay went into the search for cycles."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
