"""Options that the ``disk`` commands share, and what their texts mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeVar

import typer

from pagectl.options.configuration import ConfigurationOptions
from pagectl.options.disk_thresholds import Threshold, Thresholds
from pagectl.options.durations import bounded_seconds, parse_duration
from pagectl.options.formats import CheckFormat
from pagectl.options.groups import BrokerOptions, OptionGroup
from pagectl.options.shared import FORMAT_HELP, EditionOption
from pagectl.running.exits import CallError
from pagectl.terminal.nagios import Range
from pageengine.disk.monitor import DiskSettings

T = TypeVar("T")

MaxDiskUsage = Annotated[
    str | None, typer.Option("--max-disk-usage", metavar="PCT", help="Limit to use instead of the one in broker.xml.")
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
    typer.Option("--every", metavar="SECONDS", min=0.2, callback=bounded_seconds, help="Time between measurements."),
]
AnyPathOption = Annotated[
    bool, typer.Option("--any-path", help="Accept a path that is no broker's, and look at its file system.")
]
BROKER_HELP = "Value of the label broker in metrics [default: the name of the instance's folder]."
BrokerNameOption = Annotated[str | None, typer.Option("--broker", metavar="NAME", help=BROKER_HELP)]
BrokerNamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--broker",
        metavar="NAME",
        help="Value of the label broker in metrics; repeatable, once for each DIR [default: the name of the "
        "instance's folder].",
    ),
]
ListenOption = Annotated[
    str,
    typer.Option(
        "--listen", metavar="HOST:PORT", help="Address and port to listen on; 0.0.0.0 is every address of this host."
    ),
]
TextfileOption = Annotated[
    Path | None,
    typer.Option(
        "--textfile",
        metavar="FILE",
        parser=Path,
        help="Also write Prometheus metrics to FILE, for the textfile collector of a node exporter; each broker "
        "needs its own.",
    ),
]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing if the status is OK.")]
VerboseOption = Annotated[
    bool, typer.Option("-v", "--verbose", help="Print more lines: every file system and the reasons.")
]
PLUGIN_FORMAT_HELP = f"{FORMAT_HELP} text is nagios with --verbose."
CheckFormatOption = Annotated[CheckFormat, typer.Option("--format", help=PLUGIN_FORMAT_HELP)]


_FOLDERS_OF_INSTANCES: Final = frozenset({"data", "etc", "config", "configuration", "standalone"})
_FOLDERS_OF_APPLICATION_SERVERS: Final = frozenset({("data", "activemq"), ("data", "hornetq"), ("data", "messaging")})


class DiskOptions(BrokerOptions):
    """What says which disks are looked at, and by which limits, beside the path."""

    edition: EditionOption = None
    max_disk_usage: MaxDiskUsage = None
    min_disk_free: MinDiskFree = None
    any_path: AnyPathOption = False


class DiskQuery(NamedTuple):
    """What a ``disk`` command is asked about; ``limits`` of options replace those of a configuration.

    With ``any_path``, a path that is no broker's is accepted. ``anyway``: as ``require_start``; None: a configuration
    with which no broker starts is only noted. ``name``: what the option ``--broker`` calls the broker.
    """

    path: Path | None
    broker_xml: Path | None
    limits: DiskSettings | None
    options: ConfigurationOptions
    any_path: bool = False
    anyway: bool | None = None
    name: str | None = None

    @property
    def subject(self) -> object:
        """Return what the operator named, for messages."""
        return self.path or self.broker_xml or "the instance"

    @property
    def broker(self) -> str:
        """Return the value of the label ``broker`` of all samples."""
        return self.name or broker_name(self.path or self.broker_xml)


def broker_name(path: Path | None) -> str:
    """Return the name of the instance's folder, for any directory or file of the instance.

    Without a path, ``ARTEMIS_INSTANCE`` is used. Only the names in the path are examined, because the file system may
    not respond. A data directory that belongs to no instance has the name of its folder.
    """
    located = path or Path(os.environ.get("ARTEMIS_INSTANCE", ""))
    try:
        names = Path(os.path.normpath(located.absolute())).parts[1:]
    except OSError:  # the working directory is gone
        return str(located)
    while len(names) > 1 and _is_inside(names[-2], names[-1]):
        names = names[:-1]
    return names[-1] if names else str(located)


def _is_inside(parent: str, name: str) -> bool:
    """Return whether a file or folder lies inside a broker instance, by its name and that of its parent folder."""
    from pagefmt.directory.locate import LAYOUT, PAGING_NAMES

    return (
        any(name in folders for folders in LAYOUT.values())
        or parent in PAGING_NAMES
        or name in _FOLDERS_OF_INSTANCES
        or (parent, name) in _FOLDERS_OF_APPLICATION_SERVERS
        or name.endswith((".xml", ".page"))
    )


def disk_query(
    path: Path | None, options: DiskOptions, anyway: bool | None = None, name: str | None = None
) -> DiskQuery:
    """Return the options of a call, understood; what the broker refuses is a usage error."""
    limits = _limits(options.max_disk_usage, options.min_disk_free)
    return DiskQuery(path, options.broker_xml, limits, options.reading(options.edition), options.any_path, anyway, name)


def parsed(parse: Callable[[str], T], text: str | None, option: str) -> T | None:
    """Return the parsed value of an option, None if it is not given. Raise a usage error if it does not parse."""
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


class ThresholdOptions(OptionGroup):
    """When ``disk check`` warns, and when it is critical, before the broker's own limit."""

    warning: Annotated[
        str | None,
        typer.Option(
            "-w",
            "--warning",
            metavar="RANGE",
            help="Warning threshold: usage in percent (80) or bytes left (10G:) [default: a tenth of what the "
            "broker may use].",
        ),
    ] = None
    critical: Annotated[
        str | None,
        typer.Option(
            "-c",
            "--critical",
            metavar="RANGE",
            help="Critical threshold of usage or bytes left, before the broker's own limit.",
        ),
    ] = None
    inodes_warning: Annotated[
        str | None,
        typer.Option("-W", "--inodes-warning", metavar="RANGE", help="Warning threshold: inodes used, in percent."),
    ] = None
    inodes_critical: Annotated[
        str | None,
        typer.Option("-K", "--inodes-critical", metavar="RANGE", help="Critical threshold: inodes used, in percent."),
    ] = None

    def thresholds(self) -> Thresholds:
        """Return the ranges; raises ``typer.BadParameter`` for one that is none."""
        return Thresholds(
            parsed(Threshold.parse, self.warning, "-w"),
            parsed(Threshold.parse, self.critical, "-c"),
            parsed(Range.parse, self.inodes_warning, "-W"),
            parsed(Range.parse, self.inodes_critical, "-K"),
        )


