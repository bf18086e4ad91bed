"""Messages for people: a heading for each page, a few short lines for each message."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from pagectl.running.reading import moment
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import coloured, json_text, wrapped
from pagefmt.quantities import size_text

if TYPE_CHECKING:
    from pagefmt.directory.bindings import QueueBinding

_VALUE_SHOWN: Final = 120
_INDENT: Final = "    "
_BODY_KEYS: Final = ("body_sha256", "body_text", "body_value", "body_base64", "body_hex", "body_error")


class MessageText:
    """Writes messages (as the JSON objects of ``pages decode``) as text; everything in them is made safe."""

    def __init__(self) -> None:
        self._place: tuple[str, int] | None = None
        self._shown = 0
        bold = coloured(sys.stdout)
        self._bold, self._plain = ("\x1b[1m", "\x1b[0m") if bold else ("", "")

    def show(self, message: Mapping[str, Any], queues: Mapping[int, QueueBinding] | None) -> None:
        """Print one message; ``queues`` by id, for their names."""
        self._heading(message)
        print(_first_line(message))
        self._wrapped(_routing(message, queues))
        self._wrapped([f"{one_line(entry['name'])}={_value(entry['value'])}" for entry in message["properties"] or ()])
        for key in _BODY_KEYS:
            if message.get(key) is not None:
                self._body(key, message[key])
        self._shown += 1

    def end(self) -> None:
        """Say so where there was no message at all."""
        if not self._shown:
            print("no message")

    def _heading(self, message: Mapping[str, Any]) -> None:
        place = (message["store"], message["page"])
        if place == self._place:
            return
        if self._place is not None:
            print()
        self._place = place
        address = one_line(message["store_address"] or "(no address)")
        print(f"{self._bold}{address}  page {message['page']}{self._plain}  {one_line(message['store'])}")

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


def _first_line(message: Mapping[str, Any]) -> str:
    protocol = message["protocol"] or "not understood"
    kind = protocol if message["type_name"] is None else f"{protocol} {message['type_name']}"
    parts = [f"{message['page']}:{message['number']}", f"id {message['id']}", kind, *_sizes(message)]
    if message["timestamp"]:
        parts.append(f"sent {moment(message['timestamp'])}")
    if message["expiration"]:
        parts.append(f"expires {moment(message['expiration'])}")
    return "  ".join(parts)


def _sizes(message: Mapping[str, Any]) -> Iterator[str]:
    if message["large"]:
        size = message.get("body_size", message["large_size"])
        yield "large" if size is None else f"large {size_text(size)}"
        if message["large_file"] is None:
            yield "body file not there"
    elif message.get("body_size") is not None:
        yield size_text(message["body_size"])
    elif message.get("amqp"):
        yield size_text(message["amqp"]["encoded_size"]) if message["amqp"].get("encoded_size") else "large"


def _routing(message: Mapping[str, Any], queues: Mapping[int, QueueBinding] | None) -> list[str]:
    words = [f"to {_names(message['queues'], queues)}"]
    if message.get("acked_by"):
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


def _names(ids: list[int], queues: Mapping[int, QueueBinding] | None) -> str:
    if not ids:
        return "no queue"
    known = queues or {}
    return ", ".join(one_line(known[queue].name) if queue in known else f"queue {queue}" for queue in ids)


def _value(value: object) -> str:
    text = one_line(value if isinstance(value, str) else json_text(value))
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]}…"
