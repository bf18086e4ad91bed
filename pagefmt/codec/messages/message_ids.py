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

from pagefmt.codec.messages.amqp_text import binary_text, identifier_text
from pagefmt.codec.messages.core_message import user_id_text
from pagefmt.codec.messages.values import TypedValue, ValueKind

# Properties with the message ids of OpenWire clients, and of AMQP messages that became core messages.
USER_ID_PROPERTIES: Final = ("__HDR_MESSAGE_ID", "NATIVE_MESSAGE_ID")
CORRELATION_ID_PROPERTIES: Final = ("JMSCorrelationID", "mqtt.correlation.data")
_PREFIX: Final = "ID:"
_TYPED: Final = re.compile(r"AMQP_(?:UUID|ULONG|BINARY|STRING|NO_PREFIX):")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})+")
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\x([0-9a-fA-F]{2})")
_OPENWIRE: Final = re.compile(rb"\x7b\x01(?P<size>..)(?P<rest>.*)", re.DOTALL)


def accepted_texts(message_id: str) -> frozenset[str]:
    """Return every text of a message's id that ``message_id`` may mean."""
    forms = {form for text in _as_printed(message_id) for form in _bare_forms(text)}
    return frozenset(form for bare in forms for form in (bare, _PREFIX + bare))


def _as_printed(text: str) -> Iterator[str]:
    """Yield the text as pasted, and with the changes undone that a spreadsheet, JSON or a terminal makes."""
    yield text
    yield text.strip().removeprefix("'")
    yield text.replace("\\\\", "\\")
    yield _ESCAPED.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code < 0x110000 else match[0]


def _bare_forms(text: str) -> Iterator[str]:
    """Yield the text without prefixes, in the spelling of ``identifier_text``."""
    bare = text.removeprefix(_PREFIX)
    plain = _TYPED.sub("", bare, count=1) if _TYPED.match(bare) else bare
    for form in (bare, plain, plain.removeprefix(_PREFIX)):
        yield form
        yield binary_text(form.encode("utf-8", "surrogatepass"))
        if _HEX.fullmatch(form):
            yield _bytes_text(bytes.fromhex(form))
        try:
            uuid = UUID(form)
        except ValueError:
            continue
        yield str(uuid)
        yield user_id_text(uuid.bytes) or ""


def id_text(typed: TypedValue) -> str | None:
    """Return the text of an id in a property; bytes may be a marshalled id of an OpenWire client."""
    if typed.kind is ValueKind.BYTES:
        return _bytes_text(typed.value)
    return identifier_text(typed)


def _bytes_text(raw: bytes) -> str:
    return _openwire_id(raw) or binary_text(raw)


def _openwire_id(raw: bytes) -> str | None:
    """Return a marshalled MessageId as ``connection:session:producer:number`` (docs/spec/messages.md 5), else None."""
    match = _OPENWIRE.search(raw[4:]) if raw[4:5] == b"\x6e" else None
    if match is None:
        return None
    size = int.from_bytes(match["size"], "big")
    numbers = match["rest"][size : size + 24]
    if len(numbers) < 24:
        return None
    value, session, sequence = (int.from_bytes(numbers[at : at + 8], "big", signed=True) for at in (0, 8, 16))
    connection = match["rest"][:size].decode("utf-8", "replace")
    return f"{connection}:{session}:{value}:{sequence}"
