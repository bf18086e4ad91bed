"""The garbage collector while very many small objects come and go that it has nothing to do with."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SELDOM = 1_000_000
"""Objects that are new and still there before it looks; a replay holds millions, and a look costs as many."""


USUAL: Final = (700, 10, 10)
"""As interpreters begin. A start collects nothing; what lasts for days has to: a cycle may hold a journal."""


def collected_as_usual() -> None:
    """From here on, for a command that lasts; what was imported stays and is looked at no more."""
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
    """Cycles are still found, but a third of the time of a replay is not spent on looking for them."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
