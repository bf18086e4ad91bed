"""``pagectl disk check``: the broker's own decision about its disks, as a monitoring plugin."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from pagectl.options.configuration import ConfigurationOptions, configuration_options
from pagectl.options.disk import (
    PLUGIN_FORMAT_HELP,
    DiskLimits,
    MaxDiskUsage,
    MinDiskFree,
    QuietOption,
    TimeoutOption,
    VerboseOption,
    limits_of,
    parsed,
)
from pagectl.options.disk_thresholds import Threshold, Thresholds
from pagectl.options.shared import BrokerXmlOption, EditionOption, PlaceArgument, PropertiesOption
from pagectl.running.deadline import Answer, TimedOut, within
from pagectl.running.exits import describe
from pagectl.terminal.nagios import Range, Status, line

if TYPE_CHECKING:
    from pagectl.outputs.disk_report import DiskReport


START_UP = 0.2
"""The time that starting up took counts too: at most this many seconds are taken off the timeout."""


class CheckFormat(StrEnum):
    """Formats of ``disk check``."""

    nagios = "nagios"
    text = "text"
    json = "json"
    prometheus = "prometheus"


@dataclass(frozen=True, slots=True)
class _CheckCall:
    """Everything that was asked for, checked."""

    path: Path | None
    broker_xml: Path | None
    limits: DiskLimits
    options: ConfigurationOptions
    thresholds: Thresholds
    format: CheckFormat
    details: bool
    textfile: Path | None
    quiet: bool


def command(
    path: PlaceArgument = None,
    max_disk_usage: MaxDiskUsage = None,
    min_disk_free: MinDiskFree = None,
    broker_xml: BrokerXmlOption = None,
    properties: PropertiesOption = None,
    edition: EditionOption = None,
    warning: Annotated[
        str | None,
        typer.Option(
            "-w",
            "--warning",
            metavar="RANGE",
            show_default=False,
            help="Warn by usage in percent (80), or bytes left (10G:).",
        ),
    ] = None,
    critical: Annotated[
        str | None,
        typer.Option(
            "-c",
            "--critical",
            metavar="RANGE",
            show_default=False,
            help="Critical as well, beside the broker's own limit.",
        ),
    ] = None,
    inodes_warning: Annotated[
        str | None,
        typer.Option(
            "-W", "--inodes-warning", metavar="RANGE", show_default=False, help="Warn by inodes used in percent."
        ),
    ] = None,
    inodes_critical: Annotated[
        str | None,
        typer.Option(
            "-K", "--inodes-critical", metavar="RANGE", show_default=False, help="Critical by inodes used in percent."
        ),
    ] = None,
    timeout: TimeoutOption = 10.0,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    format: Annotated[CheckFormat, typer.Option("--format", help=PLUGIN_FORMAT_HELP)] = CheckFormat.nagios,
    textfile: Annotated[
        Path | None,
        typer.Option(
            "--textfile",
            metavar="FILE",
            show_default=False,
            help="Also write Prometheus text there, for a node exporter to collect.",
        ),
    ] = None,
) -> int:
    """Decide as the broker's disk monitor does, and say how far away the limit is.

    Statuses of monitoring plugins: 0 OK, 1 WARNING, 2 CRITICAL (the broker blocks producers), 3 UNKNOWN.
    """
    thresholds = Thresholds(
        parsed(Threshold.parse, warning, "-w"), parsed(Threshold.parse, critical, "-c"),
        parsed(Range.parse, inodes_warning, "-W"), parsed(Range.parse, inodes_critical, "-K"),
    )  # fmt: skip
    call = _CheckCall(
        path, broker_xml, limits_of(max_disk_usage, min_disk_free),
        configuration_options(edition, properties=properties), thresholds,
        format, verbose or format is CheckFormat.text, textfile, quiet,
    )  # fmt: skip
    answer = _in_time(call, timeout)
    typer.echo(answer.err, nl=False, err=True)
    typer.echo(answer.out, nl=False)
    return answer.status


def _in_time(call: _CheckCall, seconds: float) -> Answer:
    starting = min(time.process_time(), START_UP)
    try:
        return within(max(0.05, seconds - starting), lambda: _checked(call))
    except TimedOut:
        named = call.path or call.broker_xml or "the instance"
        return _unknown(call, f"{named}: no answer from its file system within {seconds:g} s")
    except ChildProcessError as err:
        return _unknown(call, str(err))


def _checked(call: _CheckCall) -> Answer:
    """Never raises: whatever goes wrong is UNKNOWN, in one line, and in the textfile as far as that can be written."""
    try:
        return _check(call)
    except Exception as err:
        if call.textfile is not None:
            with suppress(Exception):
                _write(call.textfile, None)
        return _unknown(call, describe(err))


def _check(call: _CheckCall) -> Answer:
    from pagectl.opening.monitored_disks import monitored_disks
    from pagectl.outputs.disk_report import DiskReport

    disks = monitored_disks(call.path, call.broker_xml, call.limits, call.options)
    state = disks.state()
    felt = disks.when_blocked() if call.details or call.format is CheckFormat.json else ()
    report = DiskReport(state, call.thresholds, felt)
    if call.textfile is not None:
        _write(call.textfile, report)
    if call.quiet and report.status is Status.OK:
        return Answer(Status.OK)
    return Answer(report.status, _shown(call, report, disks.took_for))


def _write(textfile: Path, report: DiskReport | None) -> None:
    """Without a report: that nothing is known."""
    from pagectl.outputs.disk_metrics import metrics, status_metric
    from pagectl.outputs.prometheus import exposition
    from pagefmt.bytes.writing import write_text

    write_text(textfile, exposition(metrics(report) if report else [status_metric(Status.UNKNOWN)]), 0o644)


def _shown(call: _CheckCall, report: DiskReport, took_for: str) -> str:
    from pagectl.outputs.disk_report import as_json, nagios

    match call.format:
        case CheckFormat.nagios | CheckFormat.text:
            return nagios(report, details=call.details)
        case CheckFormat.json:
            from pagectl.terminal.streams import json_text

            return json_text(as_json(report, took_for), indent=2) + "\n"
        case CheckFormat.prometheus:
            from pagectl.outputs.disk_metrics import metrics
            from pagectl.outputs.prometheus import exposition

            return exposition(metrics(report))
        case _:
            assert_never(call.format)


def _unknown(call: _CheckCall, why: str) -> Answer:
    """UNKNOWN where the reader of that format looks for it."""
    told = line("DISK", Status.UNKNOWN, why) + "\n"
    match call.format:
        case CheckFormat.nagios | CheckFormat.text:
            return Answer(Status.UNKNOWN, told)
        case CheckFormat.json:
            from pagectl.terminal.streams import json_text

            shown = {"status": "UNKNOWN", "exit_status": 3, "state": "unknown", "text": why}
            return Answer(Status.UNKNOWN, json_text(shown, indent=2) + "\n", told)
        case CheckFormat.prometheus:
            from pagectl.outputs.disk_metrics import status_metric
            from pagectl.outputs.prometheus import exposition

            return Answer(Status.UNKNOWN, exposition([status_metric(Status.UNKNOWN)]), told)
        case _:
            assert_never(call.format)
