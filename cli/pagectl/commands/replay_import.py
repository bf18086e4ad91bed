"""``pagectl replay import``: a trace out of a broker's logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.replay import TraceOutOption, refuse_overwriting, refuse_unknown_ending
from pagectl.options.shared import TextOrJsonOption
from pagectl.running.exits import Exit
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import print_json, warning

EXAMPLES = (("From the message audit log", "replay import audit.log --to friday.jsonl.zst"),)


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG…", help="Audit logs, or artemis.log with lines of the logging plugin.")
    ],
    to: TraceOutOption,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the trace [default: that of the first log].")
    ] = None,
    guess_sizes: Annotated[
        bool,
        typer.Option(
            "--guess-sizes",
            help="Give a message whose size is not logged the mean size of its address, if its address is logged.",
        ),
    ] = False,
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Make a trace from the message audit log or the lines of the logging plugin; report what they do not contain.

    Ends with status 1 if sends are left out of the trace because the log does not describe their messages.
    """
    from pagectl.outputs.trace_text import print_import
    from pagectl.reports.replay import ReplayImport
    from pageengine.log_import.importing import import_logs

    refuse_overwriting(to, *logs)
    refuse_unknown_ending(to)
    total = 2 * sum(log.stat().st_size for log in logs)
    with progress("reading logs", total) as bar:
        report = import_logs(logs, to, name=name, guess_sizes=guess_sizes, advance=bar.advance)
    for file in report.files:
        if file.cut:
            warning(
                f"{file.path}: the compressed stream is cut off after line {file.lines}; everything before it was read"
            )
    answer = ReplayImport.of(report, to)
    if format is TextOrJson.json:
        print_json(answer)
    else:
        print_import(answer)
    return Exit.FOUND if report.left_out else Exit.OK
