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
)  # fmt: skip
from pageengine.replay.outcome_reading import Line, OutcomeError, OutcomeReader
from pageengine.replay.recording import Recording
from pageengine.trace.items import Item
from pageengine.trace.operations import Send, UnknownOperation

Figures = TypeVar("Figures", bound=Struct)


class OutcomeResults:
    """Give it the lines in order, the header's state first; it knows what each change came from."""

    def __init__(self) -> None:
        self._addresses: dict[str, AddressFigures] = {}
        self._queues: dict[str, QueueFigures] = {}
        self._broker: BrokerFigures | None = None

    def result(self, line: Mapping[str, Any]) -> OperationResult:
        """An operation's line. Raises msgspec.ValidationError."""
        released = [Released(one["i"], _decision(one)) for one in line.get("released") or ()]
        return OperationResult(
            line["i"], line.get("op"), _decision(line), got=line.get("got"), released=released,
            abandoned=line.get("abandoned"), loss=convert(line["loss"], CrashLoss) if "loss" in line else None,
            state=self.state(line.get("state") or {}),
        )  # fmt: skip

    def state(self, parts: Mapping[str, Any]) -> StateChange:
        """The changes of a line; the whole state of the header and of the last line. Raises as ``result``."""
        found = StateChange([], [])
        for key, fields in parts.items():
            kind, _, name = key.partition(":")
            if kind == "a":
                found.addresses.append((name, *_changed(self._addresses, AddressFigures, name, fields)))
            elif kind == "q":
                found.queues.append((name, *_changed(self._queues, QueueFigures, name, fields)))
            else:
                before, self._broker = self._broker, _with(self._broker or BrokerFigures(), fields or {})
                found.broker = (before, self._broker)
        return found


def _decision(line: Mapping[str, Any]) -> Decision:
    return convert(line, ClientDecision if "broker" in line else Decision)


def _changed(
    known: dict[str, Figures], kind: type[Figures], name: str, fields: Mapping[str, Any] | None
) -> tuple[Figures | None, Figures | None]:
    before = known.pop(name, None)
    if fields is None:
        return before, None
    now = known[name] = _with(before or kind(), fields)
    return before, now


def _with(figures: Figures, fields: Mapping[str, Any]) -> Figures:
    known = figures.__struct_fields__
    return replace(figures, **{name: value for name, value in fields.items() if name in known})


def recorded_outcome(reader: OutcomeReader, recording: Recording) -> Iterator[Line]:
    """The lines after the header, the end line too; ``recording`` sees them pass.

    Times and addresses of sends are in the trace alone: a recording made without it has no times, and its sends no
    address. Raises OutcomeError.
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
