"""Messages and transactions as the broker prints them into its logs (docs/spec/trace-format.md 3.1).

CoreMessage[messageID=33, durable=true, userID=null, priority=9, timestamp=DATE, expiration=0, durable=true,
    address=orders, size=1128, properties=TypedProperties[k=v, k2=v2]]@HASH
LargeServerMessage[messageID=95,..., address=orders, properties=TypedProperties[_AMQ_LARGE_SIZE=12000, ...]]@HASH
TransactionImpl [xid=X, txID=78, xid=X, state=COMMITTED, createTime=MS(DATE), timeoutSeconds=300, ...]@HASH
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from pageengine.model.sizes import header_bytes, properties_bytes
from pageengine.trace.operations import MessageProperties, MessageProperty
from pagefmt.messages.values import ValueKind

LARGE_SIZE = "_AMQ_LARGE_SIZE"
_MESSAGE = re.compile(
    r"\b\w{1,40}Message\w{0,20}\s?\[messageID=(?P<id>\d+),\s*durable=(?P<durable>true|false),\s*"
    r"userID=(?P<user>[^,]*),\s*priority=(?P<priority>\d+),\s*timestamp=(?P<stamp>[^,]*),\s*"
    r"expiration=(?P<expiration>[^,]*),\s*durable=(?:true|false),\s*address=(?P<address>.{0,1000}?)"
    r"(?:,\s*size=(?P<size>\d+))?,\s*properties=TypedProperties\[",
    re.DOTALL,
)
_DATE = re.compile(r"\w{3} (\w{3}) +(\d+) (\d\d):(\d\d):(\d\d) \S+ (\d{4})")
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_TRANSACTION = re.compile(r"TransactionImpl \[xid=(?P<xid>.{0,600}?), txID=(?P<id>\d+),.{0,600}?state=(?P<state>\w+),")
_TIMEOUT = re.compile(r"timeoutSeconds=(-?\d+)")
_XID = re.compile(r"XidImpl \(\S+ bq:(\S+) formatID:(-?\d+) gtxid:(\S+)")
_NEXT_PROPERTY = re.compile(r", (?=[^=,\[\]]+=)")
_WHOLE = re.compile(r"-?\d{1,18}")
_FRACTION = re.compile(r"-?\d+\.\d+(?:E-?\d+)?")


@dataclass(frozen=True, slots=True)
class LoggedMessage:
    """What a log says of a message. ``body``: bytes, worked out from the encoded size; ``uncertain``: the properties
    cannot be told apart for sure, or the sizes do not add up."""

    id: int
    address: str
    durable: bool
    priority: int
    expire_ms: int
    body: int
    large: bool
    props: MessageProperties
    uncertain: bool


@dataclass(frozen=True, slots=True)
class LoggedTransaction:
    """``own``: a transaction the broker made for one acknowledgement or send, not a client's."""

    id: int
    xid: str | None
    state: str
    own: bool


def find_message(text: str) -> LoggedMessage | None:
    """The first message printed in a text, None if there is none that can be read."""
    found = _MESSAGE.search(text)
    end = text.find("]]@", found.end()) if found is not None else -1
    if found is None or end < 0:
        return None
    props, uncertain = _properties(text[found.end() : end])
    large = next((one.value for one in props if one.name == LARGE_SIZE and isinstance(one.value, int)), None)
    props = MessageProperties(one for one in props if one.name != LARGE_SIZE)
    address, with_user = found["address"], found["user"] != "null"
    body = large if large is not None else _body(int(found["size"] or 0), address, with_user, props)
    return LoggedMessage(
        int(found["id"]),
        address,
        found["durable"] == "true",
        min(int(found["priority"]), 9),
        _expire_ms(found["stamp"], found["expiration"]),
        max(body, 0),
        large is not None,
        props,
        uncertain or body < 0 or (large is None and found["size"] is None),
    )


def _properties(text: str) -> tuple[MessageProperties, bool]:
    """Plain ``k=v`` pairs; types are guessed. Uncertain: a value that holds a separator, or one name twice."""
    found: dict[str, MessageProperty] = {}
    uncertain = "]" in text or "[" in text
    for pair in _NEXT_PROPERTY.split(text) if text else ():
        name, mark, value = pair.partition("=")
        uncertain |= not mark or ", " in value or name in found
        found[name] = _guess(name, value)
    return MessageProperties(found.values()), uncertain


def _guess(name: str, value: str) -> MessageProperty:
    if value == "NULL-value":
        return MessageProperty(name, ValueKind.NULL, None)
    if value in ("true", "false"):
        return MessageProperty(name, ValueKind.BOOLEAN, value == "true")
    if _WHOLE.fullmatch(value):
        return MessageProperty(name, ValueKind.LONG, int(value))
    if _FRACTION.fullmatch(value):
        return MessageProperty(name, ValueKind.DOUBLE, float(value))
    return MessageProperty(name, ValueKind.STRING, value)


def _body(encoded: int, address: str, with_user: bool, props: MessageProperties) -> int:
    """Body bytes: the encoded size less what a core message has around it (docs/spec/paging-engine.md 1.3)."""
    return encoded - 4 - header_bytes(address, properties_bytes(props), len(props)) - (16 if with_user else 0)


def _expire_ms(stamp: str, expiration: str) -> int:
    """Milliseconds from send to expiry; the log shows seconds only. 0: never."""
    sent, expires = _seconds(stamp), _seconds(expiration)
    if expires is None:
        return 0
    return max((expires - sent) * 1000, 1) if sent is not None else 1


def _seconds(date: str) -> int | None:
    found = _DATE.fullmatch(date.strip())
    if found is None:
        return None
    month, day, hour, minute, second, year = found.groups()
    try:
        number = _MONTHS.index(month) // 4 + 1
        when = datetime(int(year), number, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    return int(when.timestamp())


def find_transaction(text: str) -> LoggedTransaction | None:
    """The first transaction printed in a text."""
    found = _TRANSACTION.search(text)
    if found is None:
        return None
    timeout = _TIMEOUT.search(text, found.end())
    xid = _XID.search(found["xid"])
    return LoggedTransaction(
        int(found["id"]),
        f"{_plain(xid[3])}/{_plain(xid[1])}" if xid else None,
        found["state"],
        timeout is not None and timeout[1] == "-1",
    )


def _plain(numbers: str) -> str:
    """Bytes printed as ``103.49`` as text where they are text."""
    try:
        text = bytes(int(one) for one in numbers.split(".")).decode("ascii")
    except (ValueError, UnicodeDecodeError):
        return numbers
    return text if text.isprintable() else numbers
