"""A bar for a Spark job: finished tasks of all, asked from Spark's own status."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from pagectl.terminal.progress import Progress, progress

if TYPE_CHECKING:
    from pyspark import SparkContext


@contextmanager
def spark_progress(context: SparkContext, what: str) -> Iterator[None]:
    """While the job runs; silent where standard error is no terminal."""
    from pagefmt.spark.executors import beside

    with progress(what, None, "tasks") as bar, beside(partial(_watch, context, bar)):
        yield


def _watch(context: SparkContext, bar: Progress, done: threading.Event) -> None:
    tracker = context.statusTracker()
    finished: dict[int, int] = {}
    while not done.wait(0.2):
        before = sum(finished.values())
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            finished[stage] = max(finished.get(stage, 0), info.numCompletedTasks if info else 0)
        bar.advance(sum(finished.values()) - before)
