"""Messages as the broker's own classes described them, compared with ours field by field."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

TYPED_NULL = {"type": "null", "value": None}
LEGACY = ("hornetq-2.3.25", "hornetq-2.4.7", "artemis-1.5.6", "2.10.1", "2.17.0")


SHOWN_TYPES = ("string", "boolean", "int", "null")


def as_lines_have_it(dumped: dict[str, Any]) -> dict[str, Any]:
    """Convert a broker's dump of a message to the keys of JSON Lines.

    Its lists of named and typed properties become objects, keyed by name.
    """
    made = _by_name(dumped, "properties", "property_types")
    if dumped.get("amqp"):
        made["amqp"] = _by_name(dumped["amqp"], "extra_properties", "extra_property_types")
    return made


def _by_name(fields: dict[str, Any], values: str, types: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, entries in fields.items():
        if key != values:
            made[key] = entries
            continue
        made[values] = entries if entries is None else {each["name"]: each["value"] for each in entries}
        made[types] = (
            entries
            if entries is None
            else {each["name"]: each["type"] for each in entries if each["type"] not in SHOWN_TYPES}
        )
    return made


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            if key in theirs and key in ours:
                yield from differences(theirs[key], ours[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}", theirs.get(key, "absent"), ours.get(key, "absent")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for n, pair in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(*pair, f"{path}[{n}]")
    elif theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool):
        yield path, theirs, ours


def explained(version: str, theirs: dict[str, Any], path: str, was: Any, ours: Any) -> bool:
    legacy = version in LEGACY
    if path in (".body_text", ".body_value") and was == "absent":
        return bool(theirs["large"] or theirs["body_size"] == 0) or (
            path == ".body_text" and _is_the_body(theirs, ours)
        )
    if legacy and theirs["large"] and path in (".persister", ".body_size"):
        return True
    if legacy and path.startswith(".amqp.properties.") and was == TYPED_NULL:
        return ours is None
    if legacy and path.startswith(".body_value[") and was == "string":
        return ours == "null"
    if version == "2.10.1" and theirs["protocol"] == "amqp":
        return path in (".amqp.header.durable", ".amqp.encoded_sha256")
    if str(theirs.get("error", "")).endswith("descriptors not supported by this decoder"):
        return path in (".amqp", ".error", ".properties") or "Decimal" in str(was)
    return path.startswith((".amqp.", ".properties.")) and "Decimal" in str(was)


def _is_the_body(theirs: dict[str, Any], text: str) -> bool:
    """Return whether the text agrees with the body that the broker reported.

    Text inside core bytes and AMQP data is compared by hash; several AMQP sections count as equal.
    """
    if theirs["protocol"] == "core":
        return hashlib.sha256(text.encode()).hexdigest() == theirs["body_sha256"]
    sections = theirs["amqp"]["body"]
    if sections[0]["kind"] == "value":
        return bool(sections[0]["value"] == text)
    return len(sections) > 1 or hashlib.sha256(text.encode()).hexdigest() == sections[0]["sha256"]
