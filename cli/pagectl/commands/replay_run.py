"""``pagectl replay run``: what a broker would do with recorded traffic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.options.formats import TableFormat, TextOrJson
from pagectl.options.groups import DecidingOptions, ListOptions
from pagectl.options.replay import SetOption, SkipOption, SparkOption, TraceOptions, TracesArgument, UsualConfigOption
from pagectl.options.shared import AnywayOption, BrokersOption, JobsOption, TextOrJsonOption, processes
from pagectl.running.exits import CallError, Exit, describe, report
from pagectl.terminal.streams import print_json

if TYPE_CHECKING:
    from pagectl.opening.replay_run import FinishedReplay

EXAMPLES = (
    ("What the broker would have done with Friday's traffic", "replay run friday.jsonl --config broker.xml"),
    (
        "With another limit, and a report to pass on",
        "replay run friday.jsonl --config broker.xml --set '#:max-size-bytes=64M' --report friday.html",
    ),
    ("Every broker of a fleet under its own configuration", "replay run --brokers traces.csv"),
)


def command(
    traces: TracesArgument = None,
    brokers: BrokersOption = None,
    config: UsualConfigOption = None,
    options: DecidingOptions = DecidingOptions(),
    single: TraceOptions = TraceOptions(),
    settings: SetOption = None,
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    format: TextOrJsonOption = TextOrJson.text,
    jobs: JobsOption = 0,
    spark: SparkOption = None,
) -> int:
    """Replay a trace: memory, pages, drops, refusals and blocked producers, as with a real broker.

    Traces of several brokers are replayed in parallel, and the result of each is a row. Ends with status 1 if lines
    of a trace could not be applied or read, or one of several could not be replayed.
    """
    from pagectl.opening.replay import replay_configuration
    from pagefmt.directory.fleet import WITH_CONFIG, fleet_of

    entries = fleet_of(traces or [], brokers, WITH_CONFIG)
    if brokers is not None or len(entries) != 1:
        single.refuse()
        from pagectl.opening.replay_fleet import replayed_fleet
        from pagectl.outputs.sweep_rows import show_replays
        from pagectl.reports.replay import REPLAYS

        rows = replayed_fleet(entries, config, options, settings, anyway, skip_bad_lines, processes(jobs), spark)
        return show_replays(rows, REPLAYS.view(ListOptions(form=TableFormat(format.value))))
    if config is None:
        raise CallError("no configuration given; name it with --config FILE")
    if spark is not None:
        raise CallError("--spark works with several traces only")
    from pagectl.opening.replay_run import ReplayRequest, check_targets, replay

    trace = entries[0].path
    check_targets(trace, config, files=(single.outcome, single.to_html), folder=single.out)
    deciding = replay_configuration(config, options.reading(), settings, anyway=anyway)
    request = ReplayRequest(trace, deciding, single.outcome, single.out, single.until, skip_bad_lines, single.check)
    return _show(replay(request), config, format, single.to_html)


def _show(done: FinishedReplay, config: Path, format: TextOrJson, to_html: Path | None) -> int:
    """Print a replay, write its report, and return the status."""
    from pagectl.outputs.replay_text import print_replay

    answer = done.report(config)
    if format is TextOrJson.json:
        print_json(answer)
    else:
        print_replay(done.recording)
    if to_html is not None:
        from pagectl.outputs.replay_html import write_report

        write_report(to_html, done.recording, done.settings, answer)
    if done.error is not None:
        report(describe(done.error))
        return Exit.FAILED
    return Exit.FOUND if done.lacking else Exit.OK
