"""Messages sent into real brokers, as JMS applications see them there: with the client of Artemis, and that of Qpid.

What each is given by the old broker on a copy of its directory, and by the broker that it was sent to, is compared
field by field: headers, properties with their classes, parts of the body. The sources are the golden directories, and
one that both clients sent messages of all kinds to, with all that JMS lets a sender say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import pytest
from jms_client import Fields, JmsClient, jms_client
from sent_queues import PAIRS, Given, Source, Takers, given_after, given_before, golden_sources
from target_broker import TargetBroker, target_broker

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")

pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
OWN = ("JMSRedelivered", "property JMSXDeliveryCount", "property _AMQ_LARGE_SIZE")
"""What each delivery has of its own."""
HOUR = 3_600_000
FILE = "the file of a large message that is not durable was deleted before"
CONVERTED = "beside the others|one of bytes|told as lost|inflated|of bytes is text"
"""Nothing of that where core messages go untouched."""


@pytest.fixture(scope="module")
def jms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JmsClient]:
    with jms_client(tmp_path_factory.mktemp("jms") / "classes") as found:
        yield found


def written(version: str, folder: Path, jms: JmsClient) -> Source:
    """Send messages from JMS clients of both protocols and return the broker's directory as a source."""
    with target_broker(version, folder) as broker:
        for name in ("all", "again"):
            jms.subscribe(broker.port, "everything", name)
        for seed, client in enumerate(("core", "amqp"), 1):
            jms.send(broker.port, client, f"queue:jms.{client}", seed)
            jms.send(broker.port, client, "topic:everything", seed + 10)
        assert broker.ask("stop") == "stopped"
    queues = ("jms.core::jms.core", "jms.amqp::jms.amqp", "everything::all", "everything::again")
    return Source(f"{version}/written by JMS", folder / "data", queues)


def takers(jms: JmsClient) -> Takers[Fields]:
    def take(broker: TargetBroker, name: str, client: str) -> list[Fields]:
        queue = name.partition("::")[2]
        broker.prune(queue)
        kind = {"ANYCAST": "queue", "MULTICAST": "topic"}.get(broker.ask(f"kind {queue}"))
        return jms.take(broker.port, client, f"{kind}:{name}", broker.count(queue)) if kind else []

    return {client: partial(take, client=client) for client in ("core", "amqp")}


@cache
def before(version: str, folder: Path, jms: JmsClient) -> dict[Source, dict[str, Given[Fields]]]:
    sources = [*golden_sources(version), written(version, folder.with_name(f"{folder.name}-written"), jms)]
    return given_before(version, folder, sources, takers(jms))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_application_is_given_the_same(
    source: str, target: str, jms: JmsClient, tmp_path_factory: pytest.TempPathFactory
) -> None:
    old = before(source, tmp_path_factory.getbasetemp() / source, jms)
    counts: Counter[str] = Counter()
    for case, sent in given_after(target, tmp_path_factory.mktemp("target"), old, takers(jms)):
        for name, one in old[case].items():
            if name in sent.refused:
                assert target == "2.28.0", sent.said
                counts["queues refused"] += 1
                continue
            for client, given in one.by.items():
                found = compared(name, given, sent.given[name].by[client])
                counts.update({f"{client}: {verdict}": count for verdict, count in found.items()})
                if any("DIFFERENT" in each for each in found):
                    print(case.name, name, dict(found), sent.said, flush=True)
    print(f"{source} into {target}:", *(f"{count:7} {verdict}" for verdict, count in sorted(counts.items())), sep="\n")
    wrong = "DIFFERENT" if target == "2.28.0" else f"DIFFERENT|{CONVERTED}"
    assert not [each for each in counts if re.search(wrong, each)]


def compared(name: str, before: tuple[Fields, ...], after: tuple[Fields, ...]) -> Counter[str]:
    """Count equal messages, differing ones by reason, and those received only before or only after."""
    found: Counter[str] = Counter()
    mine, others = (_by_number(given, name) for given in (before, after))
    found.update(f"before alone: {why_not(mine[each])}" for each in mine.keys() - others.keys())
    found["after alone"] += len(others.keys() - mine.keys())
    for number in mine.keys() & others.keys():
        one, other = mine[number], others[number]
        fields = [each for each in one.keys() | other.keys() if each not in OWN and one.get(each) != other.get(each)]
        reasons = {why(field, one, other, name.partition("::")[2]) for field in fields} - {""}
        found["; ".join(sorted(reasons)) or "equal"] += 1
        found["messages"] += 1
    return +found


