"""Options of ``config lint``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.formats import LintFormat
from pagectl.options.groups import OptionGroup
from pagectl.options.shared import FORMAT_HELP
from pagefmt.findings import FailOn

LintFilesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE…",
        help="broker.xml, hornetq-configuration.xml, standalone.xml; broker.properties, JSON, YAML; "
        "Kubernetes YAML; '-'; an instance; a folder of configurations [default: $ARTEMIS_INSTANCE].",
    ),
]
LintFormatOption = Annotated[
    LintFormat | None, typer.Option("--format", help=f"{FORMAT_HELP} [default: text; github inside a GitHub workflow]")
]
FailOnOption = Annotated[
    FailOn | None, typer.Option("--fail-on", help="Lowest severity for which the exit status is 1 [default: error].")
]
ShowFilesOption = Annotated[
    bool, typer.Option("--show-files", help="List which files of a folder are linted or skipped, and why.")
]


class SchemaOptions(OptionGroup):
    """What a configuration is validated against."""

    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="XSD", help="Validate against this schema instead.")
    ] = None
    artemis_home: Annotated[
        Path | None,
        typer.Option("--artemis-home", metavar="DIR", help="Validate against the schema inside this installed broker."),
    ] = None


class RuleOptions(OptionGroup):
    """Which rules are checked."""

    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="RULE", help="Skip these rules; comma-separated.")
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="RULE", help="Check only these rules, comma-separated, and that files can be read."
        ),
    ] = None


class BaselineOptions(OptionGroup):
    """The file of findings that are known."""

    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", parser=Path, help="Leave out the known findings listed in FILE."),
    ] = None
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write all findings to the --baseline file as known ones.")
    ] = False


class RepairOptions(OptionGroup):
    """Whether repairs that are certain are applied, or shown."""

    fix: Annotated[
        bool, typer.Option("--fix", help="Apply the repairs that are certain to the named files, then report the rest.")
    ] = False
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change as a diff; change nothing.")] = (
        False
    )
