"""``pagectl replay import``: a trace out of a broker's logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.replay import TraceOutOption, refuse_overwriting, refuse_unknown_ending
from pagectl.options.shared import TextOrJsonOption
from pagectl.running.exits import Exit
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import print_json, print_table, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pageengine.log_import.importing import ImportReport


EXAMPLES = (("From the message audit log", "replay import audit.log --to friday.jsonl.zst"),)


def command(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG…", help="Audit logs, or artemis.log with lines of the logging plugin.")
    ],
    to: TraceOutOption,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Name of the trace [default: that of the first log]."),
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
    if format is TextOrJson.json:
        print_json(as_json(report, to))
    else:
        _print(report, to)
    return Exit.FOUND if report.left_out else Exit.OK


def as_json(report: ImportReport, to: Path) -> dict[str, object]:
    """The report as one JSON object; ``to`` is the trace that was written."""
    from pageengine.log_import.importing import ALWAYS

    return {
        "trace": str(to),
        "source": report.source.value,
        "files": [{"file": str(one.path), "lines": one.lines, "records": one.records} for one in report.files],
        "sends": {"logged": report.logged_sends, "left_out": report.left_out},
        "operations": dict(sorted(report.operations.items())),
        "unknown": dict(sorted(report.unknown.items())),
        "never_known": list(ALWAYS),
        "unused_records": report.unused,
    }


def _print(report: ImportReport, to: Path) -> None:
    from pageengine.log_import.importing import ALWAYS

    if report.left_out:
        print(
            f"{report.left_out} of {count_text(report.logged_sends, 'send')} are left out of the trace, because the "
            "log does not describe their messages; use the message audit log, or the plugin's log at DEBUG\n"
        )
    print(f"{to}: {count_text(sum(report.operations.values()), 'operation')} from the {report.source.value}")
    print_table(("operation", "count"), sorted(report.operations.items()), right=("count",))
    if report.unknown:
        print("\nNot known for sure:")
        print_table(("what", "times"), sorted(report.unknown.items()), right=("times",))
    print("\nNever in such logs: " + "; ".join(ALWAYS) + ".")
