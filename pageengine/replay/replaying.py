"""A trace through the engine, item by item: every line of the trace gets its line of the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from brokerconf.reading.document import Document
from brokerconf.reading.properties import Entry
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
    """A configuration, the edition that reads it, and what comes after it. ``heap``: the JVM's maximum in bytes.

    ``properties`` are the values of ``${…}``; ``entries`` those of broker.properties and of system properties that are
    in force, before the ``overrides`` of the command line. ``reader`` reads the file, whatever its form, in any
    process. ``assumed``: why the edition is the one that it is, where nobody named it.
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
        """What the engine decides by, and the edition in force. Raises BrokerConfError, PageEngineError, OSError."""
        document = self._document()
        return overridden(document, self.overrides, heap=self.heap, entries=self.entries), document.edition

    def settings_in_force(self, addresses: list[str]) -> dict[str, list[SettingInForce]]:
        """The settings in force, for a person."""
        return settings_in_force(self._document(), self.overrides, addresses, heap=self.heap, entries=self.entries)

    def not_modelled(self) -> list[str]:
        """Settings that were given and that a replay does not look at, a sentence for each."""
        return not_modelled(self._document(), self.overrides, self.entries)

    def _document(self) -> Document:
        return self.reader(self.path, edition=self.edition, properties=self.properties)

    def over(self, overrides: Iterable[SettingOverride]) -> Configuration:
        """The same with more settings over it."""
        return replace(self, overrides=(*self.overrides, *overrides))

    def absolute(self) -> Configuration:
        """The same for a worker that runs somewhere else."""
        return replace(self, path=self.path.absolute())

    def engine(self, reader: TraceReader, *, check: bool = False) -> Engine:
        """A fresh engine for this trace."""
        settings, edition = self.settings()
        engine = Engine(settings, profile_of(edition), reader.header, check=check)
        if reader.foresees_clients():
            engine.show_clients()
        return engine


def result_of(engine: Engine, item: Item) -> OperationResult:
    """What comes of one item of a trace."""
    if isinstance(item, MalformedLine):
        return malformed(item.i, item.reason)
    if type(item) is UnknownOperation:
        return unsupported(item.i, item.op)
    return engine.apply(item)


def steps(engine: Engine, reader: TraceReader, until: int | None = None) -> Iterator[tuple[Item, OperationResult]]:
    """Each item of the trace with what came of it, up to operation ``until``.

    Raises TraceError when a malformed line is reached; what came before it was applied.
    """
    for item in reader:
        yield item, engine.apply(item) if type(item) is Send else result_of(engine, item)
        if item.i == until:
            return


def whole_outcome(engine: Engine, reader: TraceReader, recording: Recording) -> tuple[Line, Iterator[Line]]:
    """The header line, and the lines after it, the end line too; ``recording`` sees them pass."""
    begin(recording, engine)

    def lines() -> Iterator[Line]:
        for item, result in steps(engine, reader):
            recording.see(item, result)
            yield result.as_json()
        recording.finish(engine.state())
        yield engine.finish().as_json()

    return engine.start().as_json(), lines()


def trace_warnings(reader: TraceReader, recording: Recording) -> list[str]:
    """What a whole replay did without, for a person: keys that were ignored, a missing end, lines not applied."""
    return reader.warnings + [
        f"{reader.path}: {count_text(count, 'line')} could not be applied ({name})"
        for name in ("unsupported", "malformed")
        if (count := recording.results[name])
    ]


def begin(recording: Recording, engine: Engine) -> None:
    """Tell the recording of a replay how it begins: the state, the configured queues, the timer of pages."""
    settings, in_batches = engine.settings, engine.profile.writes_pages_in_batches
    recording.answers = AnswerTimer(max(settings.page_sync_timeout, 0), durable_only=not in_batches)
    recording.begin(engine.state(), {queue.name: queue.address for queue in settings.queues})


def recorded(configuration: Configuration, reader: TraceReader) -> Recording:
    """Replay the whole trace and keep what it amounts to."""
    engine = configuration.engine(reader)
    recording = Recording(reader.header.name)
    begin(recording, engine)
    for item, result in steps(engine, reader):
        recording.see(item, result)
    recording.finish(engine.state())
    return recording
