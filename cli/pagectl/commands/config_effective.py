"""``pagectl config effective``: the settings the broker would use, and which line each came from."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import ConfigFileOptions
from pagectl.options.shared import AnywayOption, ConfigArgument, JournalTypeOption, TextOrJsonOption
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("The settings in force for one address, and the lines they come from", "config effective broker.xml orders.eu"),
    ("The whole broker, with defaults", "config effective /var/lib/broker --all"),
)


def command(
    file: ConfigArgument,
    addresses: Annotated[
        list[str] | None,
        typer.Argument(metavar="ADDRESS…", help="Addresses, in the order in which the broker looks them up."),
    ] = None,
    format: TextOrJsonOption = TextOrJson.text,
    every: Annotated[bool, typer.Option("--all", help="Show defaults in text as well.")] = False,
    options: ConfigFileOptions = ConfigFileOptions(),
    anyway: AnywayOption = False,
    journal: JournalTypeOption = None,
) -> None:
    """Show the settings in force for each address, all matches merged, and for the broker."""
    from pagectl.opening.configuration import open_settings

    opened, settings = open_settings(file, options.reading(journal=journal), anyway=anyway)
    if every or format is TextOrJson.json:
        opened.note_journal(settings)
    names, declared = addresses or [], opened.declared(settings)
    if format is TextOrJson.json:
        from pagectl.reports.config_effective import ConfigEffective

        print_json(ConfigEffective.of(settings, declared, names))
    else:
        from pagectl.outputs.config_values import print_effective

        print_effective(settings, declared, names, every=every)
