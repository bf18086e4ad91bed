"""``pagectl replay advise``: the settings under which recorded traffic holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions, DecidingOptions
from pagectl.options.history import HistoryPlaceOptions
from pagectl.options.replay import ConfigOption, SkipOption, SparkOption
from pagectl.options.shared import AnywayOption, DiskOption, JobsOption, TextOrJsonOption, processes, typed_path
from pagectl.options.sizes import size_of
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import note, print_json, warning

EXAMPLES = (
    (
        "Settings that work on a machine of this size",
        "replay advise friday.jsonl --config broker.xml --heap 2G --disk 50G",
    ),
    (
        "Settings under which the traffic that a broker retained would have fitted",
        "replay advise /var/lib/broker --config /var/lib/broker --heap 2G --disk 50G",
    ),
)


def command(
    trace: Annotated[
        Path,
        typer.Argument(
            metavar="TRACE|DIR",
            parser=typed_path,
            help="JSON Lines (plain, gzip, zstd) or Parquet; or a broker with its retention folder.",
        ),
    ],
    config: ConfigOption,
    disk: DiskOption = None,
    options: DecidingOptions = DecidingOptions(),
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    jobs: JobsOption = 0,
    spark: SparkOption = None,
    past: HistoryPlaceOptions = HistoryPlaceOptions(),
    format: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Search by replays for the settings that work with the least paging, and show the evidence for each limit.

    If one of several addresses pages heavily, limits and page sizes of its own are tried as well.

    Settings work if no message is dropped or refused, no producer is blocked, messages stay within half of the heap,
    and pages within what the disk monitor allows. The traffic of a broker's directory is that of its history, as
    'replay import' reads it. Ends with status 1 if none work, or lines of a
    trace could not be applied or read.
    """
    from pagectl.opening.imported_history import as_trace, is_history
    from pagectl.opening.replay import note_not_modelled, replay_configuration
    from pagectl.opening.replay_advice import advised
    from pagectl.outputs.advice_text import print_advice
    from pagectl.reports.replay import ReplayAdvice
    from pageengine.replay.advice import budget

    deciding = replay_configuration(config, options.reading(), anyway=anyway).absolute()
    room = None if disk is None else size_of(disk, "--disk")
    if not deciding.heap or not room:
        raise CallError("say how large heap and disk are: --heap SIZE (where no -Xmx is found) and --disk SIZE")
    allowed = budget(deciding.heap, room, deciding)
    if not is_history(trace):
        past.refuse()
    with as_trace(trace, BrokerOptions(broker_xml=None if config.is_dir() else config), past) as path:
        result = advised(path, deciding, allowed, skip_bad_lines=skip_bad_lines, processes=processes(jobs), spark=spark)
    for text in result.warnings:
        warning(text)
    note_not_modelled([deciding])
    note(f"{result.replays} replays")
    if format is TextOrJson.json:
        print_json(ReplayAdvice.of(result.advice, trace, config, result.warnings))
    else:
        print_advice(result.advice)
    return Exit.FOUND if result.advice.best is None or result.lacking else Exit.OK
