"""The text of a body, for people: what a text message holds, and bytes that are text to read (JSON, MQTT, STOMP)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pagefmt.bytes.wire import ByteReader, Undecodable
from pagefmt.messages.amqp_sections import DATA, VALUE, decode_sections
from pagefmt.messages.bodies import inflated, is_compressed, text_of
from pagefmt.messages.core_fields import BYTES, DEFAULT, TEXT
from pagefmt.messages.core_message import CoreLargeMessage, CoreMessage
from pagefmt.messages.core_message_old import OldCoreMessage
from pagefmt.messages.large import BODY_LIMIT, LargeMessages, content_of
from pagefmt.messages.values import ValueKind

if TYPE_CHECKING:
    from pagefmt.messages.amqp_sections import AmqpSections
    from pagefmt.messages.persisted import Message

READABLE: Final = (DEFAULT, BYTES)
"""Core types whose body is bytes of the sender's."""
_TEXT: Final = re.compile(rb"[\t\n\r\x20-\x7e\x80-\xff]+")


def readable(raw: bytes) -> str | None:
    """The bytes as UTF-8 where they are: valid, no control characters but tab and line ends, at least one character."""
    if not _TEXT.fullmatch(raw):
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def core_text(kind: int, content: bytes) -> str | None:
    """The text of a core body, neither compressed nor in a file. Raises ``Undecodable`` where a text message's body
    holds none."""
    if kind == TEXT:
        return text_of(content)
    return readable(content) if kind in READABLE else None


def amqp_text(sections: AmqpSections) -> str | None:
    """The one string value of a body, or its data sections where they are text to read."""
    body = sections.body
    if len(body) == 1 and body[0].descriptor == VALUE and body[0].value.kind is ValueKind.STRING:
        return str(body[0].value.value)
    data = [each.value.value for each in body if each.descriptor == DATA and each.value.kind is ValueKind.BYTES]
    return readable(b"".join(data)) if data and len(data) == len(body) else None


def whole_text(message: Message, large: LargeMessages | None, limit: int = BODY_LIMIT) -> str | None:
    """The text wherever it lies, inflated where it is compressed.

    Raises ``Undecodable`` and ``NotReadable`` where it cannot be had: damaged, no file, more than ``limit`` bytes.
    """
    content = message.body if isinstance(message, CoreMessage | OldCoreMessage) else None
    if message.large:
        content = content_of(large.find(message.id) if large else None, limit)
        if content is None:
            raise Undecodable(0, "the file with the body is missing")
    if isinstance(message, CoreMessage | OldCoreMessage | CoreLargeMessage):
        assert content is not None
        if is_compressed(message.properties()):
            content = inflated(content, limit)
        return core_text(message.type, content)
    if content is None:
        return amqp_text(message.sections())
    return amqp_text(decode_sections(ByteReader(content)))
