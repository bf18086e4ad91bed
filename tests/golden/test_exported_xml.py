"""``messages xml`` against the brokers' own exporter, message by message, and against what the brokers delivered.

Their exporter is not followed where it is wrong (docs/spec/messages.md 13): it stops at AMQP messages that it cannot
convert, exports what page-complete records acknowledge, and writes tabs and odd characters so that they are lost.
"""

from __future__ import annotations

import tarfile
from base64 import urlsafe_b64decode
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from golden_cases import GoldenCase, cases
from lxml import etree
from program import call

from pagefmt.codec.messages.bodies import map_of

ARCHIVE = Path(__file__).parents[1] / "recorded" / "exports" / "exported.tar.xz"
MANGLED = ("unicode", "unicode-ascii-locale")
"""Cases whose properties the brokers' exporter writes with characters that XML does not allow."""
TIMED = "schedule-kinds"
"""Its times are of all types: ``test_delivery_times`` has what was due."""
RECORDED = 1_795_700_000_000
"""When the drains were made, about."""
INTERNAL = "$sys.mqtt.sessions"
"""The drains leave this queue alone."""


class Exported(NamedTuple):
    """A message parsed from an XML export, with the queues that it waits in."""

    attributes: dict[str, str]
    properties: dict[str, object]
    queues: set[str]
    body: object


@cache
def recorded() -> dict[str, bytes]:
    with tarfile.open(ARCHIVE) as archive:
        return {
            member.name.removeprefix("./"): archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive
            if member.isfile()
        }


def parsed(text: bytes) -> dict[str, Exported]:
    if not text.strip():
        return {}
    root = etree.fromstring(text.strip(), etree.XMLParser(huge_tree=True, recover=True))
    found: dict[str, Exported] = {}
    for message in root.iter("message"):
        if message.find("body") is not None:
            one = _message(message)
            # the same message may wait in the stores of two addresses
            one.queues.update(found.get(message.get("id"), one).queues)
            found[message.get("id")] = one
    return found


def _message(message: Any) -> Exported:
    body = message.find("body")
    content = b"".join(map(urlsafe_b64decode, (body.text or "").split()))
    attributes = dict(message.attrib)
    # the importer makes a new one, and so does the conversion of AMQP
    attributes["user-id"] = str("user-id" in attributes)
    entries = map_of(content) if message.get("type") == "map" else ()
    return Exported(
        attributes,
        {each.get("name"): _value(each) for each in message.find("properties") if each.get("type")},
        {each.get("name") for each in message.find("queues")},
        sorted(map(repr, entries)) if entries else (body.get("isLarge"), content),
    )


def _value(each: Any) -> str:
    kind, value = each.get("type"), each.get("value")
    match kind:
        case "float":
            return repr(np.float32(value))
        case "double":
            return repr(float(value))
        case "simple-string":
            return " ".join(value.split())
        case _:
            return f"{kind} {value}"


def delivered(case: GoldenCase) -> dict[str, list[str]]:
    return {
        queue["name"]: sorted(str(message["id"]) for message in queue["delivered"])
        for queue in case.drain()["queues"]
        if queue["delivered"]
    }


def waiting(found: dict[str, Exported]) -> dict[str, list[str]]:
    """Return message numbers by queue, without messages that expired before delivery or are scheduled."""
    queues: dict[str, list[str]] = {}
    for number, message in found.items():
        if not 0 < int(message.attributes["expiration"]) < RECORDED and "_AMQ_SCHED_DELIVERY" not in message.properties:
            for queue in message.queues - {INTERNAL}:
                queues.setdefault(queue, []).append(number)
    return {name: sorted(numbers) for name, numbers in queues.items()}


@pytest.mark.parametrize("case", [*cases("2.28.0"), *cases("2.44.0"), *cases("2.56.0")], ids=str)
def test_the_same_messages_and_what_brokers_deliver(case: GoldenCase, tmp_path: Path) -> None:
    answer = call("messages", "xml", case.data(), "--to", tmp_path / "out.xml")
    assert answer.status < 2, answer.err
    ours = parsed((tmp_path / "out.xml").read_bytes())
    theirs = parsed(recorded().get(f"{case.version}/{case.name}.xml", b""))
    assert case.name == TIMED or waiting(ours) == delivered(case)
    for number in ours.keys() & theirs.keys():
        one, other = ours[number], theirs[number]
        assert one.queues <= other.queues
        if case.name not in MANGLED:
            assert one[:2] == other[:2] and one.body == other.body, number


def test_recorded_files_are_compared() -> None:
    assert len(recorded()) > 100 and sum(len(parsed(text)) for text in list(recorded().values())[:10]) > 100
