"""``pagectl disk forecast``: when the broker will block, from samples of earlier runs; a monitoring plugin."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
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
from pagectl.options.durations import parse_duration
from pagectl.options.shared import BrokerXmlOption, EditionOption, PlaceArgument, PropertiesOption
from pagectl.running.deadline import Answer, TimedOut, within
from pagectl.running.exits import describe
from pagectl.terminal.nagios import Status, line

if TYPE_CHECKING:
    from pagectl.opening.monitored_disks import MonitoredDisks
    from pagectl.outputs.forecast_report import Forecast
    from pageengine.disk.samples import DiskSample, DiskSamples
    from pageengine.disk.state import FileStoreState

LARGEST_STATE = 16 << 20


class ForecastFormat(StrEnum):
    """Formats of ``disk forecast``."""

    nagios = "nagios"
    text = "text"
    json = "json"


@dataclass(frozen=True, slots=True)
class _ForecastCall:
    path: Path | None
    broker_xml: Path | None
    limits: DiskLimits
    options: ConfigurationOptions
    state: Path | None
    warn: float | None
    critical: float | None
    addresses: bool
    format: ForecastFormat
    details: bool
    quiet: bool


def command(
    path: PlaceArgument = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            show_default=False,
            help="Samples of earlier runs [default: below $STATE_DIRECTORY or $XDG_STATE_HOME].",
        ),
    ] = None,
    warn_within: Annotated[
        str | None,
        typer.Option(
            "--warn-within", metavar="TIME", show_default=False, help="Warn when the broker blocks within, say, 6h."
        ),
    ] = None,
    critical_within: Annotated[
        str | None,
        typer.Option(
            "--critical-within", metavar="TIME", show_default=False, help="Critical when it is within this time."
        ),
    ] = None,
    max_disk_usage: MaxDiskUsage = None,
    min_disk_free: MinDiskFree = None,
    broker_xml: BrokerXmlOption = None,
    properties: PropertiesOption = None,
    edition: EditionOption = None,
    no_addresses: Annotated[
        bool, typer.Option("--no-addresses", help="Do not count the bytes of every address as well.")
    ] = False,
    timeout: TimeoutOption = 60.0,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    format: Annotated[ForecastFormat, typer.Option("--format", help=PLUGIN_FORMAT_HELP)] = ForecastFormat.nagios,
) -> int:
    """Take a sample, and say when the broker will block at the rate seen so far.

    Statuses of monitoring plugins: 0 OK (or still learning), 1 WARNING, 2 CRITICAL (it blocks already), 3 UNKNOWN.
    """
    call = _ForecastCall(
        path, broker_xml, limits_of(max_disk_usage, min_disk_free),
        configuration_options(edition, properties=properties), state,
        parsed(parse_duration, warn_within, "--warn-within"),
        parsed(parse_duration, critical_within, "--critical-within"),
        not no_addresses, format, verbose or format is ForecastFormat.text, quiet,
    )  # fmt: skip
    try:
        answer = within(timeout, lambda: _forecast(call))
    except TimedOut:
        answer = _unknown(call, f"{path or broker_xml or 'the instance'}: no answer within {timeout:g} s")
    except ChildProcessError as err:
        answer = _unknown(call, str(err))
    typer.echo(answer.err, nl=False, err=True)
    typer.echo(answer.out, nl=False)
    return answer.status


def _forecast(call: _ForecastCall) -> Answer:
    try:
        return _answer(call)
    except Exception as err:
        return _unknown(call, describe(err))


def _answer(call: _ForecastCall) -> Answer:
    from pagectl.opening.monitored_disks import monitored_disks
    from pagectl.outputs.forecast_report import Forecast
    from pagefmt.bytes.writing import write_text

    disks = monitored_disks(call.path, call.broker_xml, call.limits, call.options)
    state = disks.state()
    file = call.state or _default_state(disks)
    samples = _read(file, disks)
    samples = samples.added(_sample(state.stores, disks, samples, call.addresses))
    write_text(file, samples.as_text(), 0o600)
    forecast = Forecast.of(state, samples, call.warn, call.critical)
    if call.quiet and forecast.status is Status.OK:
        return Answer(Status.OK)
    return Answer(forecast.status, _shown(call, forecast, disks))


def _default_state(disks: MonitoredDisks) -> Path:
    """Below the folder that systemd gives a service, or the user's own folder for state."""
    from hashlib import sha256

    given = os.environ.get("STATE_DIRECTORY", "").split(":")[0] or os.environ.get("XDG_STATE_HOME")
    folder = (Path(given) if given else Path.home() / ".local" / "state") / "pagectl"
    folder.mkdir(parents=True, exist_ok=True)
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


def _shown(call: _ForecastCall, forecast: Forecast, disks: MonitoredDisks) -> str:
    from pagectl.outputs.forecast_report import as_json, nagios

    match call.format:
        case ForecastFormat.nagios | ForecastFormat.text:
            return nagios(forecast, details=call.details)
        case ForecastFormat.json:
            from pagectl.terminal.streams import json_text

            return json_text(as_json(forecast, disks.took_for), indent=2) + "\n"
        case _:
            assert_never(call.format)


def _unknown(call: _ForecastCall, why: str) -> Answer:
    told = line("DISK FORECAST", Status.UNKNOWN, why) + "\n"
    if call.format is not ForecastFormat.json:
        return Answer(Status.UNKNOWN, told)
    from pagectl.terminal.streams import json_text

    shown = {"status": "UNKNOWN", "exit_status": 3, "text": why}
    return Answer(Status.UNKNOWN, json_text(shown, indent=2) + "\n", told)
