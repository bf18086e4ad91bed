"""Messages as they arrive from clients of AMQP, OpenWire, STOMP and MQTT: how many bytes each of them is.

Source: docs/spec/protocols.md 1.1. Properties of a send are counted as those of a core message.
"""

from __future__ import annotations

from pageengine.broker.broker import Broker
from pageengine.model.message import RESERVED, Message
from pageengine.model.sizes import header_bytes, payload_bytes, property_bytes, string_bytes
from pageengine.trace.operations import MessageProperty, Send
from pagefmt.messages.values import ValueKind

NS_PER_MS = 1_000_000
PROPERTY_SLOT = 8
"""In memory a property is so much larger than encoded."""

AMQP_ADDRESS = 28
AMQP_RECORD = 20
AMQP_LARGE_RECORD = 57
OPENWIRE_SIZE = 1024
OPENWIRE_USER_ID = 16
OPENWIRE_PROPERTIES = 9
OPENWIRE_BYTES = 535
OPENWIRE_ID_DIGIT = 2
STOMP_BUFFER = 512
MQTT_CLIENT = "recorder"
"""Of the recordings; each letter more is four bytes of memory."""


def amqp_message(broker: Broker, send: Send, size: int, min_large: int, *, anonymous: bool) -> Message:
    """A message of ``size`` encoded bytes; from ``min_large`` on its bytes are a file of their own."""
    offset = broker.profile.message_offset
    address = 0 if anonymous else AMQP_ADDRESS + 2 * len(send.address)
    large = 0 < min_large <= size
    mem = 2 * offset + address if large else offset + size
    extra = AMQP_LARGE_RECORD + string_bytes(send.address) - 4 if large else AMQP_RECORD
    return _message(broker, send, size, mem, large, extra + address)


def openwire_message(broker: Broker, send: Send, number: int) -> Message:
    """The message with this number (from 1) of its producer; its id has it in digits."""
    body = payload_bytes(send)
    total = OPENWIRE_BYTES + OPENWIRE_ID_DIGIT * len(str(number)) + sum(map(property_bytes, send.props))
    count = OPENWIRE_PROPERTIES + len(send.props)
    enc = 4 + body + header_bytes(send.address, total, count) + OPENWIRE_USER_ID
    mem = broker.profile.message_offset + max(OPENWIRE_SIZE + body, enc) + total + PROPERTY_SLOT * count
    return _message(broker, send, enc, mem)


def stomp_message(broker: Broker, send: Send, receipt: str | None) -> Message:
    """Headers that STOMP itself does not use are properties: also destination, content-length and receipt."""
    headers = [("destination", send.address), ("content-length", str(payload_bytes(send)))]
    if receipt is not None:
        headers.append(("receipt", receipt))
    props = [MessageProperty(name, ValueKind.STRING, text) for name, text in headers]
    return _core_message(broker, send, props, STOMP_BUFFER)


def mqtt_message(broker: Broker, send: Send, qos: int) -> Message:
    """Quality of service, retained and the client's id are properties; since 2.44 the routing type, too."""
    props = [
        MessageProperty("mqtt.qos.level", ValueKind.INT, qos),
        MessageProperty("mqtt.message.retain", ValueKind.BOOLEAN, False),
        MessageProperty("__AMQ_CID", ValueKind.STRING, MQTT_CLIENT),
    ]
    if broker.profile.mqtt_names_routing:
        props.append(MessageProperty("_AMQ_ROUTING_TYPE", ValueKind.BYTE, 0))
    return _core_message(broker, send, props, 4 + payload_bytes(send))


def _core_message(broker: Broker, send: Send, props: list[MessageProperty], buffer: int) -> Message:
    """``buffer``: bytes of the one that the body is written to. It grows to a power of two, then to what it holds."""
    total = sum(map(property_bytes, props)) + sum(map(property_bytes, send.props))
    count = len(props) + len(send.props)
    body = 4 + payload_bytes(send)
    enc = body + header_bytes(send.address, total, count)
    room = max(buffer if body <= buffer else 1 << (body - 1).bit_length(), enc)
    return _message(broker, send, enc, broker.profile.message_offset + room + total + PROPERTY_SLOT * count)


def _message(broker: Broker, send: Send, enc: int, mem: int, large: bool = False, record_extra: int = 0) -> Message:
    expiration = 0
    if send.expire_ms:
        expiration = broker.now + send.expire_ms * NS_PER_MS
        broker.expiring = True
    special = any(one.name.startswith(RESERVED) for one in send.props)
    message = Message(broker.next_id(), send.address, expiration, send.props, enc, mem, True, large, send, special)
    message.record_extra = record_extra
    return message
