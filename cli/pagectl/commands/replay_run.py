"""``pagectl replay run``: what a broker would do with recorded traffic."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.exits import Exit, describe, report
from pagectl.outputs.formats import TextOrJson
from pagectl.replay_options import EditionOfReplay, HeapOption, SetOption, SkipOption, TraceArgument, configuration
from pagectl.streams import note, print_json, warning

if TYPE_CHECKING:
    from pageengine.engine import Engine
    from pageengine.recording import Recording
    from pageengine.replaying import Configuration
    from pageengine.trace_reading import TraceReader


def command(
    trace: TraceArgument,
    config: Annotated[Path, typer.Option("--config", metavar="FILE", help="broker.xml to decide by.")],
    edition: EditionOfReplay = None,
    outcome: Annotated[
        Path | None, typer.Option("--outcome", metavar="FILE", help="Write what became of each operation.")
    ] = None,
    settings: SetOption = None,
    heap: HeapOption = None,
    skip_bad_lines: SkipOption = False,
    check: Annotated[bool, typer.Option("--check", help="Test the engine's invariants after each operation.")] = False,
    format: Annotated[TextOrJson, typer.Option(help="How the account is printed.")] = TextOrJson.text,
    to_html: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write the account as one HTML file.")
    ] = None,
) -> int:
    """Replay a trace: memory, pages, drops, refusals and blocked producers, as the real broker would have it.

    Ends with status 1 where lines of the trace could not be applied.
    """
    from pageengine.replay_findings import findings

    deciding = configuration(config, edition, settings, heap)
    recording, stopped = _replay(trace, deciding, outcome, skip_bad_lines, check)
    found = findings(recording)
    told = deciding.told(sorted(recording.addresses))
    facts = {"trace": str(trace), "config": str(config), "edition": deciding.settings()[1].value}
    if format is TextOrJson.json:
        from pagectl.outputs.replay_json import replay_json

        print_json(replay_json(recording, found, told, facts))
    else:
        from pagectl.outputs.replay_text import print_replay

        print_replay(recording, found)
    if to_html is not None:
        from pagectl.outputs.replay_html import report_html

        to_html.write_text(report_html(recording, found, told, facts), encoding="utf-8")
    if stopped is not None:
        report(describe(stopped))
        return Exit.FAILED
    return Exit.FOUND if recording.results["unsupported"] or recording.results["malformed"] else Exit.OK


def _replay(
    trace: Path, deciding: Configuration, outcome: Path | None, skip_bad_lines: bool, check: bool
) -> tuple[Recording, Exception | None]:
    """The recording, and what stopped it before the end; the outcome written so far stays."""
    from pagectl.replay_progress import replay_progress
    from pageengine.outcome_writing import writing_outcome
    from pageengine.recording import Recording
    from pageengine.replaying import queues_of
    from pageengine.trace_reading import open_trace

    with ExitStack() as stack:
        bar = stack.enter_context(replay_progress(trace))
        reader = open_trace(trace, skip_bad_lines=skip_bad_lines, advance=bar.advance)
        engine = deciding.engine(reader, check=check)
        write = stack.enter_context(writing_outcome(outcome)).line if outcome is not None else _nothing
        recording = Recording(reader.header.name)
        header = engine.start().as_json()
        write(header)
        recording.begin(header, queues_of(engine.settings))
        stopped = _apply_all(engine, reader, recording, write, bar.applied)
        end = None
        if stopped is None:
            end = engine.finish().as_json()
            write(end)
        recording.finish(end)
    for text in reader.warnings:
        warning(text)
    note(f"{recording.operations} operations, {bar.rate_text()}")
    return recording, stopped


def _nothing(line: dict[str, Any]) -> None:
    """No outcome was asked for."""


def _apply_all(
    engine: Engine,
    reader: TraceReader,
    recording: Recording,
    write: Callable[[dict[str, Any]], None],
    applied: Callable[[], None],
) -> Exception | None:
    from pageengine.errors import PageEngineError
    from pageengine.replaying import replayed

    try:
        for item, line in replayed(engine, reader):
            write(line)
            recording.see(item, line)
            applied()
    except PageEngineError as err:
        return err
    return None
