"""Pages of AMQP messages made here: one application's messages, and others that break their structure."""

from __future__ import annotations

from functools import cache
from random import Random
from struct import pack

from pagefmt.codec.messages.amqp_message import AmqpMessage, ExtraProperties, decode_extra
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, string
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteReader


def text(value: str | bytes, code: int = 0xA1) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return bytes((code,)) + (pack(">I", len(raw)) if code & 0x10 else bytes((len(raw),))) + raw


def section(kind: int, value: bytes) -> bytes:
    return bytes((0, 0x53, 0x70 + kind)) + value


def compound(code: int, *items: bytes) -> bytes:
    """Encode an AMQP list or map; the constructor's bit 0x10 selects sizes of four bytes instead of one."""
    content = b"".join(items)
    if code & 0x10:
        return bytes((code,)) + pack(">II", len(content) + 4, len(items)) + content
    return bytes((code, len(content) + 1, len(items))) + content


NULL = b"\x40"
COLORS = ("red", "green", "blue")


def sections(n: int) -> dict[str, bytes]:
    """Encode the sections of the usual message ``n``, by name."""
    return {
        "header": section(0, compound(0xC0, b"\x41")),
        "annotations": section(
            2, compound(0xC1, text("x-opt-jms-msg-type", 0xA3), b"\x51\x05", text("x-opt-jms-dest", 0xA3), b"\x51\x00")
        ),
        "properties": section(3, compound(0xC0, *fields(n))),
        "application": section(4, compound(0xD1, *entries(n))),
        "body": section(7, text(f"text {n} " * 40, 0xB1)),
    }


def fields(n: int) -> list[bytes]:
    created = b"\x83" + pack(">q", 1_700_000_000_000 + n)
    return [text(f"ID:{n}"), NULL, text("orders"), NULL, NULL, text(f"c-{n % 9}"), NULL, NULL, NULL, created]


def entries(n: int) -> list[bytes]:
    """Return encoded application properties, keys and values in turn."""
    return [
        text("seq"),
        b"\x71" + pack(">i", n),
        text("color"),
        text(COLORS[n % 3]),
        text("amount"),
        b"\x81" + pack(">q", n * 37),
        text("order"),
        text(f"o{n}"),
        text("weight"),
        b"\x82" + pack(">d", n / 7),
        text("raw"),
        text(bytes(range(n % 5)), 0xA0),
    ]


def usual(n: int, **other: bytes) -> bytes:
    """Encode the usual message ``n`` with some sections replaced; empty bytes remove a section."""
    return b"".join((sections(n) | other).values())


def with_entry(n: int, place: int, value: bytes) -> bytes:
    changed = entries(n)
    changed[place] = value
    return usual(n, application=section(4, compound(0xD1, *changed)))


def with_field(n: int, place: int, value: bytes) -> bytes:
    changed = fields(n)
    changed[place : place + 1] = [value]
    return usual(n, properties=section(3, compound(0xC0, *changed)))


@cache
def unusual(n: int) -> dict[str, bytes]:
    """Encode variants of message ``n`` that differ from its neighbours, some of them invalid."""
    long_map = compound(0xD1, *entries(n))
    out = {
        "no header": usual(n, header=b""),
        "no annotations": usual(n, annotations=b""),
        "no properties": usual(n, properties=b""),
        "no application properties": usual(n, application=b""),
        "no body": usual(n, body=b""),
        "nothing": b"",
        "empty header": usual(n, header=section(0, b"\x45")),
        "empty list": usual(n, properties=section(3, b"\x45")),
        "empty map": usual(n, application=section(4, compound(0xC1))),
        "null map": usual(n, application=section(4, NULL)),
        "null header": usual(n, header=section(0, NULL)),
        "wide header": usual(n, header=section(0, compound(0xD0, b"\x41"))),
        "long header": usual(n, header=section(0, compound(0xC0, b"\x42", b"\x50\x07", NULL, b"\x56\x01", b"\x43"))),
        "header with too much": usual(n, header=section(0, compound(0xC0, *[b"\x41"] * 6))),
        "header of other types": usual(n, header=section(0, compound(0xC0, b"\x50\x01"))),
        "time to live": usual(n, header=section(0, compound(0xC0, b"\x41", NULL, b"\x70\0\0\0\x09"))),
        "short properties": usual(n, properties=section(3, compound(0xC0, *fields(n)[:3]))),
        "all fields": usual(n, properties=section(3, compound(0xD0, *fields(n), text("g"), b"\x52\x03", text("r")))),
        "data": usual(n, body=section(5, text(b"\x00\xff", 0xA0))),
        "two data": usual(n, body=section(5, text(b"a", 0xA0)) + section(5, text(b"b", 0xB0))),
        "sequence": usual(n, body=section(6, compound(0xC0, b"\x41", text("x")))),
        "null value": usual(n, body=section(7, NULL)),
        "two values": usual(n, body=section(7, NULL) + section(7, NULL)),
        "map body": usual(n, body=section(7, compound(0xC1, text("k"), text("v")))),
        "short text": usual(n, body=section(7, text("short"))),
        "text that is not UTF-8": usual(n, body=section(7, text(b"\xff\xfe"))),
        "footer": usual(n) + section(8, compound(0xC1, text("f", 0xA3), b"\x41")),
        "delivery annotations": usual(
            n, header=section(0, compound(0xC0, b"\x41")) + section(1, compound(0xC1, text("d", 0xA3), b"\x42"))
        ),
        "late header": usual(n) + section(0, compound(0xC0, b"\x41")),
        "second application properties": usual(n) + section(4, long_map),
        "repeated name": with_entry(n, 0, text("color")),
        "other name": with_entry(n, 0, text("seq2")),
        "symbol name": with_entry(n, 0, text("seq", 0xA3)),
        "name of no text": with_entry(n, 0, b"\x71\0\0\0\x01"),
        "wide name": with_entry(n, 0, text("seq", 0xB1)),
        "name beyond ASCII": with_entry(n, 0, text("größe")),
        "name that is not UTF-8": with_entry(n, 0, text(b"\xff")),
        "one entry more": usual(n, application=section(4, compound(0xD1, *entries(n), text("more"), b"\x42"))),
        "one entry less": usual(n, application=section(4, compound(0xD1, *entries(n)[2:]))),
        "odd count": usual(n, application=section(4, compound(0xD1, *entries(n)[1:]))),
        "narrow map": usual(n, application=section(4, compound(0xC1, *entries(n)))),
        "descriptor that is a wide number": usual(n).replace(b"\0\x53\x74", b"\0\x80" + pack(">Q", 0x74)),
        "unknown section": usual(n).replace(b"\0\x53\x74", b"\0\x53\x79"),
        "map that claims more": usual(n, application=section(4, b"\xd1" + pack(">I", len(long_map)) + long_map[5:])),
        "map that claims less": usual(n, application=section(4, b"\xd1" + pack(">I", 20) + long_map[5:])),
        "huge map": usual(n, application=section(4, b"\xd1\xff\xff\xff\xff" + long_map[5:])),
        "huge count": usual(n, application=section(4, long_map[:5] + b"\xff\xff\xff\xfe" + long_map[9:])),
        "huge text": usual(n, body=section(7, b"\xb1\xff\xff\xff\xfftext")),
        "text beyond its message": with_entry(n, 7, b"\xa1\xffo"),
        "cut": usual(n)[:-3],
        "cut in the map": usual(n)[:150],
        "a byte too many": usual(n) + b"\0",
    }
    for name, value in VALUES.items():
        out[f"first value {name}"] = with_entry(n, 1, value)
        out[f"text value {name}"] = with_entry(n, 3, value)
        out[f"message id {name}"] = with_field(n, 0, value)
        out[f"address {name}"] = with_field(n, 2, value)
        out[f"content type {name}"] = with_field(n, 6, value)
        out[f"creation time {name}"] = with_field(n, 9, value)
    return out


