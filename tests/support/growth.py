"""How the time of a call grows with what it is given."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

from harmed import pagectl
from program import Answer

TWICE_LINEAR = 8.0
"""Four times as much may take so many times as long; the square would be 16 times."""


def took(*words: str | Path, seconds: float = 100) -> tuple[float, Answer]:
    """Run a call, and return its CPU seconds, which exclude waiting, with its answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = pagectl(*words, seconds=seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, answer


def grows(make: Callable[[int], list[str | Path]], few: int, idle: float) -> None:
    """Assert that the CPU time of a call grows about linearly with its input.

    ``idle``: seconds that the call takes without input.
    """
    small, _ = took(*make(few))
    large, _ = took(*make(4 * few))
    assert large - idle < TWICE_LINEAR * max(small - idle, 0.1), f"{few}: {small:.1f} s, {4 * few}: {large:.1f} s"
