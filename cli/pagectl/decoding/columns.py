"""``--columns``: the chosen columns of messages that are JSON objects, as JSON, CSV and text have them.

``pagefmt.table.named_columns`` has the same columns of Arrow tables; ``tests/equivalence`` compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pagectl.options.columns import BODIES, ORIGIN_COLUMNS, TIME_COLUMNS
from pagectl.running.exits import CallError
from pagectl.terminal.streams import json_text, print_table
from pagefmt.codec.messages.values import has_expired
from pagefmt.describe.message_json import MESSAGE_KEYS
from pagefmt.quantities import time_text

if TYPE_CHECKING:
    from pagefmt.codec.pages.page_file import PageFile
    from pagefmt.codec.pages.page_in_memory import PageInMemory
    from pagefmt.outstanding.journal_parts import JournalPart
    from pagefmt.outstanding.state import StoreState

UNKNOWN: Final = "?"
# columns of ``pages decode --columns``, besides ``properties.NAME`` and fields of ``amqp``
COLUMNS: Final = (
    "sent", "expires", "expired", "queue_names", "acked_by_names", "outstanding_names", "correlation_id", "file",
    "outstanding", "store", "store_address", "page", "number", "offset", "length", "tx", "queues", "acked_by",
    *MESSAGE_KEYS, "amqp", "damage",
    *(f"body_{form}" for form in ("size", "sha256", "text", "value", "base64", "hex", "error")), *ORIGIN_COLUMNS,
    *TIME_COLUMNS,
)  # fmt: skip
# default columns of CSV, before those for the chosen body forms
FOR_CSV: Final = (
    "sent", "address", "queue_names", "outstanding_names", "id", "user_id", "correlation_id", "type_name", "priority",
    "durable", "expires", "properties", "file", "offset",
)  # fmt: skip
# default columns of CSV for commands that also read the journal
FOR_MESSAGES: Final = (*FOR_CSV, *ORIGIN_COLUMNS)
# columns whose CSV cells ``csv_columns`` renders for many messages at once
CELL_COLUMNS: Final = frozenset(COLUMNS) - {
    *TIME_COLUMNS,
    "expired",
    "large_id",
    "large_file",
    "large_size",
    "property_types",
    "amqp",
    "damage",
    *(f"body_{form}" for form in ("sha256", "text", "value", "base64", "hex", "error")),
}
# states of a message that a queue still has to deliver
_WAITING: Final = ("due", "scheduled", "waiting")
# rows of a text table that are aligned together
_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class RowPlace:
    """Where a message was read, and the time, ms."""

    known: StoreState | JournalPart
    page: PageFile | PageInMemory
    now: int

    def names(self, ids: Iterable[int] | None) -> list[str] | None:
        """Return the names of queues; a queue without a binding is ``queue ID``. None stays None."""
        bindings = self.known.queues or {}
        return None if ids is None else [bindings[id].name if id in bindings else f"queue {id}" for id in ids]

    def outstanding(self, message: Mapping[str, Any]) -> list[int] | None:
        """Return the ids of the queues that are still to receive the message, None if not known."""
        if "queues_state" in message:
            return self._due(message)
        rule = self.known.rule(self.page.number)
        if rule is None or self.known.unknown is not None:
            return None
        return list(rule.outstanding(message["number"], message["tx"], message["queues"]))

    def _due(self, message: Mapping[str, Any]) -> list[int] | None:
        bindings, states = self.known.queues or {}, message["queues_state"]
        if self.known.unknown is not None:
            return None
        names = ((number, bindings[number].name if number in bindings else str(number)) for number in message["queues"])
        return [number for number, name in names if states.get(name, {}).get("state") in _WAITING]


Read = Callable[[Mapping[str, Any], RowPlace], Any]


def _expired(message: Mapping[str, Any], at: RowPlace) -> bool | None:
    expires = message["expiration"]
    return None if expires is None else has_expired(expires, at.now)


def _correlation_id(message: Mapping[str, Any], _: RowPlace) -> Any:
    fields = (message.get("amqp") or {}).get("properties") or {}
    own = (fields.get("correlation_id") or {}).get("value")
    properties = message["properties"] or {}
    names = ("JMSCorrelationID", "mqtt.correlation.data")
    return next((value for value in (own, *map(properties.get, names)) if value is not None), None)


_MADE: Final[dict[str, Read]] = {
    "sent": lambda message, _: time_text(message["timestamp"]) or None,
    "expires": lambda message, _: time_text(message["expiration"]) or None,
    "expired": _expired,
    "queue_names": lambda message, at: at.names(message["queues"]),
    "acked_by_names": lambda message, at: at.names(message.get("acked_by")),
    "outstanding": lambda message, at: at.outstanding(message),
    "outstanding_names": lambda message, at: at.names(at.outstanding(message)),
    "correlation_id": _correlation_id,
    "file": lambda message, at: message.get("file", at.page.name),
}


def chosen_columns(text: str) -> tuple[str, ...]:
    """Return the names in a ``--columns`` list. Raise ``CallError`` if there is no such column."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        head, _, inner = name.partition(".")
        if name in COLUMNS or (head == "properties" and inner):
            continue
        choices = _amqp_columns() if head == "amqp" else COLUMNS
        if name not in choices and not name.startswith(_AMQP_MAPS):
            from pagefmt.findings import did_you_mean

            advice = did_you_mean(name, choices, f"choose from {', '.join(choices)}")
            raise CallError(f"--columns: no column '{name}'; {advice}")
    return names


