"""``pagectl config effective``: the settings the broker would use, and which line each came from."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    text = "text"
    json = "json"


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="broker.xml or an instance.")],
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="ADDRESS…", help="In the order in which the broker looks them up.")
    ] = None,
    edition: Annotated[str, typer.Option(metavar="E", help="auto, or hornetq-2.4, … artemis-2.56.")] = "auto",
    format: Annotated[Format, typer.Option(help="text or json.")] = Format.text,
    every: Annotated[bool, typer.Option("--all", help="Defaults as well, in text.")] = False,
    heap: Annotated[
        str | None, typer.Option(metavar="SIZE", help="-Xmx of the broker: what global-max-size defaults to.")
    ] = None,
    cwd: Annotated[Path | None, typer.Option(metavar="DIR", help="The broker's working directory.")] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME=VALUE", help="System property the broker is started with.")
    ] = None,
) -> int:
    """The settings in force for each address after all matches are merged, and for the broker."""
    from brokerconf.effective import as_json
    from brokerconf.settings_model import Scope

    from pagectl.config_settings import Asked, open_settings
    from pagectl.outputs.config_values import rows
    from pagectl.sanitise import one_line
    from pagectl.streams import print_json, print_table

    settings = open_settings(file, Asked(edition, cwd, tuple(define or ()), heap))
    names = addresses or []
    if format is Format.json:
        print_json(as_json(settings, names))
        return 0
    columns = ("setting", "value", "from")
    for name in names:
        matches = ", ".join(repr(found.match.written) for found in settings.matches(name)) or "none"
        print(f"{one_line(name)} (matches, the most specific first: {one_line(matches)})")
        print_table(columns, rows(settings.address(name), Scope.ADDRESS, every=every))
        print()
    print("broker")
    print_table(columns, rows(settings.broker(), Scope.BROKER, every=every))
    return 0
