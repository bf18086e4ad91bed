"""Selectors about the messages of a golden case: made of the names and values that these messages really have."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from golden_cases import GoldenCase

HEADERS = (
    "AMQPriority", "AMQTimestamp", "AMQExpiration", "AMQDurable", "AMQSize", "AMQUserID", "AMQAddress", "AMQGroupID",
    "JMSType", "JMSCorrelationID", "JMSReplyTo", "JMSXGroupSeq", "JMSXUserID", "_AMQ_AD", "__AMQ_CID",
)  # fmt: skip


def questions(case: GoldenCase, count: int = 120) -> list[str]:
    """Generate selectors from the messages of a case, the same ones in each run."""
    messages = [
        message for store in case.manifest()["stores"] for page in store["pages"] for message in page["messages"]
    ]
    pick = random.Random(str(case))
    known = sorted({(name, repr(value)) for message in messages for name, value in _values(message)})
    values = [(name, eval(text, {"__builtins__": {}})) for name, text in known]  # noqa: S307 (of our own repr)
    asked = [f"{_quoted(name)} IS NOT NULL" for name in sorted({name for name, _ in values})][: count // 3]
    while values and len(asked) < count:
        asked.append(_condition(pick, *pick.choice(values)))
    return list(dict.fromkeys(asked))


def _values(message: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "AMQPriority", message["priority"]
    yield "AMQTimestamp", message["timestamp"]
    yield "AMQExpiration", message["expiration"]
    yield "AMQAddress", message["address"]
    yield "AMQUserID", message["user_id"] and f"ID:{message['user_id']}"
    yield "AMQSize", message["length"] - 60
    yield from ((name, None) for name in HEADERS)
    yield from ((entry["name"], _plain(entry)) for entry in message["properties"])
    amqp = message.get("amqp") or {}
    yield from ((f"m.{entry['name']}", _plain(entry)) for entry in amqp.get("message_annotations") or ())
    yield from ((entry["name"], _plain(entry)) for entry in amqp.get("extra_properties") or ())
    fields = amqp.get("properties") or {}
    for name, field in (("JMSType", "subject"), ("JMSCorrelationID", "correlation_id")):
        yield name, _plain(fields.get(field) or {"type": "null", "value": None})


def _plain(entry: dict[str, Any]) -> Any:
    return (
        entry["value"] if entry["type"] in ("string", "symbol", "boolean") or isinstance(entry["value"], int) else None
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _condition(pick: random.Random, name: str, value: Any) -> str:
    name = _quoted(name)
    if isinstance(value, bool):
        return pick.choice((f"{name}", f"NOT {name}", f"{name} = TRUE", f"{name} <> FALSE"))
    if isinstance(value, int):
        number = str(value) if value >= 0 else f"-{-value}"
        sign = pick.choice(("=", "<>", "<", ">=", ">"))
        return pick.choice((f"{name} {sign} {number}", f"{name} + 1 {sign} {number}", f"{name} * 1.0 {sign} {number}"))
    if isinstance(value, str):
        text = value.replace("'", "''")
        start = text[:3].rstrip("'")
        return pick.choice(
            (f"{name} = '{text}'", f"{name} <> '{text}'", f"{name} LIKE '{start}%'", f"{name} IN ('{text}', 'x')")
        )
    return pick.choice((f"{name} IS NULL", f"{name} = 'x'", f"{name} > 5", f"NOT ({name} < 5)", f"{name} + '' = 'x'"))
