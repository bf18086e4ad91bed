"""``pagectl disk forecast``: when the broker will block, from samples of earlier runs; a monitoring plugin."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.disk import (
    PLUGIN_FORMAT_HELP,
    DiskOptions,
    DiskQuery,
    ForecastOptions,
    QuietOption,
    TimeoutOption,
    VerboseOption,
    disk_query,
)
from pagectl.options.formats import PluginFormat
from pagectl.options.shared import AnywayOption, PlaceArgument
from pagectl.outputs.plugin import Plugin
from pagectl.running.deadline import Answer
from pagectl.terminal.nagios import Status
from pagectl.terminal.streams import warning
from pagefmt.errors import PageFmtError

EXAMPLES = (
    (
        "From cron, every five minutes: when will the broker block?",
        "disk forecast /var/lib/broker --state disk.samples --warn-within 6h",
    ),
)


def command(
    path: PlaceArgument = None,
    forecast: ForecastOptions = ForecastOptions(),
    options: DiskOptions = DiskOptions(),
    no_addresses: Annotated[
        bool, typer.Option("--no-addresses", help="Do not sample the bytes of each address.")
    ] = False,
    anyway: AnywayOption = False,
    timeout: TimeoutOption = 60.0,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    format: Annotated[PluginFormat, typer.Option("--format", help=PLUGIN_FORMAT_HELP)] = PluginFormat.nagios,
) -> int:
    """Take a sample, and predict when the broker will block at the rate seen so far.

    Exit statuses are those of monitoring plugins: 0 OK (or still learning), 1 WARNING, 2 CRITICAL (already blocking), 3
    UNKNOWN.
    """
    query = disk_query(path, options, anyway)
    plugin = Plugin("DISK FORECAST", format, query.subject)
    details = verbose or format is PluginFormat.text
    return plugin.run(
        partial(_forecast, plugin, query, forecast.state, forecast.limits(), not no_addresses, details, quiet), timeout
    )


def _forecast(
    plugin: Plugin,
    query: DiskQuery,
    state_file: Path | None,
    limits: tuple[float | None, float | None],
    addresses: bool,
    details: bool,
    quiet: bool,
) -> Answer:
    """Take a sample and keep it; ``limits`` are the seconds to warn within and to be critical within."""
    from pagectl.opening.disk_samples import default_file, read_samples, with_sample
    from pagectl.opening.monitored_disks import monitored_disks
    from pagectl.outputs.forecast_report import Forecast, disk_forecast, nagios
    from pagefmt.storage.writing import write_text

    disks = monitored_disks(query)
    state = disks.state()
    file = state_file or default_file(disks)
    samples = with_sample(read_samples(file, disks), state.stores, disks, addresses=addresses)
    forecast = Forecast.of(state, samples, *limits)
    try:
        write_text(file, samples.as_text(), 0o600, updated=True)
    except (PageFmtError, OSError) as err:
        if forecast.status is Status.OK:
            raise
        warning(f"the sample is not kept: {err}")
    if quiet and forecast.status is Status.OK:
        return Answer(Status.OK)
    return plugin.answer(
        forecast.status,
        lambda: nagios(forecast, disks.assumed, details=details),
        lambda: disk_forecast(forecast, disks.took_for),
    )
