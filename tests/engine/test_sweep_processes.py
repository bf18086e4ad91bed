"""The processes of a sweep: what comes of them when one is killed, or nobody wants their rows any more."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from multiprocessing import active_children
from typing import Any
from unittest.mock import Mock

import pytest

from pageengine.replay.sweep import SweepError, SweepJob, sweeping
from pagefmt.spark import session

JOBS: list[Any] = [0, 1, 2, 3]
LONG = 3600


def first_alone(job: Any) -> Any:
    """Return the first job at once, and the others after ``LONG`` seconds."""
    if job:
        time.sleep(LONG)
    return job


def killed(job: Any) -> Any:
    """Kill the worker of job 1, as the kernel does when memory is short, and keep the others busy."""
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


@pytest.mark.parametrize(
    ("room", "name", "granted"), [(os, "fork", 0), (os, "fork", 1), (threading.Thread, "start", 0)]
)
def test_where_no_more_is_granted_all_is_replayed_here(
    monkeypatch: pytest.MonkeyPatch, room: Any, name: str, granted: int
) -> None:
    real, calls, others = getattr(room, name), [0], {*active_children()}

    def limited(*given: Any) -> Any:
        calls[0] += 1
        if calls[0] > granted:
            raise BlockingIOError(11, "refused") if room is os else RuntimeError("can't start new thread")
        return real(*given)

    monkeypatch.setattr(room, name, limited)
    assert list(rows_of(lambda job: job)) == JOBS and calls[0] == granted + 1
    assert not {*active_children()} - others


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("x\n: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)", "is memory short"),
        (
            "Traceback (most recent call last):\nModuleNotFoundError: No module named 'pageengine'",
            "not replayed: No module named 'pageengine'; pagectl must be installed on every worker",
        ),
        ("x\nCaused by: java.io.IOException: No space left on device", "not replayed: No space left on device"),
    ],
)
def test_what_spark_says_is_passed_on(monkeypatch: pytest.MonkeyPatch, told: str, said: str) -> None:
    failing = Mock(**{"parallelize.return_value.map.return_value.collect.side_effect": RuntimeError(told)})
    monkeypatch.setattr(session, "running", lambda *_: nullcontext(failing))
    with pytest.raises(SweepError, match=r"^local\[2\]: ") as raised, sweeping("t", 1, "local[2]", sum, print) as sweep:
        sweep(JOBS)
    assert said in str(raised.value) and ("installed" in str(raised.value)) == ("module" in told)
