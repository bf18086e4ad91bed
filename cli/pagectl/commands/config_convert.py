"""``pagectl config convert``: a broker.xml as properties, and properties as JSON, YAML or a broker.xml."""

from __future__ import annotations

import sys
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from pagectl.options.shared import (
    AnywayOption,
    ConfigArgument,
    CwdOption,
    DefineOption,
    EditionOption,
    ProfileOption,
    ServerOption,
)
from pagectl.running.exits import CallError, Exit, report


class ConvertTo(StrEnum):
    """Forms of a configuration."""

    xml = "xml"
    properties = "properties"
    json = "json"
    yaml = "yaml"


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
    from brokerconf.properties.application import REMOVE, apply_all
    from brokerconf.properties.writing import as_json, as_properties, as_yaml
    from brokerconf.reading.properties import SUFFIXES
    from brokerconf.settings.conversion import as_entries, as_xml

    from pagectl.opening.configuration import open_configuration
    from pagectl.opening.starting import require_start
    from pagectl.options.configuration import configuration_options
    from pagectl.terminal.sanitise import one_line
    from pagectl.terminal.streams import note

    options = configuration_options(edition, cwd=cwd, define=define, profile=profile, server=server)
    opened = open_configuration(file, replace(options, names_environment=True), fragments=True)
    require_start(opened, anyway=anyway)
    if options.edition is None:
        note(f"{opened.start.config}: {opened.edition.value} ({opened.sources['edition']})")
    document = opened.document
    outcomes = apply_all(opened.entries, document.edition, document.core)
    if opened.start.config.suffix in SUFFIXES and document.secret is None:
        pairs: list[tuple[tuple[str, ...], str]] = []
        text, left = as_xml(outcomes, document.edition) if to is ConvertTo.xml else ("", [])
    elif to is ConvertTo.xml:
        raise CallError(f"{file}: --to xml works with properties, JSON and YAML only")
    else:
        pairs, left = as_entries(document)
    # what stands beside a broker.xml comes after it, as the broker takes it
    pairs += [(one.path, one.entry.value) for one in outcomes]
    left += [f"{one.position}: {one.key}" for one in opened.entries if one.key == REMOVE and to is not ConvertTo.xml]
    if to is ConvertTo.properties:
        text = as_properties(pairs)
    elif to is not ConvertTo.xml:
        text, more = (as_json if to is ConvertTo.json else as_yaml)(pairs)
        left += more
    sys.stdout.write(text)
    sys.stdout.flush()
    for one in left:
        report(f"{one_line(one[:200])}: has no counterpart in {to.value}; not converted")
    return Exit.FOUND if left else Exit.OK
