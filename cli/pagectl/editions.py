"""``--edition`` for commands that read what a broker wrote."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from pagefmt.editions import EDITION_NAMES, Edition

EditionName = Enum("EditionName", {name: name for name in EDITION_NAMES}, type=str)  # type: ignore[misc]

EditionOption = Annotated[
    EditionName | None,
    typer.Option(
        "--edition", metavar="E", show_default=False,
        help=f"The broker that will read it: {EDITION_NAMES[0]} … {EDITION_NAMES[-1]} "
        "[default: the newest that reads this layout].",
    ),
]  # fmt: skip


def edition_of(name: EditionName | None) -> Edition | None:
    """The edition named on the command line; None: the newest that fits."""
    return None if name is None else Edition(name.value)
