"""What is fed with mutated bytes. A target may raise the package's own errors only; anything else is a finding.

Adding a target is adding a function to ``TARGETS``; its seeds are what ``seeds`` gives for its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from golden_cases import cases

from pagefmt.check.broker_verdict import PageContext
from pagefmt.check.page_reports import verify_bytes
from pagefmt.codec.messages.amqp_sections import decode_saved_sections, decode_sections
from pagefmt.codec.messages.amqp_values import decode_amqp_value, encode_amqp_value
from pagefmt.codec.messages.bodies import inflated, map_of, stream_of, text_of
from pagefmt.codec.messages.properties import decode_whole_block, encode_properties
from pagefmt.codec.pages.frames import FrameScan
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import PageRecord, decode_record, encode_record, frame
from pagefmt.codec.wire import ByteReader, ByteWriter
from pagefmt.describe.anatomy import record_fields
from pagefmt.describe.message_json import BodyForm, MessageOptions, record_json
from pagefmt.directory.bindings import decode_address, decode_queue, encode_queue
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.files import JournalHeader, decode_header
from pagefmt.journal.scan import scan

EVERYTHING = MessageOptions(frozenset(BodyForm), inflate=True, limit=1 << 16)
EDITIONS = list(Edition)


def page(raw: bytes) -> None:
    """Verify and decode a page; the first byte selects the edition."""
    edition = EDITIONS[raw[0] % len(EDITIONS)] if raw else None
    found = Page(raw[1:])
    verdict = verify_bytes(found, "000000001.page", PageContext(last=True), edition)
    assert verdict.bytes_read <= found.size
    list(found.routes())
    for number, one in found.records():
        if isinstance(one, PageRecord):
            record_json(1, number, one, EVERYTHING)


def record(raw: bytes) -> None:
    framed = frame(raw)
    list(record_fields(framed, 0, len(raw)))
    decoded = decode_record(framed, 0, len(raw))
    assert encode_record(decoded) == framed
    record_json(1, 0, decoded, EVERYTHING)


def properties(raw: bytes) -> None:
    out = ByteWriter()
    encode_properties(out, decode_whole_block(raw))
    assert out.done() == raw[:1] if raw[:1] == b"\0" else out.done() == raw


def amqp_value(raw: bytes) -> None:
    cursor = ByteReader(raw)
    value = decode_amqp_value(cursor)
    out = ByteWriter()
    encode_amqp_value(out, value)
    again = ByteWriter()
    encode_amqp_value(again, decode_amqp_value(ByteReader(out.done())))
    assert again.done() == out.done()


def amqp_message(raw: bytes) -> None:
    try:
        decode_saved_sections(ByteReader(raw))
    except PageFmtError:
        decode_sections(ByteReader(raw))


def bodies(raw: bytes) -> None:
    readers: list[Callable[[bytes], object]] = [text_of, map_of, stream_of, lambda b: inflated(b, 1 << 16)]
    readers[raw[0] % len(readers) if raw else 0](raw[1:])


def journal(raw: bytes) -> None:
    """Scan bytes as a journal of version 1 or 2, because files of other versions are never scanned."""
    header = decode_header(raw)
    list(scan(raw, JournalHeader(1 + header.version % 2, 0, header.file_id)))


def binding(raw: bytes) -> None:
    try:
        queue = decode_queue(1, raw)
    except PageFmtError:
        decode_address(1, raw)
    else:
        encode_queue(queue)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "page": page,
    "record": record,
    "properties": properties,
    "amqp-value": amqp_value,
    "amqp-message": amqp_message,
    "bodies": bodies,
    "journal": journal,
    "binding": binding,
}


def feed(name: str, raw: bytes) -> None:
    """Run a target, and ignore the errors that the library raises on purpose."""
    try:
        TARGETS[name](raw)
    except PageFmtError:
        return


def seeds(name: str) -> Iterator[bytes]:
    """Yield real bytes for a target to start from: parts of golden page records, or golden journal records."""
    if name in ("journal", "binding"):
        yield from _journal_seeds(name)
    for case in cases("hornetq-2.4.7", "2.10.1", "2.56.0"):
        for path in sorted(case.data().glob("paging/*/*.page"))[:1]:
            raw = path.read_bytes()
            for at, length in list(FrameScan(raw))[:3]:
                yield from _parts(name, decode_record(raw, at, length), raw[at : at + length + 6])


def _journal_seeds(name: str) -> Iterator[bytes]:
    for case in cases("hornetq-2.4.7", "2.56.0")[::8]:
        if name == "journal":
            for path in sorted(case.data().glob("journal/*data-*"))[:2]:
                yield path.read_bytes()[:2000]
        else:
            records = case.manifest()["bindings"]["records"]
            yield from (bytes.fromhex(record["hex"]) for record in records[:4] if "hex" in record)


def _parts(name: str, decoded: PageRecord, framed: bytes) -> Iterator[bytes]:
    message = decoded.message
    match name:
        case "page":
            yield b"\x07" + framed
        case "record":
            yield framed[5:-1]
        case "properties" if message.protocol == "core":
            yield message.header.properties_bytes
        case "amqp-value" | "amqp-message" if message.protocol == "amqp" and not message.large:
            yield message.encoded
        case "bodies" if message.protocol == "core" and message.body:
            for n in range(5):
                yield bytes((n,)) + message.body[:200]
        case _:
            return
