"""The processes of a sweep: what comes of them when one is killed, or nobody wants their rows any more."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing import active_children
from typing import Any

import pytest

from pageengine.replay.sweep import SweepError, SweepJob, sweeping

JOBS: list[Any] = [0, 1, 2, 3]
LONG = 3600


def first_alone(job: Any) -> Any:
    """As of a long trace: no row but the first for an hour."""
    if job:
        time.sleep(LONG)
    return job


def killed(job: Any) -> Any:
    """As by a system that is short of memory, while others replay on."""
    if job == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(LONG)
    return job


def rows_of(replayed: Callable[[SweepJob], Any]) -> Iterator[Any]:
    with sweeping("test", 2, None, replayed, print) as rows:
        yield from rows(JOBS)


def test_nobody_waits_for_rows_that_are_not_wanted() -> None:
    others = {*active_children()}
    rows = rows_of(first_alone)
    assert next(rows) == 0 and {*active_children()} - others
    with pytest.raises(KeyboardInterrupt):
        rows.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
    assert not {*active_children()} - others


def test_a_process_that_is_killed_ends_the_sweep_with_a_reason() -> None:
    others = {*active_children()}
    with pytest.raises(SweepError, match="was killed; is memory short"):
        list(rows_of(killed))
    assert not {*active_children()} - others
