"""``pagectl replay run``: what a broker would do with recorded traffic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.options.formats import TableFormat, TextOrJson
from pagectl.options.groups import DecidingOptions
from pagectl.options.replay import (
    CheckOption,
    OutcomeOption,
    ReportOption,
    SetOption,
    SkipOption,
    SparkOption,
    TracesArgument,
    UntilOption,
    UsualConfigOption,
)
from pagectl.options.shared import AnywayOption, BrokersOption, JobsOption, OutOption, TextOrJsonOption, processes
from pagectl.running.exits import CallError, Exit, describe, report
from pagectl.terminal.streams import note, print_json

if TYPE_CHECKING:
    from pagefmt.directory.fleet import FleetEntry

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
    outcome: OutcomeOption = None,
    out: OutOption = None,
    until: UntilOption = None,
    settings: SetOption = None,
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    check: CheckOption = False,
    format: TextOrJsonOption = TextOrJson.text,
    to_html: ReportOption = None,
    jobs: JobsOption = 0,
    spark: SparkOption = None,
) -> int:
    """Replay a trace: memory, pages, drops, refusals and blocked producers, as with a real broker.

    Traces of several brokers are replayed in parallel, and the result of each is a row. Ends with status 1 if lines
    of a trace could not be applied or read, or one of several could not be replayed.
    """
    from pagefmt.directory.fleet import WITH_CONFIG, fleet_of

    entries = fleet_of(traces or [], brokers, WITH_CONFIG)
    if brokers is not None or len(entries) != 1:
        if until is not None or check or not (outcome is out is to_html is None):
            raise CallError("--outcome, --out, --until, --check and --report work with one TRACE only")
        return _fleet(entries, config, options, settings, anyway, skip_bad_lines, processes(jobs), spark, format)
    if config is None:
        raise CallError("no configuration given; name it with --config FILE")
    if spark is not None:
        raise CallError("--spark works with several traces only")
    from pagectl.opening.replay import note_not_modelled, replay_configuration
    from pagectl.opening.replay_run import ReplayRequest, check_targets, replay
    from pagectl.outputs.replay_text import print_replay
    from pagectl.reports.replay_run import ReplayRun
    from pageengine.replay.ranking import natural

    trace = entries[0].path
    check_targets(trace, config, files=(outcome, to_html), folder=out)
    deciding = replay_configuration(config, options.reading(), settings, anyway=anyway)
    done = replay(ReplayRequest(trace, deciding, outcome, out, until, skip_bad_lines, check))
    note_not_modelled([deciding])
    in_force = deciding.settings_in_force(sorted(done.recording.addresses, key=natural))
    answer = ReplayRun.of(
        done.recording, in_force, trace=trace, config=config, edition=deciding.settings()[1], wrote=out,
        warnings=done.warnings,
    )  # fmt: skip
    if out is not None:
        note(f"wrote {out.absolute()}")
    if format is TextOrJson.json:
        print_json(answer)
    else:
        print_replay(done.recording)
    if to_html is not None:
        from pagectl.outputs.replay_html import write_report

        write_report(to_html, done.recording, in_force, answer)
    if done.error is not None:
        report(describe(done.error))
        return Exit.FAILED
    return Exit.FOUND if done.lacking else Exit.OK


def _fleet(
    entries: list[FleetEntry], config: Path | None, options: DecidingOptions, settings: list[str] | None,
    anyway: bool, skip_bad_lines: bool, processes: int, spark: str | None, format: TextOrJson,
) -> Exit:  # fmt: skip
    from pagectl.opening.replay_fleet import replayed, traced_fleet
    from pagectl.outputs.sweep_rows import print_rows, status
    from pageengine.replay.sweep import variants

    fleet = traced_fleet(entries, config, options, settings, anyway=anyway)
    rows = replayed(fleet, variants([]), skip_bad_lines=skip_bad_lines, processes=processes, spark=spark,
                    command="replay run")  # fmt: skip
    print_rows(rows, TableFormat(format.value), "replays")
    return status(rows)
