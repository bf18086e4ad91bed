"""Replays of brokers' traces under many settings: on local cores, or on Spark."""

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
    """Error of a worker that could not replay its variant."""


@dataclass(frozen=True, slots=True)
class SweepVariant:
    """Row of the table: the overrides of the configuration."""

    number: int
    overrides: tuple[SettingOverride, ...]


@dataclass(frozen=True, slots=True)
class SweepRow:
    """Result of a variant. ``broker``: whose trace, if there are several."""

    number: int
    settings: tuple[str, ...]
    totals: Totals
    # The addresses that paged most, and the messages of each.
    most_paged: tuple[tuple[str, int], ...] = ()
    broker: str | None = None
    # What the totals lack of the trace.
    warnings: tuple[str, ...] = ()
    # Whether the trace lacks its end.
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FailedSweepRow:
    """Variant that could not be replayed, of one broker among several."""

    number: int
    settings: tuple[str, ...]
    broker: str
    why: str


def parse_vary(text: str) -> list[SettingOverride]:
    """Parse ``MATCH:NAME=V1,V2,…`` into one override for each value; raise ``SettingError``."""
    whole = parse_override(text)
    values = [value.strip() for value in whole.text.split(",")]
    if not all(values):
        raise SettingError(f"{text!r}: expected MATCH:NAME=V1,V2,… with a value between commas")
    return [replace(whole, text=value) for value in values]


def variants(axes: Sequence[Sequence[SettingOverride]]) -> list[SweepVariant]:
    """Return every combination, the last axis varying fastest."""
    return [SweepVariant(n, combination) for n, combination in enumerate(product(*axes))]


@dataclass(frozen=True, slots=True)
class SweepJob:
    """Input of a worker; it is sent to other processes and hosts. ``broker``: whose trace, if there are several."""

    trace: Path
    configuration: Configuration
    skip_bad_lines: bool
    variant: SweepVariant
    broker: str | None = None


def variant_configuration(job: SweepJob) -> Configuration:
    """Return the configuration with the settings of the variant applied."""
    return job.configuration.over(job.variant.overrides)


def sweep_row(job: SweepJob) -> SweepRow:
    """Replay one variant and return its row."""
    reader = open_trace(job.trace, skip_bad_lines=job.skip_bad_lines)
    recording = recorded(variant_configuration(job), reader)
    paged = {
        name: record.sends[PAGED] + record.sends[f"released {PAGED}"] for name, record in recording.addresses.items()
    }
    most = nlargest(MOST_PAGED, ((name, count) for name, count in paged.items() if count), key=itemgetter(1))
    settings = tuple(map(str, job.variant.overrides))
    warnings = tuple(trace_warnings(reader, recording))
    return SweepRow(
        job.variant.number, settings, totals(recording), tuple(most), job.broker, warnings, reader.cut is not None
    )


@contextmanager
def sweeping(
    name: str, processes: int, spark: str | None, replayed: Callable[[SweepJob], _Replayed], tell: Callable[[str], None]
) -> Iterator[Callable[[Sequence[SweepJob]], Iterator[_Replayed]]]:
    """Yield a function that runs jobs, as often as it is called: on ``processes`` local cores, or on a Spark master.

    On Spark the traces and configurations must be readable under their paths on every worker, and rows come when all
    are there; ``tell`` gets what its workers wait for. Raises ``NoSpark``, ``NoJava``, ``SweepError``.
    """
    if spark is None:
        yield lambda jobs: _on_local_cores(jobs, processes, replayed)
        return
    from pagefmt.spark.session import running

    with running(name, spark, {}, tell) as context:
        yield lambda jobs: iter(_on_spark(context, spark, jobs, replayed))


def _on_local_cores(
    jobs: Sequence[SweepJob], processes: int, replayed: Callable[[SweepJob], _Replayed]
) -> Iterator[_Replayed]:
    """Yield the rows in the order of the jobs, at most ``processes`` running at a time; raise ``SweepError``."""
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
    """Ignore Ctrl-C in a worker, because the parent process tidies up and ends it."""
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
