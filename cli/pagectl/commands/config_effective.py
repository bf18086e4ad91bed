"""``pagectl config effective``: the settings the broker would use, and which line each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import ConfigFileOptions
from pagectl.options.shared import AnywayOption, ConfigArgument, JournalTypeOption, TextOrJsonOption

if TYPE_CHECKING:
    from brokerconf.settings.address_settings import Values
    from brokerconf.settings.settings_model import Scope


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
) -> int:
    """Show the settings in force for each address, all matches merged, and for the broker."""
    from brokerconf.evidence.without_effect import without_effect
    from brokerconf.settings.effective import as_json
    from brokerconf.settings.settings_model import Scope

    from pagectl.opening.configuration import open_settings
    from pagectl.outputs.config_values import rows
    from pagectl.terminal.sanitise import one_line
    from pagectl.terminal.streams import print_json, print_table, say

    opened, settings = open_settings(file, options.reading(journal=journal), anyway=anyway)
    if every or format is TextOrJson.json:
        opened.note_journal(settings)
    names = addresses or []
    declared = opened.declared(settings)
    if format is TextOrJson.json:
        found = as_json(settings, names, lambda name: without_effect(settings, declared, name))
        print_json(found)
        return 0
    columns = ("setting", "value", "from")

    def show(values: Values, scope: Scope) -> None:
        found = list(rows(values, scope, every=every))
        if found:
            print_table(columns, found, prose=True)
        else:
            print("nothing is set; --all shows the defaults")

    for name in names:
        idle = without_effect(settings, declared, name)
        matches = ", ".join(repr(found.text) for found in settings.matches(name)) or "none"
        print(f"{one_line(name)} (matches, the most specific first: {one_line(matches)})")
        values = settings.address(name)
        show({each: value for each, value in values.items() if each not in idle}, Scope.ADDRESS)
        for reason in dict.fromkeys(idle.values()):
            mine = [each for each in idle if idle[each] == reason and (every or values[each].origin is not None)]
            if mine:
                say(f"no effect: {', '.join(mine)}: {one_line(reason)}", 2)
        print()
    print("broker")
    show(settings.broker(), Scope.BROKER)
    return 0
