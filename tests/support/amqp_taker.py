"""A client that takes all messages of a queue of a real broker over AMQP: their bytes, and what they say.

Proton reads the sections, so that no decoder of the product judges itself.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, NamedTuple

from proton import Data, DataException, Delivery, Handler, Timeout
from proton.utils import BlockingConnection, LinkDetached

HEADER, DELIVERY, ANNOTATIONS, PROPERTIES, APPLICATION = range(0x70, 0x75)
OWN = "_AMQ_DUPL_ID"


def taken(url: str, address: str, count: int, seconds: float = 2.0) -> list[bytes]:
    """Receive up to ``count`` messages as bytes, and stop early if none arrives for ``seconds``."""
    connection = BlockingConnection(url, timeout=30)
    found: list[bytes] = []
    try:
        link = connection.create_receiver(address, credit=100, handler=Handler()).link
        while len(found) < count:
            connection.wait(lambda: link.current is not None and not link.current.partial, timeout=seconds)
            delivery = link.current
            found.append(link.recv(delivery.pending))
            link.advance()
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()
            link.flow(1)
    except (Timeout, LinkDetached) as err:
        if isinstance(err, LinkDetached):
            print(f"{address}: {err}", flush=True)
    finally:
        connection.close()
    return found


class Said(NamedTuple):
    """The content of an AMQP message in comparable form.

    ``bare`` is the bytes of the application's sections, without the annotations and the duplicate id. ``text``
    describes all sections in one line, with map keys sorted.
    """

    bare: bytes
    text: str
    priority: int


def said(message: bytes) -> Said:
    """Describe a message without what differs at each delivery: remaining time, delivery count, duplicate id."""
    bare, found, at, priority = b"", [], 0, 4
    while at < len(message):
        data = Data()
        try:
            end = at + data.decode(message[at:])
        except DataException:  # Proton does not know all that AMQP allows: the rest as its bytes
            rest = _without_own(bytes(message[at:]))
            bare += rest
            found.append(rest.hex())
            break
        data.rewind()
        data.next()
        described = data.get_py_described()
        code, value = int(described.descriptor), _plain(described.value)
        section = bytes(message[at:end])
        if code == HEADER:
            durable, level, ttl, first, _ = [*value, None, None, None, None, None][:5]
            priority = priority if level is None else int(level)
            value = (bool(durable), priority, ttl is not None, bool(first))
        elif code == APPLICATION:
            section = _without_own(section)
            for name in ("JMSXDeliveryCount", "_AMQ_LARGE_SIZE"):  # of a broker that converts
                value.pop(name, None)
            if str(value.get(OWN, "")).startswith("pagectl-"):
                del value[OWN]
        if isinstance(value, dict):
            value = sorted(map(repr, value.items()))
        if code > ANNOTATIONS and (code != APPLICATION or value):
            bare += section
        if not isinstance(value, list) or value or code > APPLICATION:
            text = repr(value)
            found.append(f"{code:#x} {text if len(text) < 1000 else hashlib.sha256(text.encode()).hexdigest()}")
        at = end
    if not any(each.startswith("0x70") for each in found):
        found.insert(0, f"0x70 {(False, 4, False, False)!r}")
    return Said(bare, " ".join(found), priority)


def _without_own(section: bytes) -> bytes:
    """Remove the entry of the duplicate id from an encoded map, and return the encoded entries."""
    entries = bytes(section[3 + (3 if section[3] == 0xC1 else 9) :])
    return re.sub(rb"(?s)(\xa1.|\xb1....)" + OWN.encode() + rb"(\xa1.|\xb1....)pagectl-[0-9a-f]{32}", b"", entries)


def _plain(value: Any) -> Any:
    """Return the value with bytes in place of memory views, also inside containers."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, dict):
        return {_plain(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
