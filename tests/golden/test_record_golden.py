"""Every record of every golden page: decoded to its last byte, and encoded again to the same bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import GoldenCase, cases

from pagefmt.change.salvage.quick_check import proves_sound
from pagefmt.codec.messages.core_message import CoreMessage
from pagefmt.codec.messages.properties import encode_properties
from pagefmt.codec.pages.record import decode_record, encode_record
from pagefmt.codec.wire import ByteWriter


def frames(page: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    while at + 6 <= len(page) and page[at] == 0x7B:
        size = struct.unpack_from(">i", page, at + 1)[0]
        if size < 0 or at + size + 6 > len(page) or page[at + 5 + size] != 0x7D:
            return
        yield at, size
        at += size + 6


def pages(case: GoldenCase) -> list[Path]:
    return sorted(case.data().glob("paging/*/*.page"))


@pytest.mark.parametrize("case", cases(), ids=str)
def test_records_survive_decoding_and_encoding(case: GoldenCase) -> None:
    for path in pages(case):
        page = path.read_bytes()
        for at, size in frames(page):
            record = decode_record(page, at, size)
            record.message.check()
            assert proves_sound(page, at, size) == isinstance(record.message, CoreMessage)
            assert encode_record(record) == page[at : at + size + 6]
            if record.message.protocol == "core":
                out = ByteWriter()
                encode_properties(out, record.message.header.properties_block())
                assert out.done() == record.message.header.properties_bytes
