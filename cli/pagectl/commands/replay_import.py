"""``pagectl replay import``: a trace out of a broker's logs, or out of its history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.history import HistoryPlaceOptions
from pagectl.options.replay import TraceOutOption, refuse_overwriting, refuse_unknown_ending
from pagectl.options.shared import TextOrJsonOption, typed_path
from pagectl.reports.replay import ReplayImport
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import print_json, warning

EXAMPLES = (
    ("From the message audit log", "replay import audit.log --to friday.jsonl.zst"),
    ("From the journal files that a broker retained", "replay import /var/lib/broker --to week.jsonl.zst"),
)


def command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG…|DIR",
            parser=typed_path,
            help="Audit logs, or artemis.log with lines of the logging plugin; or a broker's directory, its retention "
            "folder, its journal, or an archive of these.",
        ),
    ],
    to: TraceOutOption,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the trace [default: that of the first log, or of DIR]."),
    ] = None,
    guess_sizes: Annotated[
        bool,
        typer.Option(
            "--guess-sizes",
            help="Give a message whose size is not logged the mean size of its address, if its address is logged.",
        ),
    ] = False,
    past: HistoryPlaceOptions = HistoryPlaceOptions(),
    format: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Make a trace from logs, or from the journal files that a broker retained; report what these do not say.

    Logs are the message audit log or the lines of the logging plugin. A history has every durable message with its
    size, properties and transaction, and the acknowledgements in their order; without a retention folder the trace has
    only what the journal and the pages still hold. Ends with status 1 if sends are left out of the trace because their
    messages are not described, or a file of the history is damaged.
    """
    from pagectl.opening.imported_history import imported_history, is_history
    from pagectl.outputs.trace_text import print_import

    refuse_overwriting(to, *paths)
    refuse_unknown_ending(to)
    if any(map(is_history, paths)):
        if len(paths) > 1:
            raise CallError("a history is imported by itself: give one DIR, or logs only")
        if guess_sizes:
            raise CallError("--guess-sizes is for logs: a journal has the size of each message")
        imported = imported_history(paths[0], to, name, broker, past)
        answer = ReplayImport.of_history(imported.report, imported.opened.history.records, to)
        damaged = imported.opened.damaged
    else:
        past.refuse()
        answer, damaged = _of_logs(paths, to, name, guess_sizes), False
    if format is TextOrJson.json:
        print_json(answer)
    else:
        print_import(answer)
    return Exit.FOUND if answer.sends.left_out or damaged else Exit.OK


def _of_logs(logs: list[Path], to: Path, name: str | None, guess_sizes: bool) -> ReplayImport:
    """Write the trace of logs, and warn of files that are cut off."""
    from pageengine.log_import.importing import import_logs

    total = 2 * sum(log.stat().st_size for log in logs)
    with progress("reading logs", total) as bar:
        report = import_logs(logs, to, name=name, guess_sizes=guess_sizes, advance=bar.advance)
    for file in report.files:
        if file.cut:
            warning(
                f"{file.path}: the compressed stream is cut off after line {file.lines}; everything before it was read"
            )
    return ReplayImport.of(report, to)
