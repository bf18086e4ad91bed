"""``pagectl replay run``: what a broker would do with recorded traffic."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pagectl.options.formats import TableFormat, TextOrJson
from pagectl.options.groups import DecidingOptions
from pagectl.options.replay import (
    SetOption,
    SkipOption,
    SparkOption,
    TracesArgument,
    UsualConfigOption,
    refuse_overwriting,
)
from pagectl.options.shared import AnywayOption, BrokersOption, JobsOption, OutOption, TextOrJsonOption, processes
from pagectl.running.collector import seldom_collected
from pagectl.running.exits import CallError, Exit, describe, report
from pagectl.terminal.streams import note, print_json, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pageengine.replay.outcome_writing import OutcomeWriter
    from pageengine.replay.recording import Recording
    from pageengine.replay.replaying import Configuration
    from pageengine.running.engine import Engine
    from pageengine.trace.reading import TraceReader
    from pagefmt.directory.fleet import FleetEntry

TOLD_EACH = 500
"""Operations between two looks at the progress bar."""


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
    outcome: Annotated[
        Path | None,
        typer.Option("--outcome", metavar="FILE", help="Write the outcome of each operation."),
    ] = None,
    out: OutOption = None,
    until: Annotated[
        int | None,
        typer.Option("--until", metavar="N", min=0, help="Stop after operation N (the first is 0)."),
    ] = None,
    settings: SetOption = None,
    anyway: AnywayOption = False,
    skip_bad_lines: SkipOption = False,
    check: Annotated[bool, typer.Option("--check", help="Test the engine's invariants after each operation.")] = False,
    format: TextOrJsonOption = TextOrJson.text,
    to_html: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a report as an HTML file."),
    ] = None,
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
    if spark is not None or config is None:
        wrong = (
            "no configuration given; name it with --config FILE"
            if config is None
            else "--spark works with several traces only"
        )
        raise CallError(wrong)
    trace = entries[0].path
    from pagectl.opening.replay import note_not_modelled, replay_configuration
    from pageengine.replay.ranking import natural

    for written in (outcome, to_html):
        refuse_overwriting(written, trace, config)
    if out is not None and config.is_dir():
        from pagefmt.bytes.writing import check_new_folder

        check_new_folder(out, [config])
    deciding = replay_configuration(config, options.reading(), settings, anyway=anyway)
    recording, missing, stopped = _replay(_ReplayRun(trace, deciding, outcome, out, until, skip_bad_lines, check))
    note_not_modelled([deciding])
    told = deciding.settings_in_force(sorted(recording.addresses, key=natural))
    facts = {"trace": str(trace), "config": str(config), "edition": deciding.settings()[1].value}
    if out is not None:
        facts["wrote"] = str(out.absolute())
        note(f"wrote {out.absolute()}")
    if format is TextOrJson.json:
        from pagectl.outputs.replay_json import replay_json
        from pageengine.replay.findings import findings

        print_json(replay_json(recording, findings(recording), told, facts) | {"warnings": missing.warnings})
    else:
        from pagectl.outputs.replay_text import print_replay

        print_replay(recording)
    if to_html is not None:
        from pagectl.outputs.replay_html import report_html
        from pagefmt.bytes.writing import write_text

        lacks = {"warnings": "; ".join(missing.warnings)} if missing.warnings else {}
        write_text(to_html, report_html(recording, told, facts | lacks))
    if stopped is not None:
        report(describe(stopped))
        return Exit.FAILED
    lacking = missing.cut or recording.results["unsupported"] or recording.results["malformed"]
    return Exit.FOUND if lacking else Exit.OK


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


@dataclass(frozen=True, slots=True)
class _ReplayRun:
    """What is asked for."""

    trace: Path
    deciding: Configuration
    outcome: Path | None
    out: Path | None
    until: int | None
    skip_bad_lines: bool
    check: bool


@dataclass(frozen=True, slots=True)
class _Missing:
    """What of the trace was not replayed. ``cut``: its end, which was asked for."""

    warnings: list[str]
    cut: bool


def _replay(work: _ReplayRun) -> tuple[Recording, _Missing, Exception | None]:
    """The recording, what it lacks, and the error that stopped it early; the outcome written so far is kept."""
    from pagectl.terminal.replay_progress import replay_progress
    from pageengine.replay.outcome_writing import writing_outcome
    from pageengine.replay.recording import Recording
    from pageengine.replay.replaying import begin, trace_warnings
    from pageengine.trace.reading import open_trace

    with ExitStack() as stack:
        stack.enter_context(seldom_collected())
        bar = stack.enter_context(replay_progress(work.trace))
        reader = open_trace(work.trace, skip_bad_lines=work.skip_bad_lines, advance=bar.advance)
        engine = work.deciding.engine(reader, check=work.check)
        if work.out is not None:
            from pageengine.data_directory.writing import check_target

            check_target(engine, work.out)
        write = stack.enter_context(writing_outcome(work.outcome)) if work.outcome is not None else None
        recording = Recording(reader.header.name)
        if write is not None:
            write.line(engine.start().as_json())
        begin(recording, engine)
        stopped = _apply_all(engine, reader, recording, work.until, write, bar.applied)
        if stopped is None and write is not None:
            write.end(engine)
        recording.finish(engine.state() if stopped is None else None)
        if work.out is not None:
            from pageengine.data_directory.writing import write_data_directory

            write_data_directory(engine, work.out)
    for text in reader.warnings:
        warning(text)
    bar.applied(recording.operations - bar.operations)
    note(f"{count_text(recording.operations, 'operation')}, {bar.rate_text()}")
    whole = work.until is not None and recording.operations > work.until
    return recording, _Missing(trace_warnings(reader, recording), reader.cut is not None and not whole), stopped


def _apply_all(
    engine: Engine,
    reader: TraceReader,
    recording: Recording,
    until: int | None,
    write: OutcomeWriter | None,
    applied: Callable[[int], None],
) -> Exception | None:
    from pageengine.errors import PageEngineError
    from pageengine.replay.replaying import steps

    try:
        for item, result in steps(engine, reader, until):
            if write is not None:
                write.line(result.as_json())
            recording.see(item, result)
            if not recording.operations % TOLD_EACH:
                applied(TOLD_EACH)
        applied(recording.operations % TOLD_EACH)
    except PageEngineError as err:
        return err
    return None
