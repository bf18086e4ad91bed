"""The text of a body, for people: what a text message holds, and bytes that are text to read (JSON, MQTT, STOMP)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pagefmt.codec.messages.amqp_sections import DATA, VALUE, decode_sections
from pagefmt.codec.messages.bodies import inflated, is_compressed, text_of
from pagefmt.codec.messages.core_fields import BYTES, DEFAULT, TEXT
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.large import BODY_LIMIT, LargeMessages, content_of
from pagefmt.codec.messages.values import ValueKind
from pagefmt.codec.wire import ByteReader, Undecodable

if TYPE_CHECKING:
    from pagefmt.codec.messages.amqp_sections import AmqpSections
    from pagefmt.codec.messages.persisted import Message

# Core types whose body is bytes of the sender's.
READABLE: Final = (DEFAULT, BYTES)
_TEXT: Final = re.compile(rb"[\t\n\r\x20-\x7e\x80-\xff]+")


def readable(raw: bytes) -> str | None:
    """Return the bytes as text, or None if they are not readable.

    Readable is valid UTF-8 of at least one character, without control characters except tab and line ends.
    """
    if not _TEXT.fullmatch(raw):
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return None


def core_text(kind: int, content: bytes) -> str | None:
    """Return the text of an uncompressed core body in the record, or None if its type has none.

    Raises ``Undecodable`` if the body of a text message is not a string.
    """
    if kind == TEXT:
        return text_of(content)
    return readable(content) if kind in READABLE else None


def amqp_text(sections: AmqpSections) -> str | None:
    """Return the single string value of a body, or its data sections if they are readable; else None."""
    body = sections.body
    if len(body) == 1 and body[0].descriptor == VALUE and body[0].value.kind is ValueKind.STRING:
        return str(body[0].value.value)
    data = [
        section.value.value for section in body if section.descriptor == DATA and section.value.kind is ValueKind.BYTES
    ]
    return readable(b"".join(data)) if data and len(data) == len(body) else None


def whole_text(message: Message, large: LargeMessages | None, limit: int = BODY_LIMIT) -> str | None:
    """Return the text of a body in the record or in a file, inflated if it is compressed; None if it has no text.

    Raises ``Undecodable`` or ``NotReadable`` if it cannot be read: damaged, file missing, more than ``limit`` bytes.
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
