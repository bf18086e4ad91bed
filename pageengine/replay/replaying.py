"""Replay of a trace through the engine, item by item: every line of the trace gets its line of the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from brokerconf.reading.document import Document
from brokerconf.reading.property_entries import Entry
from brokerconf.reading.reading import read

from pageengine.model.outcome import OperationResult, malformed, unsupported
from pageengine.replay.recording import Recording
from pageengine.replay.records import AnswerTimer
from pageengine.running.engine import Engine
from pageengine.settings.overrides import SettingInForce, SettingOverride, not_modelled, overridden, settings_in_force
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import EngineSettings
from pageengine.trace.items import Item, MalformedLine
from pageengine.trace.operations import Send, UnknownOperation
from pageengine.trace.reading import TraceReader
from pagefmt.editions import Edition
from pagefmt.quantities import count_text

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Configuration:
    """Configuration, the edition that reads it, and what is applied after it. ``heap``: the JVM's maximum in bytes.

    ``properties`` are the values of ``${…}``; ``entries`` those of broker.properties and of system properties that are
    in force, before the ``overrides`` of the command line. ``reader`` reads the file, whatever its form, in any
    process. ``assumed``: why this edition was chosen, if none was requested.
    """

    path: Path
    edition: Edition | None = None
    overrides: tuple[SettingOverride, ...] = ()
    heap: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    reader: Callable[..., Document] = read
    assumed: str = ""

    def settings(self) -> tuple[EngineSettings, Edition]:
        """Return the engine's settings and the edition; raise ``BrokerConfError``, ``PageEngineError``, ``OSError``."""
        document = self._document()
        return overridden(document, self.overrides, heap=self.heap, entries=self.entries), document.edition

    def settings_in_force(self, addresses: list[str]) -> dict[str, list[SettingInForce]]:
        """Return the settings in force, for a person."""
        return settings_in_force(self._document(), self.overrides, addresses, heap=self.heap, entries=self.entries)

    def not_modelled(self) -> list[str]:
        """Return a sentence for each setting that is made but that a replay does not model."""
        return not_modelled(self._document(), self.overrides, self.entries)

    def _document(self) -> Document:
        return self.reader(self.path, edition=self.edition, properties=self.properties)

    def over(self, overrides: Iterable[SettingOverride]) -> Configuration:
        """Return the configuration with more settings applied."""
        return replace(self, overrides=(*self.overrides, *overrides))

    def absolute(self) -> Configuration:
        """Return the configuration with an absolute path, for a worker in another working directory."""
        return replace(self, path=self.path.absolute())

    def engine(self, reader: TraceReader, *, check: bool = False) -> Engine:
        """Return a fresh engine for this trace."""
        settings, edition = self.settings()
        engine = Engine(settings, profile_of(edition), reader.header, check=check)
        if reader.foresees_clients():
            engine.show_clients()
        return engine


def result_of(engine: Engine, item: Item) -> OperationResult:
    """Return the result of one item of a trace."""
    if isinstance(item, MalformedLine):
        return malformed(item.i, item.reason)
    if type(item) is UnknownOperation:
        return unsupported(item.i, item.op)
    return engine.apply(item)


def steps(engine: Engine, reader: TraceReader, until: int | None = None) -> Iterator[tuple[Item, OperationResult]]:
    """Apply the items of the trace one by one, and yield each with its result.

    ``until``: number of the last operation to apply; None for all. Raises ``TraceError`` at a malformed line, after the
    items before it were applied.
    """
    for item in reader:
        yield item, engine.apply(item) if type(item) is Send else result_of(engine, item)
        if item.i == until:
            return


def whole_outcome(engine: Engine, reader: TraceReader, recording: Recording) -> tuple[Line, Iterator[Line]]:
    """Return the header line, and an iterator over the lines after it; each is recorded in ``recording``."""
    begin(recording, engine)

    def lines() -> Iterator[Line]:
        for item, result in steps(engine, reader):
            recording.see(item, result)
            yield result.as_json()
        recording.finish(engine.state())
        yield engine.finish().as_json()

    return engine.start().as_json(), lines()


def trace_warnings(reader: TraceReader, recording: Recording) -> list[str]:
    """Return what a whole replay ignored, for a person: unknown keys, a missing end, lines not applied."""
    return reader.warnings + [
        f"{reader.path}: {count_text(count, 'line')} could not be applied ({name})"
        for name in ("unsupported", "malformed")
        if (count := recording.results[name])
    ]


def begin(recording: Recording, engine: Engine) -> None:
    """Start the recording of a replay with the state, the configured queues and the timer of page syncs."""
    settings, in_batches = engine.settings, engine.profile.writes_pages_in_batches
    recording.answers = AnswerTimer(max(settings.page_sync_timeout, 0), durable_only=not in_batches)
    recording.begin(engine.state(), {queue.name: queue.address for queue in settings.queues})


def recorded(configuration: Configuration, reader: TraceReader) -> Recording:
    """Replay the whole trace and return its recording."""
    engine = configuration.engine(reader)
    recording = Recording(reader.header.name, reader.header.unknown)
    begin(recording, engine)
    for item, result in steps(engine, reader):
        recording.see(item, result)
    recording.finish(engine.state())
    return recording
