"""Large paging directories for measurements, written with the project's own encoders.

Sets: ``a`` 1 KiB core messages with 6 properties, ``b`` 200 byte core messages with 10, ``c`` 1 KiB AMQP messages,
``p`` as ``a`` with ten priorities, ``s`` AMQP messages of 64 shapes among one another, ``m`` what an application of
several protocols leaves: core text, bytes and map messages, and AMQP of ``c`` and ``s``; two queues each, pages of
10 MiB. Every message has its own id, timestamp, sequence number and texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from struct import pack

from pagefmt.codec.messages.amqp_message import AmqpMessage, decode_extra
from pagefmt.codec.messages.core_message import CoreMessage, HeaderBlock
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, TypedValue, string
from pagefmt.codec.messages.values import ValueKind as Type
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteReader, ByteWriter
from pagefmt.directory.bindings import AddressBinding, QueueBinding, encode_address, encode_queue
from pagefmt.directory.paging import page_name
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal

PAGE = 10 << 20
QUEUES = (3, 7)
FOLDER = "6f1d5a00-0000-11f0-8000-000000000001"
ADDRESS = "orders"
COLORS = ("red", "green", "blue", "black", "white")
START = 1_700_000_000_000


def core(
    number: int, body: int, properties: int, priority: int = 4, kind: int = 4, content: bytes | None = None
) -> CoreMessage:
    entries = [
        Property("seq", TypedValue(Type.INT, number)),
        Property("color", string(COLORS[number % 5])),
        Property("order.id", string(f"order-{number:09d}")),
        Property("customer", string(f"customer {number % 997}")),
        Property("amount", TypedValue(Type.LONG, number * 37)),
        Property("express", TypedValue(Type.BOOLEAN, number % 3 == 0, number % 3 == 0)),
    ]
    entries += [Property(f"attribute{n}", string(f"value {n} of {number}")) for n in range(properties - 6)]
    if content is None:
        content = (bytes((number + n) & 0xFF for n in range(64)) * (body // 64 + 1))[:body]
    block = properties_bytes(tuple(entries))
    header = HeaderBlock(1000 + number, 1, ADDRESS, 0, None, kind, 1, 0, START + number, priority, block)
    return CoreMessage(1000 + number, 1, ADDRESS, content, header)


def nullable(text: str) -> bytes:
    out = ByteWriter()
    out.nsstr(text)
    return out.done()


def amqp_string(text: str) -> bytes:
    return bytes((0xA1, len(text))) + text.encode()


def amqp(number: int) -> AmqpMessage:
    header = bytes.fromhex("005370c0020141")
    marks = b"\xa3\x12x-opt-jms-msg-type\x51\x05\xa3\x0ex-opt-jms-dest\x51\x00"
    annotations = b"\x00\x53\x72\xc1" + bytes((len(marks) + 1, 4)) + marks
    fields = amqp_string(f"ID:sender-1:{number}") + b"\x40" + amqp_string(ADDRESS) + b"\x40\x40"
    fields += amqp_string(f"c-{number}") + b"\x40\x40\x40\x83" + pack(">q", START + number)
    properties = b"\x00\x53\x73\xc0" + bytes((len(fields) + 1, 10)) + fields
    pairs = amqp_string("seq") + b"\x71" + pack(">i", number) + amqp_string("color") + amqp_string(COLORS[number % 5])
    pairs += (
        amqp_string("amount") + b"\x81" + pack(">q", number * 37) + amqp_string("order") + amqp_string(f"o{number}")
    )
    application = b"\x00\x53\x74\xd1" + pack(">II", len(pairs) + 4, 8) + pairs
    body = b"\x00\x53\x77\xb1" + pack(">I", 1024) + (f"text {number} " * 150).encode()[:1024]
    return amqp_message(number, header + annotations + properties + application + body)


def amqp_message(number: int, encoded: bytes) -> AmqpMessage:
    block = properties_bytes((Property("_AMQ_AD", string(ADDRESS)),))
    extra = decode_extra(ByteReader(pack(">i", len(block)) + block))
    return AmqpMessage(5, 1000 + number, 0, 1, ADDRESS, encoded, extra, 0)


def shaped(number: int) -> AmqpMessage:
    """Return a message of one of 64 shapes in irregular order.

    They differ in sections, fields, application properties and kind of body.
    """
    shape = (number * 2654435761 >> 7) % 64
    text = amqp_string(f"ID:{shape}:{number}")
    sections = (
        [bytes.fromhex("005370c0020141")]
        if shape & 1
        else [bytes.fromhex("005370c00b05415005") + b"\x70\x00\x01\x86\xa0\x40\x43"]
    )
    if shape & 2:
        pairs = b"\xa3\x12x-opt-jms-msg-type\x51\x05\xa3\x0ex-opt-jms-dest\x51\x00"
        sections.append(b"\x00\x53\x72" + amqp_block(0xC1, 4, pairs))
    fields = [text, b"\x40", amqp_string(ADDRESS)]
    if shape & 4:
        fields += [amqp_string("a subject"), b"\x40", amqp_string(f"c-{number}")]
    if shape & 8:
        fields += [b"\x40"] * (6 - len(fields)) + [b"\xa3\x0atext/plain", b"\x40", b"\x40"]
        fields.append(b"\x83" + pack(">q", START + number))
    sections.append(b"\x00\x53\x73" + amqp_block(0xC0, len(fields), b"".join(fields)))
    values = [
        b"\x71" + pack(">i", number),
        amqp_string(COLORS[number % 5]),
        b"\x81" + pack(">q", number * 37),
        b"\x41",
        b"\x82" + pack(">d", number / 7),
        amqp_string(f"o{number}"),
        b"\x54\x07",
    ]
    names = ["seq", "color", "amount", "express", "weight", "order", f"attribute{shape % 7}"]
    chosen = [n for n in range(7) if (shape * 37 + n * 11) % 5 > shape >> 5]
    pairs = b"".join(amqp_string(names[n]) + values[n] for n in chosen)
    sections.append(b"\x00\x53\x74" + amqp_block(0xD1, 2 * len(chosen), pairs))
    content = (f"text {number} " * 150).encode()[: 300 + 100 * (shape % 8)]
    body = (b"\x00\x53\x75\xb0", b"\x00\x53\x77\xb1", b"\x00\x53\x77\xb0", b"\x00\x53\x75\xb0")[shape >> 4]
    sections.append(body + pack(">I", len(content)) + content)
    return amqp_message(number, b"".join(sections))


def amqp_block(code: int, count: int, content: bytes) -> bytes:
    """Encode an AMQP list or map; the constructor's bit 0x10 selects sizes of four bytes instead of one."""
    if code & 0x10:
        return bytes((code,)) + pack(">II", len(content) + 4, count) + content
    return bytes((code, len(content) + 1, count)) + content


