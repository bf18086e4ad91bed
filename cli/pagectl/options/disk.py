"""Options that the ``disk`` commands share, and what their texts mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import typer

from pagectl.options.configuration import ConfigurationOptions
from pagectl.options.durations import bounded_seconds
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import FORMAT_HELP, EditionOption
from pageengine.disk.monitor import DiskSettings

T = TypeVar("T")

MaxDiskUsage = Annotated[
    str | None,
    typer.Option("--max-disk-usage", metavar="PCT", help="Limit to use instead of the one in broker.xml."),
]
MinDiskFree = Annotated[
    str | None,
    typer.Option(
        "--min-disk-free",
        metavar="SIZE",
        help="Limit to use instead of the one in broker.xml; takes precedence over --max-disk-usage.",
    ),
]
TimeoutOption = Annotated[
    float,
    typer.Option(
        "-t", "--timeout", metavar="SECONDS", min=0.1, callback=bounded_seconds, help="Report UNKNOWN after this time."
    ),
]
IntervalOption = Annotated[
    float,
    typer.Option("--interval", metavar="SECONDS", min=0.2, callback=bounded_seconds, help="Time between measurements."),
]
AnyPathOption = Annotated[
    bool,
    typer.Option("--any-path", help="Accept a path that is no broker's, and look at its file system."),
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing if the status is OK.")]
VerboseOption = Annotated[
    bool, typer.Option("-v", "--verbose", help="Print more lines: every file system and the reasons.")
]
PLUGIN_FORMAT_HELP = f"{FORMAT_HELP} text is nagios with --verbose."


@dataclass(frozen=True)
class DiskOptions(BrokerOptions):
    """What says which disks are looked at, and by which limits, beside the path."""

    edition: EditionOption = None
    max_disk_usage: MaxDiskUsage = None
    min_disk_free: MinDiskFree = None
    any_path: AnyPathOption = False


class DiskQuery(NamedTuple):
    """What a ``disk`` command is asked about; ``limits`` of options replace those of a configuration.

    With ``any_path``, a path that is no broker's is accepted. ``anyway``: as ``require_start``; None: a configuration
    with which no broker starts is only noted.
    """

    path: Path | None
    broker_xml: Path | None
    limits: DiskSettings | None
    options: ConfigurationOptions
    any_path: bool = False
    anyway: bool | None = None

    @property
    def subject(self) -> object:
        """What the operator named, for messages."""
        return self.path or self.broker_xml or "the instance"


def disk_query(path: Path | None, options: DiskOptions, anyway: bool | None = None) -> DiskQuery:
    """Return the options of a call, understood; what the broker refuses is a usage error."""
    limits = _limits(options.max_disk_usage, options.min_disk_free)
    return DiskQuery(path, options.broker_xml, limits, options.reading(options.edition), options.any_path, anyway)


def parsed(parse: Callable[[str], T], text: str | None, option: str) -> T | None:
    """The option's value; a text that does not parse is a usage error."""
    try:
        return None if text is None else parse(text)
    except ValueError as err:
        raise typer.BadParameter(f"{option}: {err}") from err


def _limits(max_disk_usage: str | None, min_disk_free: str | None) -> DiskSettings | None:
    limits = DiskSettings(
        parsed(_percent, max_disk_usage, "--max-disk-usage"), parsed(_size, min_disk_free, "--min-disk-free")
    )
    refused = limits.refusal()
    if refused:
        raise typer.BadParameter(refused)
    return limits if limits != DiskSettings() else None


def _percent(text: str) -> int:
    return int(text.strip().removesuffix("%"))


def _size(text: str) -> int:
    from brokerconf.reading.sizes import SizeError, parse_size

    try:
        return parse_size(text).value
    except SizeError as err:
        raise ValueError(str(err)) from err