class ForecastOptions(OptionGroup):
    """Where ``disk forecast`` keeps its samples, and when it raises an alarm."""

    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            help="File with the samples of earlier runs [default: below $STATE_DIRECTORY or $XDG_STATE_HOME].",
        ),
    ] = None
    warn_within: Annotated[
        str | None,
        typer.Option(
            "--warn-within", metavar="TIME", help="Warn if the broker will block within this time, such as 6h."
        ),
    ] = None
    critical_within: Annotated[
        str | None,
        typer.Option("--critical-within", metavar="TIME", help="Critical if it will block within this time."),
    ] = None

    def limits(self) -> tuple[float | None, float | None]:
        """Return the seconds to warn within and to be critical within; raises ``typer.BadParameter``."""
        return (
            parsed(parse_duration, self.warn_within, "--warn-within"),
            parsed(parse_duration, self.critical_within, "--critical-within"),
        )


def disk_queries(places: Sequence[Path | None], options: DiskOptions, names: Sequence[str]) -> list[DiskQuery]:
    """Return a query for each place; raises ``CallError`` if there are names, but not one for each."""
    if names and len(names) != len(places):
        raise CallError(
            f"--broker names {len(names)} of {len(places)} brokers; give it once for each DIR, in their order"
        )
    return [disk_query(place, options, name=name) for place, name in zip_longest(places, names)]


def listen_address(text: str) -> tuple[str, int]:
    """Return host and port of ``--listen``; raises ``CallError``."""
    parts = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]\s]*)):([0-9]{1,5})", text)
    if parts is None or int(parts[3]) > 65535:
        raise CallError(f"--listen {text}: write HOST:PORT, such as 127.0.0.1:9872 or [::1]:9872")
    return parts[1] or parts[2], int(parts[3])