def mixed(number: int) -> CoreMessage | AmqpMessage:
    match number * 2654435761 >> 9 & 7:
        case 0 | 1:
            return core(number, 1024, 6)
        case 2 | 3:
            return core(number, 0, 6, kind=3, content=nullable(f"text {number} " * 60))
        case 4:
            entries = tuple(Property(f"key{n}", string(f"value {n} of {number}")) for n in range(12))
            return core(number, 0, 6, kind=5, content=properties_bytes(entries))
        case 5:
            return amqp(number)
        case _:
            return shaped(number)


SETS: dict[str, Callable[[int], CoreMessage | AmqpMessage]] = {
    "a": lambda number: core(number, 1024, 6),
    "b": lambda number: core(number, 200, 10),
    "c": amqp,
    "p": lambda number: core(number, 1024, 6, number % 10),
    "s": shaped,
    "m": mixed,
}


def records(make: Callable[[int], CoreMessage | AmqpMessage], queues: tuple[int, ...] = QUEUES) -> Iterator[bytes]:
    number = 0
    while True:
        message = make(number)
        persister = 5 if isinstance(message, AmqpMessage) else 1
        yield encode_record(PageRecord(0, 0, -1, 0, Layout.NEW, persister, message, queues))
        number += 1


def record(number: int, kind: RecordType, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.ADD, id=number, user_type=int(kind), body=body)


def write_bindings(folder: Path, queues: tuple[int, ...] = QUEUES) -> None:
    """Write bindings with multicast queues on the address, and an empty journal."""
    settings = {
        "filter": None,
        "metadata": "",
        "auto_created": 0,
        "max_consumers": -1,
        "purge_on_no_consumers": 0,
        "routing_type": 0,
        "exclusive": 0,
        "last_value": 0,
        "configuration_managed": 0,
        "consumers_before_dispatch": 0,
        "delay_before_dispatch": -1,
        "last_value_key": None,
        "non_destructive": 0,
        "group_rebalance": 0,
        "group_buckets": -1,
        "auto_delete": 0,
        "auto_delete_delay": 0,
        "auto_delete_message_count": 0,
        "group_first_key": None,
        "ring_size": -1,
        "enabled": 1,
        "group_rebalance_pause_dispatch": 0,
        "internal": 0,
    }
    found = [record(2, RecordType.ADDRESS_BINDING_RECORD, encode_address(AddressBinding(2, ADDRESS, (0,), 0, 0)))]
    for queue in queues:
        binding = QueueBinding(queue, {"name": f"{ADDRESS}.{queue}", "address": ADDRESS, **settings})
        found.append(record(queue, RecordType.QUEUE_BINDING_RECORD, encode_queue(binding)))
    for name, pattern, content in (
        ("bindings", "activemq-bindings-{}.bindings", found),
        ("journal", "activemq-data-{}.amq", []),
    ):
        (folder / name).mkdir(parents=True)
        write_journal(folder / name, pattern, content)
    (folder / "large-messages").mkdir()


def write(folder: Path, name: str, megabytes: int, queues: tuple[int, ...] = QUEUES) -> int:
    """Write a data directory with one store of about ``megabytes`` MB and return its number of messages."""
    store = folder / "paging" / FOLDER
    store.mkdir(parents=True)
    (store / "address.txt").write_text(ADDRESS + "\n")
    write_bindings(folder, queues)
    source, messages, page = records(SETS[name], queues), 0, 1
    held = next(source)
    while (page - 1) * PAGE < megabytes * 1_000_000:
        content = bytearray()
        while len(content) + len(held) <= PAGE:
            content += held
            held = next(source)
            messages += 1
        (store / page_name(page)).write_bytes(content)
        page += 1
    return messages
