"""``pagectl replay sweep``: traces under many settings."""

from __future__ import annotations

from typing import Annotated

import typer

from pagectl.options.groups import DecidingOptions, ListOptions
from pagectl.options.replay import SetOption, SkipOption, SparkOption, TracesArgument, UsualConfigOption
from pagectl.options.shared import AnywayOption, BrokersOption, JobsOption, processes
from pagectl.running.exits import CallError

EXAMPLES = (
    (
        "A table over two settings",
        "replay sweep friday.jsonl --config broker.xml"
        " --vary '#:max-size-bytes=1M,10M' --vary '#:page-size-bytes=1M,4M'",
    ),
    (
        "The same day of every broker of a fleet, on a cluster",
        "replay sweep --brokers traces.csv --vary '#:max-size-bytes=1M,10M' --spark spark://head:7077",
    ),
)


def command(
    traces: TracesArgument = None,
    brokers: BrokersOption = None,
    config: UsualConfigOption = None,
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="MATCH:NAME=V1,V2,…", help="Values to try; repeatable, for all combinations."),
    ] = [],  # noqa: B006
    options: DecidingOptions = DecidingOptions(),
    settings: SetOption = None,
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    jobs: JobsOption = 0,
    spark: SparkOption = None,
    listed: ListOptions = ListOptions(),
) -> int:
    """Replay traces under every combination of values: peak heap and disk, refused messages, blocked time.

    Ends with status 1 if lines of a trace could not be applied or read, or one of several brokers could not be
    replayed; the others are still replayed.
    """
    from pagectl.opening.replay_fleet import replayed, traced_fleet
    from pagectl.outputs.sweep_rows import show_replays
    from pagectl.reports.replay import VARIANTS, VARIANTS_OF_SEVERAL
    from pageengine.replay.sweep import parse_vary, variants
    from pagefmt.directory.fleet import WITH_CONFIG, fleet_of

    if not vary:
        raise CallError("--vary MATCH:NAME=V1,V2,…: give the values to try; replay run uses the settings as they are")
    entries = fleet_of(traces or [], brokers, WITH_CONFIG)
    tried = variants([parse_vary(text) for text in vary])
    alone = brokers is None and len(entries) == 1
    view = (VARIANTS if alone else VARIANTS_OF_SEVERAL).view(listed)
    fleet = traced_fleet(entries, config, options, settings, anyway=anyway, alone=alone)
    rows = replayed(
        fleet, tried, skip_bad_lines=skip_bad_lines, processes=processes(jobs), spark=spark, command="replay sweep"
    )
    return show_replays(rows, view)
