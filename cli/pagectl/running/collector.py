"""The garbage collector while very many small objects come and go that it has nothing to do with."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 1_000_000
"""Objects that are new and still there before it looks; a replay holds millions, and a look costs as many."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Cycles are still found, but a third of the time of a replay is not spent on looking for them."""
    before = gc.get_threshold()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
