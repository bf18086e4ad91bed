"""Traces of many brokers, each under the configuration of its own broker, replayed side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pagectl.opening.replay import note_not_modelled, replay_configuration
from pagectl.options.groups import DecidingOptions
from pagectl.options.shared import EditionChoice
from pagectl.running.exits import CallError, describe, is_reported
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note, warning
from pageengine.replay.replaying import Configuration
from pageengine.replay.sweep import (
    FailedSweepRow,
    SweepJob,
    SweepRow,
    SweepVariant,
    sweep_row,
    sweeping,
    variant_configuration,
    variants,
)
from pagefmt.directory.fleet import FleetEntry


@dataclass(frozen=True, slots=True)
class BrokerTrace:
    """What a broker recorded, and what decides. ``name`` None: the only one."""

    name: str | None
    trace: Path
    configuration: Configuration


@dataclass(slots=True)
class TracedFleet:
    """The traces that were named; ``failed``: brokers whose configuration cannot be read, and why."""

    traces: list[BrokerTrace] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def several(self) -> bool:
        """Return whether rows name their broker."""
        return bool(self.failed) or any(trace.name is not None for trace in self.traces)


def traced_fleet(
    entries: Sequence[FleetEntry],
    config: Path | None,
    options: DecidingOptions,
    settings: list[str] | None,
    *,
    anyway: bool,
    alone: bool = False,
) -> TracedFleet:
    """Return the traces with the configuration of each.

    Errors of a configuration are collected, but raised if the trace is ``alone``, in which case it has no name.
    ``anyway`` is that of ``require_start``. Raises ``CallError``.
    """
    if not entries:
        raise CallError("name a TRACE, or a list of them with --brokers")
    fleet = TracedFleet()
    read: dict[FleetEntry, Configuration | Exception] = {}
    for entry in entries:
        full = entry if entry.config is not None else entry._replace(config=config)
        key = full._replace(name="", path=Path())
        if key not in read:
            read[key] = _read(full, options, settings, anyway)
        deciding = read[key]
        if isinstance(deciding, Configuration):
            fleet.traces.append(BrokerTrace(None if alone else full.name, full.path.absolute(), deciding.absolute()))
        elif alone:
            raise deciding
        else:
            fleet.failed[full.name] = describe(deciding)
    return fleet


def replayed(
    fleet: TracedFleet,
    variants: Sequence[SweepVariant],
    *,
    skip_bad_lines: bool,
    processes: int,
    spark: str | None,
    command: str,
) -> list[SweepRow | FailedSweepRow]:
    """Return a row for every variant of every broker, in order; among several, one failure does not end the others.

    Raises ``CallError`` if all fail, ``NoSpark``, ``NoJava``, ``SweepError``, and the errors of a variant.
    """
    work = [
        SweepJob(traced.trace, traced.configuration, skip_bad_lines, variant, traced.name)
        for traced in fleet.traces
        for variant in variants
    ]
    for job in work[: len(variants)]:
        variant_configuration(job).settings()
    with (
        sweeping(f"pagectl {command}", processes, spark, _row, note) as sweep,
        progress("replaying", len(work), "replays" if fleet.several else "variants") as bar,
    ):
        rows: list[SweepRow | FailedSweepRow] = []
        for row in sweep(work) if work else ():
            rows.append(row)
            bar.advance(1)
    for message in dict.fromkeys(text for row in rows if isinstance(row, SweepRow) for text in row.warnings):
        warning(message)
    rows += [FailedSweepRow(0, (), name, why) for name, why in fleet.failed.items()]
    if all(isinstance(row, FailedSweepRow) for row in rows):
        raise CallError(next(row.why for row in rows if isinstance(row, FailedSweepRow)))
    note_not_modelled(
        variant_configuration(job) for job in (*work[: len(variants)], *work[len(variants) :: len(variants)])
    )
    return rows


def replayed_fleet(
    entries: Sequence[FleetEntry],
    config: Path | None,
    options: DecidingOptions,
    settings: list[str] | None,
    anyway: bool,
    skip_bad_lines: bool,
    processes: int,
    spark: str | None,
) -> list[SweepRow | FailedSweepRow]:
    """Return a row of every broker, under its configuration as it is; raises as ``traced_fleet`` and ``replayed``."""
    fleet = traced_fleet(entries, config, options, settings, anyway=anyway)
    return replayed(
        fleet, variants([]), skip_bad_lines=skip_bad_lines, processes=processes, spark=spark, command="replay run"
    )


def _row(job: SweepJob) -> SweepRow | FailedSweepRow:
    try:
        return sweep_row(job)
    except Exception as err:
        if job.broker is None or not is_reported(err):
            raise
        return FailedSweepRow(job.variant.number, tuple(map(str, job.variant.overrides)), job.broker, describe(err))


def _read(
    entry: FleetEntry, options: DecidingOptions, settings: list[str] | None, anyway: bool
) -> Configuration | Exception:
    try:
        if entry.config is None:
            raise CallError("no configuration given; name it with --config FILE, or one for each broker in the list")
        if entry.edition is not None:
            options = DecidingOptions(**vars(options) | {"edition": EditionChoice(entry.edition.value)})
        return replay_configuration(entry.config, options.reading(), settings, anyway=anyway)
    except Exception as err:
        if not is_reported(err):
            raise
        return err
