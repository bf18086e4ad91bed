"""Options of ``messages send``: whereto, as whom, and what the broker there is like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.durations import real_number
from pagectl.options.groups import OptionGroup
from pagectl.options.shared import CredentialsOption


def _file(name: str, text: str) -> object:
    return typer.Option(name, metavar="FILE", parser=Path, help=text)


class PeerOptions(OptionGroup):
    """How the other broker is reached."""

    credentials: CredentialsOption = None
    ca: Annotated[Path | None, _file("--ca", "Certificate authorities to trust [default: the system's].")] = None
    cert: Annotated[Path | None, _file("--cert", "Client certificate (PEM; SASL EXTERNAL).")] = None
    key: Annotated[Path | None, _file("--key", "Its key, if that is in a separate file.")] = None


class PaceOptions(OptionGroup):
    """How it goes on, and how fast."""

    checkpoint: Annotated[
        Path | None,
        _file(
            "--checkpoint",
            "Record progress in FILE; the same command run again continues from there, each message once.",
        ),
    ] = None
    duplicates: Annotated[
        int | None,
        typer.Option(
            "--id-cache-size",
            metavar="N",
            min=0,
            help="Number of duplicate ids that the broker keeps per address [default: the broker's own; 20000 if it "
            "does not say]. 0 accepts that messages arrive twice if the connection is lost.",
        ),
    ] = None
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", metavar="N", min=0.001, callback=real_number, help="Send at most this many messages per second."
        ),
    ] = None
