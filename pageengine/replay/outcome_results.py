"""Lines of an outcome, the engine's or a real broker's, as results (docs/spec/trace-format.md 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from pageengine.model.outcome import (
    AddressFigures,
    BrokerFigures,
    ClientDecision,
    CrashLoss,
    Decision,
    OperationResult,
    QueueFigures,
    Released,
    StateChange,
)
from pageengine.replay.outcome_reading import Line, OutcomeError, OutcomeReader
from pageengine.replay.recording import Recording
from pageengine.trace.items import Item
from pageengine.trace.operations import Send, UnknownOperation

Figures = TypeVar("Figures", bound=Struct)


class OutcomeResults:
    """Converter of lines to results, in order and the header's state first; it keeps the state before each change."""

    def __init__(self) -> None:
        self._addresses: dict[str, AddressFigures] = {}
        self._queues: dict[str, QueueFigures] = {}
        self._broker: BrokerFigures | None = None

    def result(self, line: Mapping[str, Any]) -> OperationResult:
        """Return the result of an operation's line; raise ``msgspec.ValidationError``."""
        released = [Released(release["i"], _decision(release)) for release in line.get("released") or ()]
        return OperationResult(
            line["i"],
            line.get("op"),
            _decision(line),
            got=line.get("got"),
            released=released,
            abandoned=line.get("abandoned"),
            loss=convert(line["loss"], CrashLoss) if "loss" in line else None,
            state=self.state(line.get("state") or {}),
        )

    def state(self, parts: Mapping[str, Any]) -> StateChange:
        """Return the changes of a line, or the whole state of the header and of the last line.

        Raises as ``result`` does.
        """
        changes = StateChange([], [])
        for key, fields in parts.items():
            kind, _, name = key.partition(":")
            if kind == "a":
                changes.addresses.append((name, *_changed(self._addresses, AddressFigures, name, fields)))
            elif kind == "q":
                changes.queues.append((name, *_changed(self._queues, QueueFigures, name, fields)))
            else:
                before, self._broker = self._broker, _with(self._broker or BrokerFigures(), fields or {})
                changes.broker = (before, self._broker)
        return changes


def _decision(line: Mapping[str, Any]) -> Decision:
    return convert(line, ClientDecision if "broker" in line else Decision)


def _changed(
    current: dict[str, Figures], kind: type[Figures], name: str, fields: Mapping[str, Any] | None
) -> tuple[Figures | None, Figures | None]:
    before = current.pop(name, None)
    if fields is None:
        return before, None
    now = current[name] = _with(before or kind(), fields)
    return before, now


def _with(figures: Figures, fields: Mapping[str, Any]) -> Figures:
    field_names = figures.__struct_fields__
    return replace(figures, **{name: value for name, value in fields.items() if name in field_names})


def recorded_outcome(reader: OutcomeReader, recording: Recording) -> Iterator[Line]:
    """Yield the lines after the header, including the end line, and record each in ``recording``.

    Times and addresses of sends are in the trace alone: a recording made without it has no times, and its sends no
    address. Raises ``OutcomeError``.
    """
    results = OutcomeResults()
    line = reader.header
    try:
        recording.begin(results.state(line.get("state") or {}))
        for line in reader.with_end():
            if line is reader.end:
                recording.finish(results.state(line.get("state") or {}))
            else:
                recording.see(_item(line), results.result(line))
            yield line
    except (KeyError, TypeError, AttributeError, ValidationError) as err:
        where = f"operation {line['i']}" if "i" in line else "header or end line"
        raise OutcomeError(f"{reader.path}: {where}: not in the form of an outcome ({err})") from None
    if reader.end is None:
        recording.finish(None)


def _item(line: Line) -> Item:
    i, op = line["i"], line.get("op")
    return Send(i=i, t=0, address="", seq=i) if op == "send" else UnknownOperation(i=i, t=0, name=str(op))
