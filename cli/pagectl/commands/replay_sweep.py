"""``pagectl replay sweep``: one trace under many settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TableFormat
from pagectl.options.groups import DecidingOptions
from pagectl.options.replay import ConfigOption, SetOption, SkipOption, SparkOption, TraceArgument
from pagectl.options.shared import JobsOption, TableFormatOption, processes
from pagectl.running.exits import Exit
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import CsvTable, print_json_list, print_table

if TYPE_CHECKING:
    from pageengine.replay.sweep import SweepJob, SweepRow


EXAMPLES = (
    (
        "A table over two settings",
        "replay sweep friday.jsonl --config broker.xml"
        " --vary '#:max-size-bytes=1M,10M' --vary '#:page-size-bytes=1M,4M'",
    ),
)


def command(
    trace: TraceArgument,
    config: ConfigOption,
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="MATCH:NAME=V1,V2,…", help="Values to try; repeatable: all combinations."),
    ],
    options: DecidingOptions = DecidingOptions(),
    settings: SetOption = None,
    skip_bad_lines: SkipOption = False,
    jobs: JobsOption = 0,
    spark: SparkOption = None,
    format: TableFormatOption = TableFormat.text,
) -> int:
    """Replay a trace under every combination of values: peak heap and disk, refused messages, blocked time."""
    from pagectl.opening.replay import note_not_modelled, replay_configuration
    from pageengine.replay.sweep import (
        SweepJob,
        parse_vary,
        sweeping,
        variant_configuration,
        variants,
    )

    deciding = replay_configuration(config, options.reading(), settings)
    work = [
        SweepJob(trace.absolute(), deciding.absolute(), skip_bad_lines, one)
        for one in variants([parse_vary(text) for text in vary])
    ]
    _check(work)
    with (
        sweeping("pagectl replay sweep", processes(jobs), spark) as sweep,
        progress("replaying", len(work), "variants") as bar,
    ):
        rows = []
        for row in sweep(work):
            rows.append(row)
            bar.advance(1)
    note_not_modelled(variant_configuration(job) for job in work)
    _print(rows, format)
    return Exit.FOUND if any(row.totals.unapplied for row in rows) else Exit.OK


def _check(work: list[SweepJob]) -> None:
    """Reads the settings of every variant before the first is replayed."""
    from pageengine.replay.sweep import variant_configuration

    for job in work:
        variant_configuration(job).settings()


def _print(rows: list[SweepRow], format: TableFormat) -> None:
    match format:
        case TableFormat.json | TableFormat.jsonl:
            print_json_list("variants", (row.as_json() for row in rows), lines=format is TableFormat.jsonl)
        case TableFormat.csv:
            from pageengine.replay.sweep import COLUMNS

            table = CsvTable(("settings", *COLUMNS))
            for row in rows:
                table.row(row.as_json() | {"settings": " ".join(row.settings)})
        case TableFormat.text:
            _text(rows)


def _text(rows: list[SweepRow]) -> None:
    from pagectl.outputs.replay_totals import in_words

    shown = ("peak memory", "peak disk", "paged", "dropped", "refused", "blocked", "waited", "page mode")
    words = [in_words(row.totals) for row in rows]
    cells = [
        {"settings": "  ".join(row.settings), **{name.replace("memory", "heap"): said[name] for name in shown}}
        for row, said in zip(rows, words, strict=True)
    ]
    always = ("settings", "peak heap", "peak disk")
    names = [name for name in cells[0] if name in always or any(cell[name] not in ("0", "-") for cell in cells)]
    print_table(names, [[cell[name] for name in names] for cell in cells], right=names[1:])
