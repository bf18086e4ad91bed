"""One replay of a trace, with what it writes meanwhile: the outcome and the data directory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.replay import note_not_modelled
from pagectl.options.replay import refuse_overwriting
from pagectl.running.collector import seldom_collected
from pagectl.terminal.replay_progress import replay_progress
from pagectl.terminal.streams import note, warning
from pageengine.errors import PageEngineError
from pageengine.replay.outcome_writing import OutcomeWriter, writing_outcome
from pageengine.replay.ranking import natural
from pageengine.replay.recording import Recording
from pageengine.replay.replaying import Configuration, begin, steps, trace_warnings
from pageengine.running.engine import Engine
from pageengine.settings.overrides import SettingInForce
from pageengine.trace.reading import TraceReader, open_trace
from pagefmt.quantities import count_text
from pagefmt.storage.writing import check_new_folder

if TYPE_CHECKING:
    from pagectl.reports.replay_run import ReplayRun

PROGRESS_EVERY = 500  # operations between two updates of the progress bar


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A trace, the configuration, and what is written. ``until``: the last operation."""

    trace: Path
    deciding: Configuration
    outcome: Path | None = None
    out: Path | None = None
    until: int | None = None
    skip_bad_lines: bool = False
    check: bool = False


class FinishedReplay(NamedTuple):
    """What happened.

    ``settings``: those in force, by address or ``broker``; ``warnings``: what of the trace was not replayed; ``cut``:
    its end, although it was wanted; ``error``: what ended the replay early.
    """

    request: ReplayRequest
    recording: Recording
    settings: dict[str, list[SettingInForce]]
    warnings: list[str]
    cut: bool
    error: Exception | None

    def report(self, config: Path) -> ReplayRun:
        """Return the replay as a report; ``config``: the configuration as it was named."""
        from pagectl.reports.replay_run import ReplayRun

        request = self.request
        return ReplayRun.of(
            self.recording,
            self.settings,
            trace=request.trace,
            config=config,
            edition=request.deciding.settings()[1],
            wrote=request.out,
            warnings=self.warnings,
        )

    @property
    def lacking(self) -> bool:
        """Return whether lines of the trace could not be applied or read."""
        results = self.recording.results
        return bool(self.cut or results["unsupported"] or results["malformed"])


def check_targets(trace: Path, config: Path, *, files: tuple[Path | None, ...], folder: Path | None) -> None:
    """Raise ``CallError`` or ``TargetRefused`` if a file or folder to write is an input."""
    for written in files:
        refuse_overwriting(written, trace, config)
    if folder is not None and config.is_dir():
        check_new_folder(folder, [config])


def replay(request: ReplayRequest) -> FinishedReplay:
    """Replay a trace. An error of the engine ends the replay early, and the outcome written so far is kept."""
    with ExitStack() as stack:
        stack.enter_context(seldom_collected())
        bar = stack.enter_context(replay_progress(request.trace))
        reader = open_trace(request.trace, skip_bad_lines=request.skip_bad_lines, advance=bar.advance)
        engine = request.deciding.engine(reader, check=request.check)
        if request.out is not None:
            from pageengine.data_directory.writing import check_target

            check_target(engine, request.out)
        write = stack.enter_context(writing_outcome(request.outcome)) if request.outcome is not None else None
        recording = Recording(reader.header.name, reader.header.unknown)
        if write is not None:
            write.line(engine.start().as_json())
        begin(recording, engine)
        error = _apply_all(engine, reader, recording, request.until, write, bar.applied)
        if error is None and write is not None:
            write.end(engine)
        recording.finish(engine.state() if error is None else None)
        if request.out is not None:
            from pageengine.data_directory.writing import write_data_directory

            write_data_directory(engine, request.out)
    for text in reader.warnings:
        warning(text)
    bar.applied(recording.operations - bar.operations)
    note(f"{count_text(recording.operations, 'operation')}, {bar.rate_text()}")
    note_not_modelled([request.deciding])
    if request.out is not None:
        note(f"wrote {request.out.absolute()}")
    settings = request.deciding.settings_in_force(sorted(recording.addresses, key=natural))
    whole = request.until is not None and recording.operations > request.until
    cut = reader.cut is not None and not whole
    return FinishedReplay(request, recording, settings, trace_warnings(reader, recording), cut, error)


def _apply_all(
    engine: Engine,
    reader: TraceReader,
    recording: Recording,
    until: int | None,
    write: OutcomeWriter | None,
    applied: Callable[[int], None],
) -> Exception | None:
    try:
        for item, result in steps(engine, reader, until):
            if write is not None:
                write.line(result.as_json())
            recording.see(item, result)
            if not recording.operations % PROGRESS_EVERY:
                applied(PROGRESS_EVERY)
        applied(recording.operations % PROGRESS_EVERY)
    except PageEngineError as err:
        return err
    return None
