"""Options of ``messages send``: whereto, as whom, and what the broker there is like."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.groups import OptionGroup
from pagectl.options.shared import CredentialsOption


def _file(name: str, text: str) -> object:
    return typer.Option(name, metavar="FILE", parser=Path, help=text)


@dataclass(frozen=True)
class PeerOptions(OptionGroup):
    """How the other broker is reached."""

    credentials: CredentialsOption = None
    ca: Annotated[Path | None, _file("--ca", "Authorities whose certificates are trusted [default: the system's].")] = (
        None
    )
    cert: Annotated[Path | None, _file("--cert", "Certificate to show to the broker (PEM; SASL EXTERNAL).")] = None
    key: Annotated[Path | None, _file("--key", "Its key, where that is in a file of its own.")] = None


@dataclass(frozen=True)
class PaceOptions(OptionGroup):
    """How it goes on, and how fast."""

    checkpoint: Annotated[
        Path | None,
        _file("--checkpoint", "Keep in FILE how far it went; the same call goes on from there, each message once."),
    ] = None
    duplicates: Annotated[
        int | None,
        typer.Option(
            "--id-cache-size",
            metavar="N",
            min=0,
            help="Duplicate ids that the broker remembers of an address [default: as it says; 20000 if it may not].",
        ),
    ] = None
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="N", min=0.001, help="At most so many messages a second.")
    ] = None
