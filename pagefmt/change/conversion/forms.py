"""Messages of HornetQ and Artemis 1.x in the form of 2.x: the body stays as it is, the header gets new names.

Source: docs/spec/messages.md 2 to 5, 14; docs/spec/page-files.md 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pagefmt.change.conversion.names import NewNames, new_property, routing_of
from pagefmt.codec.messages.amqp_message import AmqpLargeMessage
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage, HeaderBlock, decode_header_block
from pagefmt.codec.messages.core_message_old import OldCoreMessage, decode_old_core_message
from pagefmt.codec.messages.persisted import Message, encode_persisted, persister_of
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, TypedValue, ValueKind
from pagefmt.codec.pages.record import CORE_LARGE, ORDINARY, Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteReader, ByteWriter
from pagefmt.editions import Edition
from pagefmt.journal.bodies import DuplicateId, decode_body, encode_body
from pagefmt.journal.record_types import RecordType

ROUTING_TYPE: Final = "_AMQ_ROUTING_TYPE"
_ADDRESSES: Final = frozenset(("_AMQ_ORIG_ADDRESS", "_AMQ_ORIG_QUEUE"))
_REPLY_TO: Final = "JMSReplyTo"


@dataclass(frozen=True, slots=True)
class NewForm:
    """Rewrites messages and records for the new broker.

    ``edition``: of the broker that will start. ``old``: the layout of records is that of 1.x and HornetQ.
    """

    names: NewNames
    edition: Edition
    old: bool

    def record(self, record: PageRecord, address: str | None) -> bytes:
        """Return a page record in the new form, with its frame. ``address`` is used if the message names none."""
        message = self.message(record.message, address)
        large = record.large_type
        if isinstance(message, CoreLargeMessage):
            large = CORE_LARGE[0] if self.edition >= Edition.ARTEMIS_2_17 else CORE_LARGE[1]
        elif record.layout is Layout.OLD:
            large = ORDINARY
        return encode_record(
            PageRecord(0, 0, record.tx, large, Layout.NEW, persister_of(message), message, record.queues)
        )

    def stays(self, message: Message) -> bool:
        """Return whether the bytes of a record with this message are the same in the new form."""
        if isinstance(message, AmqpLargeMessage):
            return message.tail is not None or self.edition < Edition.ARTEMIS_2_17
        return not self.old and not isinstance(message, OldCoreMessage)

    def message(self, message: Message, address: str | None = None) -> Message:
        """Return the message in the new form. Raise ``Undecodable`` if its properties cannot be read."""
        match message:
            case OldCoreMessage():
                header = self.header(message.header, address)
                return CoreMessage(header.id, 1 if header.address else 0, header.address, message.body, header)
            case CoreLargeMessage() if self.old:
                return CoreLargeMessage(self.header(message.header, address))
            case AmqpLargeMessage() if not self.stays(message):
                return replace(message, tail=(message.expiration, 0))
        return message

    def header(self, header: HeaderBlock, address: str | None = None) -> HeaderBlock:
        """Return the header with the names of 2.x. A message to a JMS destination gets a routing type for its kind."""
        old = header.address if header.address is not None else address
        entries = [self._property(entry) for entry in header.properties_block().entries]
        routing = routing_of(old or "")
        if routing is not None and all(entry.name != ROUTING_TYPE for entry in entries):
            entries.append(Property(ROUTING_TYPE, TypedValue(ValueKind.BYTE, routing)))
        new = None if old is None else self.names.address(old)
        return replace(
            header,
            address_mark=0 if new is None else 1,
            address=new,
            durable_mark=int(header.durable_mark != 0),
            properties_bytes=properties_bytes(tuple(entries)),
        )

    def _property(self, entry: Property) -> Property:
        name, value = new_property(entry.name), entry.value
        if value.kind is ValueKind.STRING:
            if name in _ADDRESSES:
                value = TypedValue(ValueKind.STRING, self.names.address(str(value.value)))
            elif name == _REPLY_TO:
                value = TypedValue(ValueKind.STRING, self.names.reply_to(str(value.value)))
        return Property(name, value)

    def journal_body(self, user_type: int, body: bytes) -> tuple[int, bytes]:
        """Return type and body of a message journal record in the new form. Raise ``Undecodable``, ``BadBody``."""
        out = ByteWriter()
        if user_type == RecordType.ADD_MESSAGE:
            encode_persisted(out, self.message(decode_old_core_message(ByteReader(body))))
            return RecordType.ADD_MESSAGE_PROTOCOL, out.done()
        if user_type == RecordType.ADD_LARGE_MESSAGE and self.old:
            self.header(decode_header_block(ByteReader(body))).encode(out)
            return user_type, out.done()
        if user_type == RecordType.DUPLICATE_ID and self.old:
            duplicate = decode_body(user_type, body)
            assert isinstance(duplicate, DuplicateId)
            return user_type, encode_body(DuplicateId(self.names.cache(duplicate.address), duplicate.id))
        return user_type, body


# types of records that ``journal_body`` may change or fail to decode
CHANGED: Final = (RecordType.ADD_MESSAGE, RecordType.ADD_LARGE_MESSAGE, RecordType.DUPLICATE_ID)
