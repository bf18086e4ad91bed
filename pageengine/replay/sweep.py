"""Traces of brokers under many settings, side by side: on the cores here, or on Spark."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import product
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pageengine.errors import PageEngineError
from pageengine.model.outcome import PAGED
from pageengine.replay.replaying import Configuration, recorded, trace_warnings
from pageengine.replay.totals import Totals, totals
from pageengine.settings.overrides import SettingError, SettingOverride, parse_override
from pageengine.trace.reading import open_trace

if TYPE_CHECKING:
    from pyspark import SparkContext

_Replayed = TypeVar("_Replayed")

MOST_PAGED = 3


class SweepError(PageEngineError):
    """A worker could not replay its variant."""


@dataclass(frozen=True, slots=True)
class SweepVariant:
    """One row of the table: what is put over the configuration."""

    number: int
    overrides: tuple[SettingOverride, ...]


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What a variant came to. ``broker``: whose trace, where there are several."""

    number: int
    settings: tuple[str, ...]
    totals: Totals
    most_paged: tuple[tuple[str, int], ...] = ()
    """The addresses that paged most, and the messages of each."""
    broker: str | None = None
    warnings: tuple[str, ...] = ()
    """What of the trace the totals are without."""
    cut: bool = False
    """Whether the trace lacks its end."""


@dataclass(frozen=True, slots=True)
class FailedSweepRow:
    """A variant that could not be replayed, of one broker among several."""

    number: int
    settings: tuple[str, ...]
    broker: str
    why: str


def parse_vary(text: str) -> list[SettingOverride]:
    """``MATCH:NAME=V1,V2,…``: one override for each value. Raises SettingError."""
    whole = parse_override(text)
    values = [value.strip() for value in whole.text.split(",")]
    if not all(values):
        raise SettingError(f"{text!r}: expected MATCH:NAME=V1,V2,… with a value between commas")
    return [replace(whole, text=value) for value in values]


def variants(axes: Sequence[Sequence[SettingOverride]]) -> list[SweepVariant]:
    """Every combination, the last axis varying fastest."""
    return [SweepVariant(n, combination) for n, combination in enumerate(product(*axes))]


@dataclass(frozen=True, slots=True)
class SweepJob:
    """What a worker needs; goes to other processes and hosts. ``broker``: where there are several."""

    trace: Path
    configuration: Configuration
    skip_bad_lines: bool
    variant: SweepVariant
    broker: str | None = None


def variant_configuration(job: SweepJob) -> Configuration:
    """The configuration with the settings of the variant over it."""
    return job.configuration.over(job.variant.overrides)


def sweep_row(job: SweepJob) -> SweepRow:
    """Replay one variant."""
    reader = open_trace(job.trace, skip_bad_lines=job.skip_bad_lines)
    found = recorded(variant_configuration(job), reader)
    paged = {name: one.sends[PAGED] + one.sends[f"released {PAGED}"] for name, one in found.addresses.items()}
    most = nlargest(MOST_PAGED, ((name, count) for name, count in paged.items() if count), key=itemgetter(1))
    settings = tuple(map(str, job.variant.overrides))
    told = tuple(trace_warnings(reader, found))
    return SweepRow(job.variant.number, settings, totals(found), tuple(most), job.broker, told, reader.cut is not None)


@contextmanager
def sweeping(
    name: str, processes: int, spark: str | None, replayed: Callable[[SweepJob], _Replayed], tell: Callable[[str], None]
) -> Iterator[Callable[[Sequence[SweepJob]], Iterator[_Replayed]]]:
    """What has each job ``replayed``, as often as it is asked: on ``processes`` cores here, or by a master of Spark.

    On Spark the traces and configurations must be readable under their paths on every worker, and rows come when all
    are there; ``tell`` hears what its workers wait for. Raises NoSpark, NoJava, SweepError.
    """
    if spark is None:
        yield lambda jobs: _here(jobs, processes, replayed)
        return
    from pagefmt.spark.session import running

    with running(name, spark, {}, tell) as context:
        yield lambda jobs: iter(_on_spark(context, spark, jobs, replayed))


def _here(jobs: Sequence[SweepJob], processes: int, replayed: Callable[[SweepJob], _Replayed]) -> Iterator[_Replayed]:
    """Rows in the order of the jobs; at most ``processes`` at a time. Raises SweepError.

    Nobody waits for the processes where the rows are no longer wanted: a replay may take an hour.
    """
    if processes <= 1 or len(jobs) == 1:
        yield from map(replayed, jobs)
        return
    others = active_children()
    try:
        pool = ProcessPoolExecutor(min(processes, len(jobs)), initializer=_leave_signals)
        rows = pool.map(replayed, jobs)
    except (OSError, RuntimeError):  # no more processes, threads or open files are granted
        _end_all_but(others)
        yield from map(replayed, jobs)
        return
    try:
        yield from rows
    except BaseException as err:
        _end_all_but(others)
        if not isinstance(err, BrokenProcessPool):
            raise
        why = "a replay process was killed; is memory short? --jobs 1 uses one process only"
        raise SweepError(why) from err
    finally:
        pool.shutdown(cancel_futures=True)


def _end_all_but(others: Sequence[BaseProcess]) -> None:
    for process in active_children():
        if process not in others:
            process.kill()
            process.join()


def _leave_signals() -> None:
    """Who started this process tidies up after Ctrl-C, and ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _on_spark(
    context: SparkContext, master: str, jobs: Sequence[SweepJob], replayed: Callable[[SweepJob], _Replayed]
) -> list[_Replayed]:
    from pagefmt.spark.session import answered, cause

    try:
        rows: list[_Replayed] = answered(context.parallelize(jobs, len(jobs)).map(replayed).collect)
    except Exception as err:
        why = cause(err)
        hint = "; pagectl must be installed on every worker" if "No module named" in why else ""
        raise SweepError(f"{master}: not replayed: {why}{hint}") from err
    return rows
