"""The options of ``messages top``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.durations import bounded_seconds
from pagectl.options.groups import OptionGroup

DirsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DIR…",
        parser=Path,
        help="Broker instances, data or paging directories, store folders [default: $ARTEMIS_INSTANCE].",
    ),
]


class TopOptions(OptionGroup):
    """How often the queues are looked at."""

    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            metavar="SECONDS",
            min=0.2,
            callback=bounded_seconds,
            help="Read twice, this far apart, to show growth; with --watch, read at this interval [default: 5 "
            "with --watch].",
            show_default=False,
        ),
    ] = None
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Keep the terminal up to date; keys sort (a, h, w, o, g), Enter opens the pages of a queue."
        ),
    ] = False
