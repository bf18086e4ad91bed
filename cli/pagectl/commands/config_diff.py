"""``pagectl config diff``: what two configurations do differently, however they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.shared import (
    CwdOption,
    DefineOption,
    EditionOption,
    HeapOption,
    JournalTypeOption,
    ProfileOption,
    ServerOption,
    TextOrJsonOption,
)
from pagectl.running.exits import Exit

if TYPE_CHECKING:
    from brokerconf.settings.comparison import SettingDifference
    from brokerconf.settings.settings_model import Scope


EXAMPLES = (
    ("The effect of a change, rather than its lines", "config diff broker.xml new.xml"),
    ("For one address", "config diff broker.xml new.xml --address orders.eu"),
)


def command(
    one: Annotated[Path, typer.Argument(metavar="A", help="broker.xml, Kubernetes YAML, or an instance.")],
    other: Annotated[Path, typer.Argument(metavar="B", help="What to compare it with, in any of the same forms.")],
    address: Annotated[
        list[str] | None,
        typer.Option("--address", metavar="ADDR", help="Only this address; repeatable."),
    ] = None,
    format: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    heap: HeapOption = None,
    cwd: CwdOption = None,
    define: DefineOption = None,
    profile: ProfileOption = None,
    server: ServerOption = None,
    journal: JournalTypeOption = None,
) -> int:
    """Compare the settings in force: those of the broker, and those of each address match in either file.

    A side with which no broker starts is reported first, and counts as a difference.
    """
    from brokerconf.settings.comparison import addresses_to_compare, differences
    from brokerconf.settings.settings_model import Scope

    from pagectl.opening.configuration import open_settings
    from pagectl.opening.starting import no_start, start_faults
    from pagectl.options.configuration import configuration_options
    from pagectl.outputs.lint_json import finding_json
    from pagectl.terminal.streams import print_json, say

    asked = configuration_options(
        edition, heap=heap, cwd=cwd, define=define, profile=profile, server=server, journal=journal
    )
    opened_a, a = open_settings(one, asked, anyway=None)
    opened_b, b = open_settings(other, asked, anyway=None)
    opened = {"A": opened_a, "B": opened_b}
    stopping = {side: start_faults(each) for side, each in opened.items()}
    names = address or addresses_to_compare(a, b)
    # the broker's own settings say nothing about one address
    of_broker = [] if address else differences(a.broker(), b.broker())
    found = {name: differences(a.address(name), b.address(name)) for name in names}
    found = {name: each for name, each in found.items() if each}
    if format is TextOrJson.json:
        shown = {name: [each.as_json() for each in all_of] for name, all_of in found.items()}
        print_json({
            "broker": [each.as_json() for each in of_broker],
            "addresses": shown,
            "stops_start": {side.lower(): list(map(finding_json, faults)) for side, faults in stopping.items()},
        })  # fmt: skip
    else:
        for side, faults in stopping.items():
            if faults:
                say(f"{side}: {no_start(opened[side], faults)}", 2)
                print()
        _print("broker", of_broker, Scope.BROKER)
        for name, all_of in found.items():
            _print(name, all_of, Scope.ADDRESS)
        if not of_broker and not found:
            print("no difference in effect")
    return Exit.FOUND if of_broker or found or any(stopping.values()) else Exit.OK


def _print(title: str, found: list[SettingDifference], scope: Scope) -> None:
    from brokerconf.settings.settings_model import in_scope

    from pagectl.outputs.config_values import side_text
    from pagectl.terminal.sanitise import one_line
    from pagectl.terminal.streams import print_table

    if not found:
        return
    known = in_scope(scope)
    print(one_line(title))
    rows = (
        (each.setting, *(side_text(side, each.setting, known.get(each.setting)) for side in (each.one, each.other)))
        for each in found
    )
    print_table(("setting", "A", "B"), rows, prose=True)
    print()