# prefixes of AMQP sections whose names the sender chooses
_AMQP_MAPS: Final = tuple(
    f"amqp.{name}."
    for name in ("delivery_annotations", "message_annotations", "application_properties", "footer", "extra_properties")
)
# columns whose value is an object of values by name
_PROPERTIES: Final = ("properties", "amqp.extra_properties")


def _amqp_columns() -> list[str]:
    from pagefmt.codec.messages.amqp_sections import PROPERTY_FIELDS, AmqpHeader

    names = [*(f"header.{name}" for name in AmqpHeader.__slots__), *(f"properties.{name}" for name in PROPERTY_FIELDS)]
    whole = ("header", "properties", "extra_property_types", "message_format", "encoded_size", "encoded_sha256", "body")
    return [*(f"amqp.{name}" for name in (*whole, *names)), *(name[:-1] for name in _AMQP_MAPS)]


def property_names(columns: str | None) -> list[str]:
    """Return the names of the properties in a ``--columns`` list."""
    names = (name.strip() for name in (columns or "").split(","))
    return [name.removeprefix("properties.") for name in names if name.startswith("properties.")]


def forms_of(names: Iterable[str]) -> set[str]:
    """Return the ``--body`` forms that columns need."""
    return {form for form in BODIES if f"body_{form}" in names}


def reader(name: str) -> Read:
    """Return the function that reads a column's value from a message."""
    if name in _MADE:
        return _MADE[name]
    head, dot, path = name.partition(".")
    if not dot:
        return lambda message, _: message.get(name)
    if head == "properties":
        return lambda message, _: (message[head] or {}).get(path)
    return lambda message, _: _within(message.get(head), path)


def _within(value: Any, path: str) -> Any:
    """Return the value at a path within a value.

    A path consists of keys of objects, and of names of entries, which may contain dots themselves.
    """
    if isinstance(value, list):
        return next((_plain(entry) for entry in value if entry["name"] == path), None)
    key, dot, below = path.partition(".")
    inner = value.get(key) if isinstance(value, dict) else None
    if key == "extra_properties" and dot:
        return (inner or {}).get(below)
    return _within(inner, below) if dot else _plain(inner)


def _plain(value: Any) -> Any:
    return value["value"] if isinstance(value, dict) and "type" in value else value


class ChosenColumns:
    """Messages as rows of these columns."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._readers = [reader(name) for name in self.names]

    def row(self, message: Mapping[str, Any], at: RowPlace) -> dict[str, Any]:
        """Return the chosen columns of a message, with values as JSON has them."""
        return {name: read(message, at) for name, read in zip(self.names, self._readers, strict=True)}

    def cells(self, message: Mapping[str, Any], at: RowPlace) -> dict[str, Any]:
        """Return the row as table cells: lists joined with commas, properties as NAME=VALUE."""
        return {name: _cell(name, value) for name, value in self.row(message, at).items()}

    def print_text(self, rows: Iterator[Mapping[str, Any]]) -> None:
        """Print aligned tables as rows arrive; columns are aligned anew for every thousand rows."""
        while part := list(islice(rows, _AT_ONCE)):
            numbers = [name for name in self.names if any(isinstance(row[name], int) for row in part)]
            print_table(self.names, (map(_text, row.values()) for row in part), right=numbers, prose=True)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json_text(value)


def _cell(name: str, value: Any) -> Any:
    if value is None:
        return UNKNOWN if name.startswith("outstanding") else None
    if name in _PROPERTIES:
        return "; ".join(f"{key}={_text(item)}" for key, item in value.items())
    if not isinstance(value, list):
        return value
    if all(isinstance(item, dict) and "name" in item for item in value):
        return "; ".join(f"{item['name']}={_text(item['value'])}" for item in value)
    return ", ".join(map(_text, value))
