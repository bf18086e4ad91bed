"""``messages import-plan``: what a file for ``artemis data imp`` would bring into a broker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.shared import EditionOption, TextOrJsonOption, edition_of
from pagectl.outputs.import_text import show_import
from pagectl.reports.import_plan import FileImport
from pagectl.running.exits import Exit
from pagectl.terminal.streams import print_json

EXAMPLES = (("Check a file before it is imported", "messages import-plan messages.xml"),)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="XML of 'artemis data exp' or 'messages xml'.")],
    edition: EditionOption = None,
    form: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Show what 'artemis data imp' would do with a file: messages by queue, and what it would lose or stop at.

    Assumes the importer of the newest edition and a new broker, unless --edition names another. Nothing is imported.

    Ends with status 1 if something would be lost or the import would stop.
    """
    from pagectl.opening.assumed_edition import note_edition
    from pagefmt.editions import NEWEST
    from pagefmt.exchange.xml_reading import import_plan

    plan = import_plan(file, edition_of(edition) or NEWEST)
    if form is TextOrJson.json:
        print_json(FileImport.of(file, plan))
    else:
        note_edition(edition, None)
        show_import(plan)
    return Exit.FOUND if plan.faults or plan.duplicates else Exit.OK
