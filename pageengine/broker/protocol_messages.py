"""Messages as they arrive from clients of AMQP, OpenWire, STOMP and MQTT, with their sizes in bytes.

Source: docs/spec/protocols.md 1.1.
"""

from __future__ import annotations

from msgspec.structs import replace

from pageengine.broker.broker import Broker
from pageengine.model.amqp_encoding import sections_before_body
from pageengine.model.message import RESERVED, AmqpKind, Message
from pageengine.model.sizes import header_bytes, payload_bytes, properties_bytes, string_bytes
from pageengine.trace.operations import MessageProperty, MessageType, Send
from pagefmt.codec.messages.values import ValueKind

# Bytes by which a property is larger in memory than encoded.
PROPERTY_SLOT = 8

AMQP_ADDRESS = 28
AMQP_RECORD = 20
AMQP_LARGE_RECORD = 57
OPENWIRE_SIZE = 1024
OPENWIRE_USER_ID = 16
OPENWIRE_CLIENT = "r-00000-0000000000000-0:1"
# As long as the ids in the recordings.
OPENWIRE_PRODUCER = "c-00000-0000000000000-0:1:1:1"
OPENWIRE_PROPERTIES = (
    MessageProperty("__AMQ_CID", ValueKind.STRING, OPENWIRE_CLIENT),
    MessageProperty("_AMQ_GROUP_SEQUENCE", ValueKind.INT, 0),
    MessageProperty("__HDR_BROKER_IN_TIME", ValueKind.LONG, 0),
    MessageProperty("_AMQ_ROUTING_TYPE", ValueKind.BYTE, 1),
    MessageProperty("__HDR_ARRIVAL", ValueKind.LONG, 0),
    MessageProperty("__HDR_PRODUCER_ID", ValueKind.STRING, OPENWIRE_PRODUCER),
    MessageProperty("__HDR_DROPPABLE", ValueKind.BOOLEAN, False),
)
STOMP_BUFFER = 512
# Client id of the recordings; each additional letter takes four bytes of memory.
MQTT_CLIENT = "recorder"


def amqp_message(broker: Broker, send: Send, size: int, min_large: int, *, anonymous: bool) -> Message:
    """Return a message of ``size`` encoded bytes; from ``min_large`` on it is a large message."""
    offset = broker.profile.message_offset
    large = 0 < min_large <= size
    named = not anonymous or (large and broker.profile.large_amqp_names_address)
    address = AMQP_ADDRESS + 2 * len(send.address) if named else 0
    mem = 2 * offset + address if large else offset + size
    extra = AMQP_RECORD
    if large:
        # each section that is not there takes a byte that says so
        sections = sections_before_body(send.durable, send.address if anonymous else None, send.props)
        extra = AMQP_LARGE_RECORD + string_bytes(send.address) - 4 + sections.count(b"")
    message = _message(broker, send, send.props, size, mem, large)
    message.amqp = AmqpKind.ANONYMOUS if anonymous else AmqpKind.TO_ADDRESS
    message.record_extra = extra + address
    return message


def openwire_message(broker: Broker, send: Send, number: int) -> Message:
    """Return the message with this number (from 1) of its producer; its id contains the digits."""
    props = (
        *OPENWIRE_PROPERTIES,
        MessageProperty("__HDR_COMMAND_ID", ValueKind.INT, number),
        MessageProperty("__HDR_MESSAGE_ID", ValueKind.STRING, f"{OPENWIRE_PRODUCER}:{number}"),
    )
    buffer = OPENWIRE_SIZE + payload_bytes(send)
    message = _core_message(broker, send, props, buffer, OPENWIRE_USER_ID)
    message.user_id = message.id.to_bytes(OPENWIRE_USER_ID, "big")
    return message


def stomp_message(broker: Broker, send: Send, receipt: str | None) -> Message:
    """Return the message of a STOMP send.

    Headers that STOMP itself does not use become properties, and so do destination, content-length and receipt.
    """
    headers = [("destination", send.address), ("content-length", str(payload_bytes(send)))]
    if receipt is not None:
        headers.append(("receipt", receipt))
    props = tuple(MessageProperty(name, ValueKind.STRING, text) for name, text in headers)
    return _core_message(broker, send, props, STOMP_BUFFER)


def mqtt_message(broker: Broker, send: Send, qos: int, *, exact: bool) -> Message:
    """Return the message of an MQTT publish.

    Quality of service, retained and the client's id are properties; since 2.44 the routing type, too. ``exact``: the
    buffer has the body's size at first, else the power of two that contains the body.
    """
    props: tuple[MessageProperty, ...] = (
        MessageProperty("mqtt.qos.level", ValueKind.INT, qos),
        MessageProperty("mqtt.message.retain", ValueKind.BOOLEAN, False),
        MessageProperty("__AMQ_CID", ValueKind.STRING, MQTT_CLIENT),
    )
    if broker.profile.mqtt_names_routing:
        props = (*props, MessageProperty("_AMQ_ROUTING_TYPE", ValueKind.BYTE, 0))
    return _core_message(broker, send, props, 4 + payload_bytes(send) if exact else 0)


def _core_message(
    broker: Broker, send: Send, own: tuple[MessageProperty, ...], buffer: int, user_id: int = 0
) -> Message:
    """Return a core message for one of another protocol.

    ``own`` are properties that the broker adds. ``buffer`` is the initial size in bytes of the buffer for the body; it
    grows to a power of two, then to what it holds.
    """
    props = (*own, *send.props)
    total = properties_bytes(props)
    body = 4 + payload_bytes(send)
    enc = body + header_bytes(send.address, total, len(props)) + user_id
    room = max(buffer if body <= buffer else 1 << (body - 1).bit_length(), enc)
    mem = broker.profile.message_offset + room + total + PROPERTY_SLOT * len(props)
    return _message(broker, send, props, enc, mem)


def _message(
    broker: Broker, send: Send, props: tuple[MessageProperty, ...], enc: int, mem: int, large: bool = False
) -> Message:
    expiration = broker.expires_after(send.expire_ms) if send.expire_ms else 0
    special = any(item.name.startswith(RESERVED) for item in send.props)
    if send.text is not None or send.type is MessageType.TEXT:
        body = send.text.encode() if send.text is not None else None
        send = replace(send, type=MessageType.BYTES, text=None, body=body)
    return Message(broker.next_id(), send.address, expiration, props, enc, mem, True, large, send, special)