VALUES = {
    "null": NULL, "true": b"\x41", "false": b"\x42", "boolean": b"\x56\x01", "uint0": b"\x43", "ulong0": b"\x44",
    "ubyte": b"\x50\xff", "byte": b"\x51\xff", "small uint": b"\x52\xff", "small ulong": b"\x53\xff",
    "small int": b"\x54\xff", "small long": b"\x55\xff", "ushort": b"\x60\xff\xfe", "short": b"\x61\xff\xfe",
    "uint": b"\x70\xff\xff\xff\xff", "int": b"\x71\xff\xff\xff\xff", "float": b"\x72\x7f\xc0\0\1",
    "char": b"\x73\0\0\0\x41", "ulong": b"\x80" + bytes(8), "huge ulong": b"\x80" + b"\xff" * 8,
    "long": b"\x81" + b"\xff" * 8, "double": b"\x82" + b"\xff" * 8, "timestamp": b"\x83" + b"\xff" * 8,
    "decimal": b"\x74" + bytes(4), "uuid": b"\x98" + bytes(range(16)), "binary": text(b"\xff", 0xA0),
    "wide binary": text(b"\xff", 0xB0), "string": text("another"), "wide string": text("another", 0xB1),
    "symbol": text("another", 0xA3), "wide symbol": text("another", 0xB3), "umlaut": text("ärger"),
    "umlaut symbol": text("ärger", 0xA3), "surrogate": text(b"\xed\xa0\x80"), "empty string": text(""),
    "long string": text("x" * 200), "list": compound(0xC0, b"\x41"), "empty list": b"\x45",
    "described": b"\0\x53\x01\x41", "unknown": b"\x3f",
}  # fmt: skip


def page(messages: list[bytes], persister: int = 5, blocks: tuple[str, ...] = ("orders",)) -> bytes:
    """Encode a page of AMQP messages; ``blocks`` are addresses for the extra properties, used in turn."""
    out = []
    for n, encoded in enumerate(messages):
        message = AmqpMessage(
            persister,
            1000 + n,
            0,
            1,
            "orders",
            encoded,
            _extra(blocks[n % len(blocks)], persister),
            0 if persister == 5 else None,
        )
        out.append(encode_record(PageRecord(0, 0, -1, 0, Layout.NEW, persister, message, (3, 7))))
    return b"".join(out)


def _extra(address: str, persister: int) -> ExtraProperties:
    if persister == 2 or not address:
        return ExtraProperties(0, None)
    block = properties_bytes((Property("_AMQ_AD", string(address)),))
    return decode_extra(ByteReader(pack(">i", len(block)) + block))


def mixed(seed: int, messages: int) -> list[bytes]:
    """Return messages in a few random forms, some of them unusual."""
    draw = Random(seed)
    kinds = [draw.choice(list(unusual(0))) for _ in range(draw.choice((1, 2, 5)))]
    odd = draw.choice((0.0, 0.1, 0.5))
    return [unusual(n)[draw.choice(kinds)] if draw.random() < odd else usual(n) for n in range(messages)]
