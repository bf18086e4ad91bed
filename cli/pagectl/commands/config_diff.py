"""``pagectl config diff``: what two configurations do differently, however they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.configuration import configuration_options
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
from pagectl.terminal.streams import print_json, say

EXAMPLES = (
    ("The effect of a change, rather than its lines", "config diff broker.xml new.xml"),
    ("For one address", "config diff broker.xml new.xml --address orders.eu"),
)


def command(
    first: Annotated[Path, typer.Argument(metavar="A", help="broker.xml, Kubernetes YAML, or an instance.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="What to compare it with, in any of the same forms.")],
    address: Annotated[
        list[str] | None, typer.Option("--address", metavar="ADDR", help="Only this address; repeatable.")
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
    from brokerconf.settings.comparison import compare

    from pagectl.opening.configuration import open_settings
    from pagectl.opening.starting import no_start, start_faults
    from pagectl.outputs.config_values import print_differences
    from pagectl.reports.config_diff import ConfigDiff

    options = configuration_options(
        edition, heap=heap, cwd=cwd, define=define, profile=profile, server=server, journal=journal
    )
    opened_a, a = open_settings(first, options, anyway=None)
    opened_b, b = open_settings(second, options, anyway=None)
    faults_a, faults_b = start_faults(opened_a), start_faults(opened_b)
    differences = compare(a, b, address or ())
    if format is TextOrJson.json:
        print_json(ConfigDiff.of(differences, faults_a, faults_b))
    else:
        for side, opened, faults in (("A", opened_a, faults_a), ("B", opened_b, faults_b)):
            if faults:
                say(f"{side}: {no_start(opened, faults)}", 2)
                print()
        print_differences(differences)
    return Exit.FOUND if differences.exist or faults_a or faults_b else Exit.OK
