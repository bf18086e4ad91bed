"""Messages and transactions as the broker prints them into its logs (docs/spec/trace-format.md 3.1).

CoreMessage[messageID=33, durable=true, userID=null, priority=9, timestamp=DATE, expiration=0, durable=true,
    address=orders, size=1128, properties=TypedProperties[k=v, k2=v2]]@HASH
LargeServerMessage[messageID=95,..., address=orders, properties=TypedProperties[_AMQ_LARGE_SIZE=12000, ...]]@HASH
AMQPStandardMessage( [durable=true, messageID=13, address=a, size=112, scanningStatus=SCANNED,
    applicationProperties={k=v}, messageAnnotations={}, properties=null, extraProperties = ..]
TransactionImpl [xid=X, txID=78, xid=X, state=COMMITTED, createTime=MS(DATE), timeoutSeconds=300, ...]@HASH
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from pageengine.model.amqp_encoding import body_bytes_within
from pageengine.model.message import DEFAULT_PRIORITY
from pageengine.model.sizes import header_bytes, properties_bytes
from pageengine.trace.client_protocols import MQTT_QOS, client_of, without_own
from pageengine.trace.operations import PLAIN_CLIENT, ClientOptions, ClientProtocol, MessageProperties, MessageProperty
from pagefmt.codec.messages.values import ValueKind

LARGE_SIZE = "_AMQ_LARGE_SIZE"
_MESSAGE = re.compile(
    r"\b\w{1,40}Message\w{0,20}\s?\[messageID=(?P<id>\d+),\s*durable=(?P<durable>true|false),\s*"
    r"userID=(?P<user>[^,]*),\s*priority=(?P<priority>\d+),\s*timestamp=(?P<stamp>[^,]*),\s*"
    r"expiration=(?P<expiration>[^,]*),\s*durable=(?:true|false),\s*address=(?P<address>.{0,1000}?)"
    r"(?:,\s*size=(?P<size>\d+))?,\s*properties=TypedProperties\[",
    re.DOTALL,
)
_AMQP_MESSAGE = re.compile(
    r"\bAMQP\w{1,40}Message\( \[durable=(?P<durable>true|false), messageID=(?P<id>\d+), "
    r"address=(?P<address>.{0,1000}?), size=(?P<size>\d+), (?:scanningStatus=\w+, )?applicationProperties=",
    re.DOTALL,
)
_DATE = re.compile(r"\w{3} (\w{3}) +(\d+) (\d\d):(\d\d):(\d\d) \S+ (\d{4})")
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_TRANSACTION = re.compile(r"TransactionImpl \[xid=(?P<xid>.{0,600}?), txID=(?P<id>\d+),.{0,600}?state=(?P<state>\w+),")
_TIMEOUT = re.compile(r"timeoutSeconds=(-?\d+)")
_XID = re.compile(r"XidImpl \(\S+ bq:(\S+) formatID:(-?\d+) gtxid:(\S+)")
# Between two properties, by the text of that: 2.28 writes no blank behind commas.
_NEXT_PROPERTY = {between: re.compile(rf"{between}(?=[^=,\[\]]+=)") for between in (", ", ",")}
_WITHOUT_BLANKS = re.compile(r"\w[^,]*,\S")
# Types of properties that a protocol adds, if the value alone does not show the type.
_TYPES = {
    "_AMQ_GROUP_SEQUENCE": ValueKind.INT,
    "_AMQ_ROUTING_TYPE": ValueKind.BYTE,
    "__HDR_COMMAND_ID": ValueKind.INT,
    MQTT_QOS: ValueKind.INT,
    "content-length": ValueKind.STRING,
    "destination": ValueKind.STRING,
    "receipt": ValueKind.STRING,
}
_WHOLE = re.compile(r"-?\d{1,18}")
_SMALL = re.compile(r"-?\d{1,9}")
_FRACTION = re.compile(r"-?\d+\.\d+(?:E-?\d+)?")


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """Message as a log prints it.

    ``body`` is in bytes, derived from the encoded size. ``uncertain``: the properties cannot be separated for sure, or
    the sizes do not add up.
    """

    id: int
    address: str
    durable: bool
    priority: int
    expire_ms: int
    body: int
    large: bool
    props: MessageProperties
    uncertain: bool
    protocol: ClientProtocol = ClientProtocol.CORE
    client: ClientOptions = PLAIN_CLIENT


@dataclass(frozen=True, slots=True)
class LoggedTransaction:
    """Transaction in a log; ``own``: the broker made it for one acknowledgement or send, not a client."""

    id: int
    xid: str | None
    state: str
    own: bool


def find_message(text: str) -> LoggedMessage | None:
    """Return the first message printed in a text, or None if none can be read."""
    amqp = _AMQP_MESSAGE.search(text)
    if amqp is not None:
        return _amqp_message(amqp, text)
    header = _MESSAGE.search(text)
    end = text.find("]]@", header.end()) if header is not None else -1
    if header is None or end < 0:
        return None
    props, uncertain = _properties(text[header.end() : end], _separator(text, header, end))
    large = next((item.value for item in props if item.name == LARGE_SIZE and isinstance(item.value, int)), None)
    props = MessageProperties(item for item in props if item.name != LARGE_SIZE)
    address, with_user = header["address"], header["user"] != "null"
    body = large if large is not None else _body(int(header["size"] or 0), address, with_user, props)
    protocol, client = client_of({item.name: item.value for item in props})
    props = without_own(protocol, props)
    return LoggedMessage(
        int(header["id"]),
        address,
        header["durable"] == "true",
        min(int(header["priority"]), 9),
        _expire_ms(header["stamp"], header["expiration"]),
        max(body, 0),
        large is not None,
        props,
        uncertain or body < 0 or (large is None and header["size"] is None),
        protocol,
        client,
    )


def _amqp_message(header: re.Match[str], text: str) -> LoggedMessage:
    end = text.find("}, messageAnnotations=", header.end())
    props, uncertain = _properties(text[header.end() + 1 : end], ", ") if end >= 0 else (MessageProperties(), True)
    durable = header["durable"] == "true"
    body = body_bytes_within(int(header["size"]), header["address"], durable, props)
    return LoggedMessage(
        int(header["id"]),
        header["address"],
        durable,
        DEFAULT_PRIORITY,
        0,
        max(body, 0),
        False,
        props,
        uncertain or body < 0,
        ClientProtocol.AMQP,
    )


def _separator(text: str, header: re.Match[str], end: int) -> str:
    """Return what stands between two properties. A large message has no blanks in its header, whatever the release."""
    if "Large" in header[0].partition("[")[0]:
        return ", " if _NEXT_PROPERTY[", "].search(text, header.end(), end) else ","
    return "," if _WITHOUT_BLANKS.match(header[0]) else ", "


def _properties(text: str, between: str) -> tuple[MessageProperties, bool]:
    """Return the properties of plain ``k=v`` pairs, their types guessed, and whether they are uncertain.

    They are uncertain if a value contains a separator, or if a name occurs twice.
    """
    properties: dict[str, MessageProperty] = {}
    uncertain = "]" in text or "[" in text
    for pair in _NEXT_PROPERTY[between].split(text) if text else ():
        name, mark, value = pair.partition("=")
        uncertain |= not mark or between in value or name in properties
        properties[name] = _guess(name, value)
    return MessageProperties(properties.values()), uncertain


def _guess(name: str, value: str) -> MessageProperty:
    if value == "NULL-value":
        return MessageProperty(name, ValueKind.NULL, None)
    kind = _TYPES.get(name)
    if kind is ValueKind.STRING or (kind is not None and _SMALL.fullmatch(value)):
        return MessageProperty(name, kind, value if kind is ValueKind.STRING else int(value))
    if value in ("true", "false"):
        return MessageProperty(name, ValueKind.BOOLEAN, value == "true")
    if _WHOLE.fullmatch(value):
        return MessageProperty(name, ValueKind.LONG, int(value))
    if _FRACTION.fullmatch(value):
        return MessageProperty(name, ValueKind.DOUBLE, float(value))
    return MessageProperty(name, ValueKind.STRING, value)


def _body(encoded: int, address: str, with_user: bool, props: MessageProperties) -> int:
    """Return the bytes of the body: the encoded size less what surrounds it in a core message.

    See docs/spec/paging-engine.md 1.3.
    """
    return encoded - 4 - header_bytes(address, properties_bytes(props), len(props)) - (16 if with_user else 0)


def _expire_ms(stamp: str, expiration: str) -> int:
    """Return the milliseconds from send to expiry, 0 for never; the log shows seconds only."""
    sent, expires = _seconds(stamp), _seconds(expiration)
    if expires is None:
        return 0
    return max((expires - sent) * 1000, 1) if sent is not None else 1


def _seconds(date: str) -> int | None:
    date_match = _DATE.fullmatch(date.strip())
    if date_match is None:
        return None
    month, day, hour, minute, second, year = date_match.groups()
    try:
        number = _MONTHS.index(month) // 4 + 1
        when = datetime(int(year), number, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    return int(when.timestamp())


def find_transaction(text: str) -> LoggedTransaction | None:
    """Return the first transaction printed in a text, or None."""
    match = _TRANSACTION.search(text)
    if match is None:
        return None
    timeout = _TIMEOUT.search(text, match.end())
    xid = _XID.search(match["xid"])
    return LoggedTransaction(
        int(match["id"]),
        f"{_plain(xid[3])}/{_plain(xid[1])}" if xid else None,
        match["state"],
        timeout is not None and timeout[1] == "-1",
    )


def _plain(numbers: str) -> str:
    """Return bytes printed as ``103.49`` decoded to text, or as printed if they are no text."""
    try:
        text = bytes(int(number) for number in numbers.split(".")).decode("ascii")
    except (ValueError, UnicodeDecodeError):
        return numbers
    return text if text.isprintable() else numbers
