"""Options that the ``disk`` commands share, and what their texts mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from pagectl.disk_target import Limits
from pagefmt.editions import EDITION_NAMES, Edition

T = TypeVar("T")

MaxDiskUsage = Annotated[
    str | None, typer.Option("--max-disk-usage", metavar="PCT", help="As in broker.xml, instead of what it says.")
]
MinDiskFree = Annotated[
    str | None, typer.Option("--min-disk-free", metavar="SIZE", help="As in broker.xml; wins over --max-disk-usage.")
]
BrokerXml = Annotated[
    Path | None, typer.Option("--broker-xml", metavar="FILE", help="The configuration, where it lies elsewhere.")
]
EditionName = Annotated[
    str | None,
    typer.Option("--edition", metavar="EDITION", help=f"Release: {', '.join(EDITION_NAMES)}. [as found, else newest]"),
]


def parsed(parse: Callable[[str], T], text: str | None, option: str) -> T | None:
    """The option's value; a text that does not parse is a usage error."""
    try:
        return None if text is None else parse(text)
    except ValueError as err:
        raise typer.BadParameter(f"{option}: {err}") from err


def limits_of(max_disk_usage: str | None, min_disk_free: str | None) -> Limits:
    """Limits as the broker would take them; what it refuses is a usage error."""
    limits = Limits(
        parsed(_percent, max_disk_usage, "--max-disk-usage"), parsed(_size, min_disk_free, "--min-disk-free")
    )
    refused = limits.settings().refusal()
    if refused:
        raise typer.BadParameter(refused)
    return limits


def _percent(text: str) -> int:
    return int(text.strip().removesuffix("%"))


def _size(text: str) -> int:
    from brokerconf.sizes import SizeError, parse_size

    try:
        return parse_size(text).value
    except SizeError as err:
        raise ValueError(str(err)) from err


def the_edition(name: str | None) -> Edition | None:
    """None and ``auto``: as found."""
    if name in (None, "auto"):
        return None
    if name not in EDITION_NAMES:
        raise typer.BadParameter(f"--edition {name}: none of {', '.join(EDITION_NAMES)}")
    return Edition(name)
