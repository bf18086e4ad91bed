"""Stub records: the smallest record that every broker of a layout reads.

A stub replaces a dead record, so that the records after it keep their numbers. It has no queue ids: each cursor
confirms its position in memory, as it does for records of other queues, and the journal stays as it is
(docs/spec/journal.md 8.1). 67 bytes in the new layout, 61 in the old one; m is the id of the message that it
replaces::

    7b 0000003d ffffffffffffffff 00  01 mmmmmmmmmmmmmmmm 00 00000022  0000000d m… 00 00 00 01 0… 0… 04 00  00000000 7d
    7b 00000037 ffffffffffffffff 00  00000026  00000011 00000033 m… 00 00 00 ff 0… 0… 04 00  00000000 7d
"""

from __future__ import annotations

from array import array
from struct import Struct
from typing import Final

from pagefmt.codec.pages.record import Layout

_BEFORE: Final = {
    Layout.NEW: bytes.fromhex("7b0000003dffffffffffffffff0001"),
    Layout.OLD: bytes.fromhex("7b00000037ffffffffffffffff0000000026" + "0000001100000033"),
}
_BETWEEN: Final = {Layout.NEW: bytes.fromhex("0000000022" + "0000000d"), Layout.OLD: b""}
_DURABLE: Final = {Layout.NEW: b"\x01", Layout.OLD: b"\xff"}
_ID: Final = Struct(">q")
_BEHIND: Final = bytes(16) + b"\x04\x00" + bytes(4) + b"\x7d"
_ID_AT: Final = {Layout.NEW: (15, 32), Layout.OLD: (26,)}
STUB_SIZE: Final = {Layout.NEW: 67, Layout.OLD: 61}


def stub(layout: Layout, message_id: int) -> bytes:
    """Return the whole record, marks included."""
    number = _ID.pack(message_id)
    outer = number + _BETWEEN[layout] if layout is Layout.NEW else b""
    return _BEFORE[layout] + outer + number + bytes(3) + _DURABLE[layout] + _BEHIND


def stubs(layout: Layout, message_ids: array[int]) -> bytes:
    """Return the stubs for the ids, one after another."""
    import numpy as np

    model = np.frombuffer(stub(layout, 0), np.uint8)
    table = np.tile(model, (len(message_ids), 1))
    ids = np.frombuffer(message_ids, np.int64).astype(">i8").view(np.uint8).reshape(-1, 8)
    for at in _ID_AT[layout]:
        table[:, at : at + 8] = ids
    return table.tobytes()
