"""``pagectl disk forecast``: when the broker will block, from samples of earlier runs; a monitoring plugin."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.disk import (
    PLUGIN_FORMAT_HELP,
    DiskOptions,
    DiskQuery,
    QuietOption,
    TimeoutOption,
    VerboseOption,
    disk_query,
    parsed,
)
from pagectl.options.durations import parse_duration
from pagectl.options.formats import PluginFormat
from pagectl.options.shared import AnywayOption, PlaceArgument
from pagectl.outputs.plugin import Plugin
from pagectl.running.deadline import Answer
from pagectl.running.exits import CallError
from pagectl.terminal.nagios import Status
from pagectl.terminal.streams import warning
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from pagectl.opening.monitored_disks import MonitoredDisks
    from pageengine.disk.samples import DiskSample, DiskSamples
    from pageengine.disk.state import FileStoreState

LARGEST_STATE = 16 << 20


EXAMPLES = (
    (
        "From cron, every five minutes: when will the broker block?",
        "disk forecast /var/lib/broker --state disk.samples --warn-within 6h",
    ),
)


def command(
    path: PlaceArgument = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            help="File with the samples of earlier runs [default: below $STATE_DIRECTORY or $XDG_STATE_HOME].",
        ),
    ] = None,
    warn_within: Annotated[
        str | None,
        typer.Option(
            "--warn-within", metavar="TIME", help="Warn if the broker will block within this time, such as 6h."
        ),
    ] = None,
    critical_within: Annotated[
        str | None,
        typer.Option("--critical-within", metavar="TIME", help="Critical if it will block within this time."),
    ] = None,
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
    limits = (
        parsed(parse_duration, warn_within, "--warn-within"),
        parsed(parse_duration, critical_within, "--critical-within"),
    )
    details = verbose or format is PluginFormat.text
    return plugin.run(partial(_forecast, plugin, query, state, limits, not no_addresses, details, quiet), timeout)


def _forecast(
    plugin: Plugin, query: DiskQuery, state_file: Path | None, limits: tuple[float | None, float | None],
    addresses: bool, details: bool, quiet: bool,
) -> Answer:  # fmt: skip
    """Take a sample, keep it, and answer; ``limits`` are the seconds to warn within and to be critical within.

    A sample that cannot be kept hides no finding.
    """
    from pagectl.opening.monitored_disks import monitored_disks
    from pagectl.outputs.forecast_report import Forecast, as_json, nagios
    from pagefmt.bytes.writing import write_text

    disks = monitored_disks(query)
    state = disks.state()
    file = state_file or _default_state(disks)
    samples = _read(file, disks)
    samples = samples.added(_sample(state.stores, disks, samples, addresses))
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
        lambda: as_json(forecast, disks.took_for),
    )


def _default_state(disks: MonitoredDisks) -> Path:
    """Below the folder that systemd gives a service, or the user's own folder for state."""
    from hashlib import sha256

    from pagefmt.bytes.user_folders import user_folder

    given = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    folder = (Path(given) if given else user_folder("XDG_STATE_HOME", ".local/state")) / "pagectl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise CallError(f"{folder}: {err.strerror}; name a file for the samples with --state") from err
    return folder / f"disk-{sha256(os.fsencode(disks.place)).hexdigest()[:16]}.json"


def _read(file: Path, disks: MonitoredDisks) -> DiskSamples:
    from pageengine.disk.samples import parse_samples

    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            text = stream.read(LARGEST_STATE)
    except FileNotFoundError:
        text = ""
    return parse_samples(text, disks.place, str(file))


def _sample(
    stores: Iterable[FileStoreState], disks: MonitoredDisks, before: DiskSamples, addresses: bool
) -> DiskSample:
    from pageengine.disk.samples import DiskSample, largest

    used = {one.file_system.mount: (one.space.total - one.space.usable, one.space.total) for one in stores}
    sizes = _sizes(disks.directories.get("paging")) if addresses else {}
    return DiskSample(time.time(), used, largest(sizes.items(), before.names()))


def _sizes(paging: Path | None) -> dict[str, int]:
    """Bytes by address: pages, and what lies beside them."""
    from pagefmt.directory.usage import DirectoryUsage, count_stores

    usage = DirectoryUsage()
    if paging is not None:
        count_stores(paging, usage, lambda _count: None)
    sizes: dict[str, int] = {}
    for row in usage.addresses:
        name = row.address if row.address is not None else str(row.folder)
        sizes[name] = sizes.get(name, 0) + row.bytes
    return sizes
