"""``pagectl disk check``: the broker's own decision about its disks, as a monitoring plugin."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.disk import (
    BROKER_HELP,
    PLUGIN_FORMAT_HELP,
    DiskOptions,
    DiskQuery,
    QuietOption,
    TimeoutOption,
    VerboseOption,
    disk_query,
    parsed,
)
from pagectl.options.disk_thresholds import Threshold, Thresholds
from pagectl.options.formats import CheckFormat
from pagectl.options.shared import AnywayOption, PlaceArgument
from pagectl.outputs.plugin import Plugin
from pagectl.running.deadline import Answer
from pagectl.running.exits import CallError
from pagectl.terminal.nagios import Range, Status
from pagectl.terminal.streams import warning as warn
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from pagectl.outputs.disk_report import DiskReport


EXAMPLES = (
    ("From a monitoring system", "disk check /var/lib/broker"),
    ("Warn before the broker blocks", "disk check /var/lib/broker --warning 70 --critical 85"),
    ("For Prometheus' node exporter, a file for each broker", "disk check /var/lib/broker --textfile broker.prom"),
)


def command(
    path: PlaceArgument = None,
    options: DiskOptions = DiskOptions(),
    warning: Annotated[
        str | None,
        typer.Option(
            "-w",
            "--warning",
            metavar="RANGE",
            help="Warning threshold: usage in percent (80) or bytes left (10G:) [default: a tenth of what the "
            "broker may use].",
        ),
    ] = None,
    critical: Annotated[
        str | None,
        typer.Option(
            "-c",
            "--critical",
            metavar="RANGE",
            help="Critical threshold of usage or bytes left, before the broker's own limit.",
        ),
    ] = None,
    inodes_warning: Annotated[
        str | None,
        typer.Option("-W", "--inodes-warning", metavar="RANGE", help="Warning threshold: inodes used, in percent."),
    ] = None,
    inodes_critical: Annotated[
        str | None,
        typer.Option("-K", "--inodes-critical", metavar="RANGE", help="Critical threshold: inodes used, in percent."),
    ] = None,
    anyway: AnywayOption = False,
    timeout: TimeoutOption = 10.0,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    format: Annotated[CheckFormat, typer.Option("--format", help=PLUGIN_FORMAT_HELP)] = CheckFormat.nagios,
    textfile: Annotated[
        Path | None,
        typer.Option(
            "--textfile",
            metavar="FILE",
            parser=Path,
            help="Also write Prometheus metrics to FILE, for the textfile collector of a node exporter; each broker "
            "needs its own.",
        ),
    ] = None,
    broker: Annotated[str | None, typer.Option("--broker", metavar="NAME", help=BROKER_HELP)] = None,
) -> int:
    """Check the disks as the broker's disk monitor does, and report the distance to the limit.

    Without --warning, it warns when less than a tenth of what the broker may use is left: above 81 % if max-disk-usage
    is 90. Exit statuses are those of monitoring plugins: 0 OK, 1 WARNING, 2 CRITICAL (the broker blocks producers), 3
    UNKNOWN.
    """
    thresholds = Thresholds(
        parsed(Threshold.parse, warning, "-w"), parsed(Threshold.parse, critical, "-c"),
        parsed(Range.parse, inodes_warning, "-W"), parsed(Range.parse, inodes_critical, "-K"),
    )  # fmt: skip
    query = disk_query(path, options, anyway, broker)
    plugin = Plugin("DISK", format, query.subject, query.broker)
    details = verbose or format is CheckFormat.text
    return plugin.run(partial(_check, plugin, query, thresholds, textfile, details, quiet), timeout)


def _check(
    plugin: Plugin, query: DiskQuery, thresholds: Thresholds, textfile: Path | None, details: bool, quiet: bool
) -> Answer:
    """Return the answer. A textfile says that nothing is known if the check fails; one that cannot be written hides no
    finding."""
    from pagectl.outputs.disk_report import as_json, nagios

    try:
        report, took_for = _report(query, thresholds, effects=details or plugin.format == CheckFormat.json)
    except Exception:
        if textfile is not None:
            with suppress(Exception):
                _write(textfile, query.broker, None)
        raise
    if textfile is not None:
        try:
            _write(textfile, query.broker, report)
        except (PageFmtError, CallError, OSError) as err:
            if report.status is Status.OK:
                raise
            warn(f"--textfile: {err}")
    if quiet and report.status is Status.OK:
        return Answer(Status.OK)
    if plugin.format == CheckFormat.prometheus:
        return Answer(report.status, _metrics(query.broker, report))
    return plugin.answer(
        report.status, lambda: nagios(report, details=details), lambda: as_json(report, took_for, query.broker)
    )


def _report(query: DiskQuery, thresholds: Thresholds, *, effects: bool) -> tuple[DiskReport, str]:
    """The report, and what the path was taken for."""
    from pagectl.opening.monitored_disks import monitored_disks
    from pagectl.outputs.disk_report import DiskReport

    disks = monitored_disks(query)
    felt = disks.when_blocked() if effects else ()
    return DiskReport(disks.state(), thresholds, felt, disks.supposed, disks.assumed), disks.took_for


def _metrics(broker: str, report: DiskReport | None) -> str:
    """Return the report as exposition text; without a report, that the status is unknown."""
    from pagectl.outputs.disk_metrics import metrics, status_metric
    from pagectl.outputs.prometheus import exposition

    return exposition(broker, metrics(report) if report else [status_metric(Status.UNKNOWN)])


def _brokers(text: str) -> set[str]:
    return set(re.findall(r'\bbroker="((?:[^"\\]|\\.)*)"', text))


def _beginning(file: Path) -> str:
    """Return what a regular file has first; nothing of any other."""
    if not file.is_file():
        return ""
    with suppress(OSError), file.open("rb") as opened:
        return opened.read(1 << 20).decode("utf-8", "replace")
    return ""


def _write(textfile: Path, broker: str, report: DiskReport | None) -> None:
    from pagefmt.bytes.writing import refuse_input, write_text

    refuse_input(textfile)
    text = _metrics(broker, report)
    if others := _brokers(_beginning(textfile)) - _brokers(text):
        raise CallError(
            f"{textfile}: has the metrics of another broker, {min(others)}; name a file for each broker, or delete it "
            "if that broker is gone"
        )
    write_text(textfile, text, 0o644, updated=True)
