"""``pagectl disk check``: the broker's own decision about its disks, as a monitoring plugin."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from pagectl.options.disk import (
    BrokerNameOption,
    CheckFormatOption,
    DiskOptions,
    DiskQuery,
    QuietOption,
    TextfileOption,
    ThresholdOptions,
    TimeoutOption,
    VerboseOption,
    disk_query,
)
from pagectl.options.disk_thresholds import Thresholds
from pagectl.options.formats import CheckFormat
from pagectl.options.shared import AnywayOption, PlaceArgument
from pagectl.outputs.plugin import Plugin
from pagectl.running.deadline import Answer
from pagectl.terminal.nagios import Status

EXAMPLES = (
    ("From a monitoring system", "disk check /var/lib/broker"),
    ("Warn before the broker blocks", "disk check /var/lib/broker --warning 70 --critical 85"),
    ("For Prometheus' node exporter, a file for each broker", "disk check /var/lib/broker --textfile broker.prom"),
)


def command(
    path: PlaceArgument = None,
    options: DiskOptions = DiskOptions(),
    limits: ThresholdOptions = ThresholdOptions(),
    anyway: AnywayOption = False,
    timeout: TimeoutOption = 10.0,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    format: CheckFormatOption = CheckFormat.nagios,
    textfile: TextfileOption = None,
    broker: BrokerNameOption = None,
) -> int:
    """Check the disks as the broker's disk monitor does, and report the distance to the limit.

    Without --warning, it warns when less than a tenth of what the broker may use is left: above 81 % if max-disk-usage
    is 90. Exit statuses are those of monitoring plugins: 0 OK, 1 WARNING, 2 CRITICAL (the broker blocks producers), 3
    UNKNOWN.
    """
    thresholds = limits.thresholds()
    query = disk_query(path, options, anyway, broker)
    plugin = Plugin("DISK", format, query.subject, query.broker)
    details = verbose or format is CheckFormat.text
    return plugin.run(partial(_check, plugin, query, thresholds, textfile, details, quiet), timeout)


def _check(
    plugin: Plugin, query: DiskQuery, thresholds: Thresholds, textfile: Path | None, details: bool, quiet: bool
) -> Answer:
    """Return the answer. If the check fails, a textfile says that nothing is known."""
    from pagectl.opening.monitored_disks import check_disks
    from pagectl.outputs.disk_report import disk_check, nagios

    try:
        report, took_for = check_disks(query, thresholds, effects=details or plugin.format == CheckFormat.json)
    except Exception:
        if textfile is not None:
            from pagectl.outputs.disk_metrics import write_textfile

            with suppress(Exception):
                write_textfile(textfile, query.broker, None)
        raise
    if textfile is not None:
        from pagectl.outputs.disk_metrics import keep_metrics

        keep_metrics(textfile, query.broker, report)
    if quiet and report.status is Status.OK:
        return Answer(Status.OK)
    if plugin.format == CheckFormat.prometheus:
        from pagectl.outputs.disk_metrics import exposed

        return Answer(report.status, exposed(query.broker, report))
    return plugin.answer(
        report.status, lambda: nagios(report, details=details), lambda: disk_check(report, took_for, query.broker)
    )
