r"""Ids of messages as clients, brokers and this project write them, and what each of them matches.

A message has one text for an id (``amqp_text.identifier_text``); people come with another one:

    ID:<text>            JMSMessageID, AMQUserID; the prefix may also be part of the stored text
    ID:AMQP_UUID:<uuid>  as AMQP's JMS client names the type; AMQP_ULONG:<n>, AMQP_BINARY:<hex>, AMQP_STRING:<text>,
                         AMQP_NO_PREFIX:<text> likewise
    <uuid>               in capitals, in braces, without hyphens
    <hex>                bytes, as JSON has them; ``\x01\x02`` as the broker prints them
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from pagefmt.messages.amqp_text import binary_text, identifier_text
from pagefmt.messages.core_message import user_id_text
from pagefmt.messages.values import TypedValue, ValueKind

USER_ID_PROPERTIES: Final = ("__HDR_MESSAGE_ID", "NATIVE_MESSAGE_ID")
"""Where the broker keeps the message ids of OpenWire clients, and of AMQP messages that became core messages."""
CORRELATION_ID_PROPERTIES: Final = ("JMSCorrelationID", "mqtt.correlation.data")
_PREFIX: Final = "ID:"
_TYPED: Final = re.compile(r"AMQP_(?:UUID|ULONG|BINARY|STRING|NO_PREFIX):")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})+")
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\x([0-9a-fA-F]{2})")
_OPENWIRE: Final = re.compile(rb"\x7b\x01(?P<size>..)(?P<rest>.*)", re.DOTALL)


def accepted_texts(asked: str) -> frozenset[str]:
    """Every text of a message's id for which ``asked`` may stand."""
    forms = {form for text in _as_printed(asked) for form in _bare_forms(text)}
    return frozenset(form for bare in forms for form in (bare, _PREFIX + bare))


def _as_printed(asked: str) -> Iterator[str]:
    """What was pasted, and what it was before a spreadsheet, JSON or a terminal was spared some of its characters."""
    yield asked
    yield asked.strip().removeprefix("'")
    yield asked.replace("\\\\", "\\")
    yield _ESCAPED.sub(_character, asked)


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code < 0x110000 else match[0]


def _bare_forms(text: str) -> Iterator[str]:
    """Without prefixes, in the spelling of ``identifier_text``."""
    bare = text.removeprefix(_PREFIX)
    plain = _TYPED.sub("", bare, count=1) if _TYPED.match(bare) else bare
    for each in (bare, plain, plain.removeprefix(_PREFIX)):
        yield each
        yield binary_text(each.encode("utf-8", "surrogatepass"))
        if _HEX.fullmatch(each):
            yield _bytes_text(bytes.fromhex(each))
        try:
            found = UUID(each)
        except ValueError:
            continue
        yield str(found)
        yield user_id_text(found.bytes) or ""


def id_text(typed: TypedValue) -> str | None:
    """The text of an id that stands in a property; bytes may be the id of an OpenWire client as it was sent."""
    if typed.kind is ValueKind.BYTES:
        return _bytes_text(typed.value)
    return identifier_text(typed)


def _bytes_text(raw: bytes) -> str:
    return _openwire_id(raw) or binary_text(raw)


def _openwire_id(raw: bytes) -> str | None:
    """``connection:session:producer:number`` of a marshalled MessageId (docs/spec/messages.md 5)."""
    found = _OPENWIRE.search(raw[4:]) if raw[4:5] == b"\x6e" else None
    if found is None:
        return None
    size = int.from_bytes(found["size"], "big")
    numbers = found["rest"][size : size + 24]
    if len(numbers) < 24:
        return None
    value, session, sequence = (int.from_bytes(numbers[at : at + 8], "big", signed=True) for at in (0, 8, 16))
    connection = found["rest"][:size].decode("utf-8", "replace")
    return f"{connection}:{session}:{value}:{sequence}"
