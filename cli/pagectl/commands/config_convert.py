"""``pagectl config convert``: a broker.xml as properties, and properties as JSON, YAML or a broker.xml."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pagectl.options.configuration import configuration_options
from pagectl.options.formats import ConvertTo
from pagectl.options.shared import (
    AnywayOption,
    ConfigArgument,
    CwdOption,
    DefineOption,
    EditionOption,
    ProfileOption,
    ServerOption,
)
from pagectl.running.exits import Exit, report
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note

EXAMPLES = (
    ("Convert a file to brokerProperties for an operator", "config convert broker.xml --to properties"),
    ("As YAML", "config convert broker.xml --to yaml"),
)


def command(
    file: ConfigArgument,
    to: Annotated[ConvertTo, typer.Option("--to", help="Form of the result.")],
    edition: EditionOption = None,
    cwd: CwdOption = None,
    define: DefineOption = None,
    profile: ProfileOption = None,
    server: ServerOption = None,
    anyway: AnywayOption = False,
) -> int:
    """Write a configuration in another form, with the same effect, to standard output.

    What has no counterpart in that form is listed on standard error, and the status is 1. Secrets are written in full.
    """
    from pagectl.opening.configuration import open_configuration
    from pagectl.opening.conversion import converted
    from pagectl.opening.starting import require_start

    options = configuration_options(edition, cwd=cwd, define=define, profile=profile, server=server)
    opened = open_configuration(file, options._replace(names_environment=True), fragments=True)
    require_start(opened, anyway=anyway)
    if options.edition is None:
        note(f"{opened.start.config}: {opened.edition.value} ({opened.sources['edition']})")
    text, left = converted(file, opened, to)
    sys.stdout.write(text)
    sys.stdout.flush()
    for element in left:
        report(f"{one_line(element[:200])}: has no counterpart in {to.value}; not converted")
    return Exit.FOUND if left else Exit.OK
