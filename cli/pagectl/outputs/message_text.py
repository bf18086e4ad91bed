"""Messages for people: a heading for each page, a few short lines for each message."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pagectl.options.times import milliseconds
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import coloured, json_text, wrapped
from pagefmt.codec.messages.values import has_expired
from pagefmt.quantities import count_text, size_text, time_text

if TYPE_CHECKING:
    from pathlib import Path

    from pagefmt.directory.bindings import QueueBinding

_VALUE_SHOWN: Final = 120
_INDENT: Final = "    "
_BODY_KEYS: Final = ("body_sha256", "body_text", "body_value", "body_base64", "body_hex", "body_error")


class MessageText:
    """Writes messages (as the JSON objects of ``pages decode``) as text; everything in them is made safe."""

    def __init__(self) -> None:
        self._place: tuple[str, str, str] | None = None
        self._now = milliseconds(datetime.now(UTC))
        bold = coloured(sys.stdout)
        self._bold, self._plain = ("\x1b[1m", "\x1b[0m") if bold else ("", "")

    def show(
        self, message: Mapping[str, Any], queues: Mapping[int, QueueBinding] | None, file: Path | None = None
    ) -> None:
        """Print one message; ``queues`` by id, for their names. ``file``: said with the message's place in it."""
        self._heading(message, file)
        with_offset = file is not None or message["page"] is None
        print(_first_line(message, self._now, f"offset {message['offset']}" if with_offset else None))
        self._wrapped(_routing(message, queues))
        self._wrapped(_amqp_words(message.get("amqp") or {}, message["user_id"]))
        self._wrapped([f"{one_line(name)}={_value(value)}" for name, value in (message["properties"] or {}).items()])
        for key in _BODY_KEYS:
            if message.get(key) is not None:
                self._body(key, message[key])

    def _heading(self, message: Mapping[str, Any], file: Path | None) -> None:
        in_page = message["page"] is not None
        part = f"page {message['page']}" if in_page else "history" if message["where"] == "history" else "journal"
        lies_in = str(file or message["store"]) if in_page else message["file"] or ""
        if message.get("not_after") is not None:
            lies_in += f"  written until {message['not_after']}"
        if message.get("not_before") is not None:
            lies_in += f", from {message['not_before']}"
        address = one_line(message["store_address"] or "(no address)")
        place = (address, part, lies_in)
        if place == self._place:
            return
        if self._place is not None:
            print()
        self._place = place
        print(f"{self._bold}{address}  {part}{self._plain}  {one_line(lies_in)}")

    def _wrapped(self, words: list[str]) -> None:
        if words:
            print(wrapped("  ".join(words), len(_INDENT)))

    def _body(self, key: str, value: object) -> None:
        name = key.removeprefix("body_")
        text = value if isinstance(value, str) else json_text(value)
        lines = text.splitlines() or [""]
        if len(lines) == 1:
            print(f"{_INDENT}{name}: {one_line(text)}")
            return
        print(f"{_INDENT}{name}:")
        for line in lines:
            print(f"{_INDENT}  {one_line(line)}")


def _first_line(message: Mapping[str, Any], now: int, place: str | None) -> str:
    protocol = message["protocol"] or "not understood"
    kind = protocol if message["type_name"] is None else f"{protocol} {message['type_name']}"
    position = [] if message["page"] is None else [f"{message['page']}:{message['number']}"]
    parts = [*position, *([place] if place else []), f"id {message['id']}", kind]
    parts += _sizes(message)
    if message["timestamp"]:
        parts.append(f"sent {time_text(message['timestamp'])}")
    if message["expiration"]:
        word = "EXPIRED" if has_expired(message["expiration"], now) else "expires"
        parts.append(f"{word} {time_text(message['expiration'])}")
    return "  ".join(parts)


def _sizes(message: Mapping[str, Any]) -> Iterator[str]:
    if message["large"]:
        size = message.get("body_size", message["large_size"])
        yield "large" if size is None else f"large {size_text(size)}"
        if message["large_file"] is None:
            yield "body file missing"
    elif message.get("body_size") is not None:
        yield size_text(message["body_size"])
    elif message.get("amqp"):
        yield size_text(message["amqp"]["encoded_size"]) if message["amqp"].get("encoded_size") else "large"


def _routing(message: Mapping[str, Any], queues: Mapping[int, QueueBinding] | None) -> list[str]:
    words = [f"to {_names(message['queues'], queues)}"]
    if "queues_state" in message:
        states = [_queue_state(queue, how) for queue, how in message["queues_state"].items()]
        words = [f"to {', '.join(states) or 'no queue'}"]
    elif message.get("acked_by"):
        words.append(f"acknowledged by {_names(message['acked_by'], queues)}")
    if "damage" in message:
        words.append(f"{message['damage']['kind']} {one_line(message['damage']['detail'])}")
    if message["address"] != message["store_address"] and "damage" not in message:
        words.append(f"address {one_line(message['address'] or '(none)')}")
    if message["durable"] is not None:
        words += [f"priority {message['priority']}", "durable" if message["durable"] else "not durable"]
    if message["tx"] >= 0:
        words.append(f"transaction {message['tx']}")
    if message["user_id"]:
        words.append(f"user id {one_line(message['user_id'])}")
    return words


_AMQP_WORDS: Final = {
    "correlation_id": "correlation id", "subject": "subject", "reply_to": "reply to", "to": "sent to",
    "user_id": "user", "group_id": "group", "group_sequence": "number in group", "reply_to_group_id": "reply to group",
    "content_type": "content type", "content_encoding": "content encoding",
}  # fmt: skip
_ANNOTATIONS: Final = {"message_annotations": "", "delivery_annotations": "delivery ", "footer": "footer "}


def _amqp_words(amqp: Mapping[str, Any], user_id: str | None) -> list[str]:
    """Return the words for fields that only AMQP sections have."""
    fields = amqp.get("properties") or {}
    named = {} if user_id else {"message_id": "message id"}
    words = [f"{label} {_field(fields[name])}" for name, label in (named | _AMQP_WORDS).items() if fields.get(name)]
    for name, label in _ANNOTATIONS.items():
        words += [f"{label}{one_line(entry['name'])}: {_field(entry)}" for entry in amqp.get(name) or ()]
    return words


def _field(typed: Mapping[str, Any]) -> str:
    """Return a value as text; bytes are text if they are valid UTF-8."""
    from pagefmt.codec.messages.body_text import readable

    return _value((readable(bytes.fromhex(typed["value"])) if typed["type"] == "bytes" else None) or typed["value"])


def _queue_state(queue: str, how: Mapping[str, Any]) -> str:
    """Return a queue's name with what is unusual about the message in that queue."""
    remarks = [] if how["state"] in ("due", "scheduled") else [how["state"] or how.get("why") or "unknown"]
    if how["state"] == "scheduled":
        remarks.append(f"scheduled for {time_text(how['scheduled'])}" if how["scheduled"] else "scheduled")
    if how["delivery_count"]:
        remarks.append(f"delivered {count_text(how['delivery_count'], 'time')}")
    return one_line(queue) + (f" ({one_line(', '.join(remarks))})" if remarks else "")


def _names(ids: list[int], queues: Mapping[int, QueueBinding] | None) -> str:
    if not ids:
        return "no queue"
    bindings = queues or {}
    return ", ".join(one_line(bindings[queue].name) if queue in bindings else f"queue {queue}" for queue in ids)


def _value(value: object) -> str:
    text = one_line(value if isinstance(value, str) else json_text(value))
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]}…"