def why_not(message: Fields) -> str:
    """Name the known reason why a message was not received after sending, or return ``DIFFERENT``."""
    if "receive" in message:
        return "the client could not read it before"
    if _without_file(message):
        return FILE
    if "byte[]" in {text.split(" ")[0] for field, text in message.items() if field.startswith("element")}:
        return "told as lost: bytes in a stream"
    return "DIFFERENT"


def why(field: str, before: Fields, after: Fields, queue: str) -> str:
    """Name the known reason why a field differs; an unexplained difference starts with ``DIFFERENT``.

    An expected difference that needs no mention gives an empty text.
    """
    one, other = before.get(field, ""), after.get(field, "")
    by_amqp = before["JMSDestination"].startswith("String Jms")
    body = field in ("kind", "body", "body length")
    match field:
        case "property _AMQ_DUPL_ID" if other.startswith("String pagectl-"):
            return "a copy for another queue has a duplicate id of its own" if one else ""
        case "property _AMQ_DUPL_ID" if one.startswith(("byte[]", "Binary")) and re.fullmatch(
            "String [0-9a-f]+", other
        ):
            return "a duplicate id of bytes is text"
        case "JMSDestination" if other == f"{one}::{queue}":
            return "the queue stands behind the destination"
        case "JMSMessageID" | "property NATIVE_MESSAGE_ID" if _id(before) == _id(after):
            return "the id of an AMQP message is in NATIVE_MESSAGE_ID"
        case "JMSExpiration" if 0 < _number(other) <= _number(one) + HOUR:
            return "a time to live is what is left of it"
        case "JMSCorrelationID" | "JMSCorrelationIDAsBytes" if _correlation(before) == _correlation(after):
            return "releases give a correlation id of bytes as bytes or as text"
        case "property _AMQ_LARGE_COMPRESSED" if not other:
            return "a compressed body arrives inflated"
    if field.startswith("property JMS_AMQP_") and not one:
        return "properties JMS_AMQP_ beside the others"
    if one.startswith("throws ") and not other.startswith("throws "):
        return "the client could not read a field before"
    if body and (before["kind"], after["kind"]) == ("plain", "bytes"):
        return "a message without a body is one of bytes"
    if body and _without_file(before):
        return FILE
    if body and by_amqp and "property _AMQ_LARGE_COMPRESSED" in before.keys() - after.keys():
        return "a compressed body arrives inflated"
    if body and all(re.match(r"\d+ bytes 00537", each.get("body", "")) for each in (before, after)):
        return "of a value that the broker does not know clients are given other bytes of the message"
    print(f"     {field}: {one!r} {other!r}")
    return f"DIFFERENT: {field}"


def _without_file(message: Fields) -> bool:
    """Return whether a message is large and not durable, so that an old broker deleted its file at start."""
    return message.get("body", "").startswith("0 bytes") and message["JMSDeliveryMode"] == "Integer 1"


def _id(fields: Fields) -> str:
    """Return the id of a message, or "" for an AMQP message without one.

    The client of Artemis reports another id for such a message at each reception.
    """
    by_amqp = any("JMS_AMQP_" in each for each in fields)
    return fields.get("property NATIVE_MESSAGE_ID") or ("" if by_amqp else fields["JMSMessageID"])


def _correlation(fields: Fields) -> str:
    """Normalise a correlation id of bytes, which releases return as bytes or as text."""
    raw, text = fields["JMSCorrelationIDAsBytes"], fields["JMSCorrelationID"]
    return (
        raw.removeprefix("byte[] ") if raw.startswith("byte") else text.removeprefix("String ID:AMQP_BINARY:").lower()
    )


def _number(text: str) -> int:
    return int(text.split(" ")[-1] or 0)


def _by_number(given: tuple[Fields, ...], name: str) -> dict[tuple[str, int], Fields]:
    """Index messages by ``seq``, or by all comparable fields if they have none, and by occurrence."""
    seen: Counter[str] = Counter()
    found = {}
    for each in given:
        key = each.get("property seq") or repr(
            sorted(
                (field, text.removesuffix(f"::{name.partition('::')[2]}"))
                for field, text in each.items()
                if field not in ("JMSMessageID", "property _AMQ_DUPL_ID", "JMSExpiration", *OWN)
            )
        )
        seen[key] += 1
        found[key, seen[key]] = each
    return found
