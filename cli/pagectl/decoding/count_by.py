"""``--count-by``: how many of the chosen messages have each value of a field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pagectl.decoding.shown import TABLES, DecodeFormat, ShownOptions
from pagectl.reports.value_counts import ValueCount
from pagectl.running.exits import CallError
from pagectl.terminal.streams import CsvTable, json_text, print_json_list, print_table
from pagefmt.codec.messages.amqp_text import annotation_name
from pagefmt.quantities import size_text

if TYPE_CHECKING:
    from pagectl.decoding.columns import RowPlace

COUNTED: Final = ("queue", "address", "priority")
PROPERTY: Final = "properties."
# shown in text for messages without a value
NO_VALUE: Final = "(none)"
_OLD_PREFIX, _PREFIX = "_HQ_", "_AMQ_"  # the broker's own properties: of HornetQ, and of Artemis


def count_field(text: str, shown: ShownOptions) -> str:
    """Return the field of ``--count-by``.

    Raises ``CallError`` if there is no such field, and for options about how single messages are shown.
    """
    name = text.removeprefix(PROPERTY)
    if text not in COUNTED and (name == text or not name):
        from pagefmt.findings import did_you_mean

        choices = (*COUNTED, "properties.NAME")
        advice = did_you_mean(text, choices, f"choose from {', '.join(choices)}")
        raise CallError(f"--count-by {text}: is no field to count by; {advice}")
    beside = {
        "--columns": shown.columns,
        "--partition-by": shown.partition_by,
        "--limit": shown.limit,
        "--inflate": shown.inflate or None,
        "--body": None if shown.body == "size" else shown.body,
    }
    other = next((option for option, value in beside.items() if value is not None), None)
    if other is not None:
        raise CallError(f"--count-by: prints counts, so {other} does not apply; leave one of them out")
    if shown.format() in TABLES:
        raise CallError(f"--count-by: no counts in {shown.format().value}; use text, json, jsonl or csv")
    return text


class ValueCounter:
    """Messages and bytes by the value of a field. Memory grows with the number of distinct values only.

    ``queues``: ids of the only queues that count; None: all. ``outstanding``: a message counts for the queues that
    still wait for it, else for all that it was routed to.
    """

    def __init__(self, field: str, queues: frozenset[int] | None, *, outstanding: bool) -> None:
        self._field, self._queues, self._outstanding = field, queues, outstanding
        self._counts: dict[tuple[type, Any], tuple[Any, int, int]] = {}
        self._property = _property(field.removeprefix(PROPERTY)) if field.startswith(PROPERTY) else None

    def take(self, message: Mapping[str, Any], at: RowPlace) -> None:
        """Count a message, by queue once for each of its queues."""
        for value in self._values(message, at):
            # a boolean is no number, and a list cannot be a key
            key = (type(value), json_text(value) if isinstance(value, list | dict) else value)
            _, messages, size = self._counts.get(key, (value, 0, 0))
            self._counts[key] = (value, messages + 1, size + message["length"])

    def _values(self, message: Mapping[str, Any], at: RowPlace) -> Iterable[Any]:
        if self._property is not None:
            return (self._property(message),)
        if self._field != "queue":
            return (message[self._field],)
        ids = self._waiting(message, at) if self._outstanding else message["queues"]
        chosen = [number for number in ids or () if self._queues is None or number in self._queues]
        return at.names(dict.fromkeys(chosen)) or (None,)

    @staticmethod
    def _waiting(message: Mapping[str, Any], at: RowPlace) -> list[int]:
        """Return the ids of the queues that have not acknowledged the message."""
        states, ids = message["queues_state"], message["queues"]
        return [
            number
            for number, name in zip(ids, at.names(ids) or (), strict=True)
            if states.get(name, {}).get("state") != "acknowledged"
        ]

    def rows(self) -> Iterator[ValueCount]:
        """Yield the counts, the largest first."""
        ordered = sorted(self._counts.values(), key=lambda row: (-row[1], -row[2], json_text(row[0])))
        return (ValueCount(value=value, messages=messages, bytes=size) for value, messages, size in ordered)

    @property
    def is_missing(self) -> bool:
        """Return whether messages were counted, but none of them has a value."""
        return [value for value, *_ in self._counts.values()] == [None]

    def write(self, form: DecodeFormat) -> None:
        """Write the counts in the format chosen."""
        if form is DecodeFormat.csv:
            table = CsvTable(ValueCount.__struct_fields__)
            for row in self.rows():
                table.row({name: getattr(row, name) for name in table.columns})
        elif form is DecodeFormat.text:
            name = self._field.upper() if self._property is None else self._field.removeprefix(PROPERTY)
            print_table((name, "MESSAGES", "BYTES"), map(_cells, self.rows()), right=("MESSAGES", "BYTES"))
        else:
            print_json_list("counts", self.rows(), lines=form is DecodeFormat.jsonl)


def _cells(row: ValueCount) -> tuple[object, ...]:
    value = row.value
    shown = NO_VALUE if value is None else value if isinstance(value, str) else json_text(value)
    return shown, row.messages, size_text(row.bytes)


def _property(name: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that reads a property as the broker names it.

    Properties that brokers set themselves (``_AMQ_…``) are annotations in AMQP messages, and have another prefix in
    HornetQ.
    """
    names = (name, _OLD_PREFIX + name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else (name,)
    annotation = annotation_name(name)

    def value(message: Mapping[str, Any]) -> Any:
        amqp = message.get("amqp") or {}
        for values in (message["properties"] or {}, amqp.get("extra_properties") or {}):
            for candidate in names:
                if values.get(candidate) is not None:
                    return values[candidate]
        section = (amqp.get("message_annotations") or ()) if annotation != name else ()
        return next((entry["value"] for entry in section if entry["name"] == annotation), None)

    return value
