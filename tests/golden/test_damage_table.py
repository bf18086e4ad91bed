"""The table of named damages: how many records survive, what is said, what the broker does, what comes back.

Each damage is done to a page of eight records that 2.56.0 wrote (core, three of them in a large message's form).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from golden_cases import GoldenCase

from pagefmt.check.broker_verdict import BrokerAction, PageContext
from pagefmt.check.page_reports import verify_bytes, verify_page
from pagefmt.codec.pages.frames import NO_BYTES, DamageKind, FrameScan
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.storage.files import NotReadable

K = DamageKind


@cache
def page() -> bytes:
    """Return a page of five ordinary and three large records that 2.56.0 wrote."""
    folders = (GoldenCase("2.56.0", "large-core").data() / "paging").iterdir()
    records: dict[bool, list[bytes]] = {False: [], True: []}
    for path in sorted(file for folder in folders for file in folder.glob("*.page")):
        raw = path.read_bytes()
        for at, length in FrameScan(raw):
            records[raw[at + 13] == 1].append(raw[at : at + length + 6])
    return b"".join(records[False][:5] + records[True][:3])


def starts() -> list[tuple[int, int]]:
    return list(FrameScan(page()))


def put(at: int, new: bytes) -> bytes:
    return page()[:at] + new + page()[at + len(new) :]


def length(n: int, value: int) -> bytes:
    return put(starts()[n][0] + 1, struct.pack(">i", value))


def at_end(n: int, back: int, new: bytes) -> bytes:
    """Return the page with ``new`` written ``back`` bytes before the end mark of record ``n``."""
    at, size = starts()[n]
    return put(at + 5 + size - back, new)


def start(n: int) -> int:
    return starts()[n][0]


@dataclass(frozen=True)
class Named:
    """A change to a sound page, and how the broker and pagectl read the result."""

    name: str
    make: Callable[[], bytes]
    survive: int  # records that the broker hands out
    kind: DamageKind | None
    action: BrokerAction
    back: int  # valid records that it does not hand out, and we find


TABLE = [
    Named("sound", page, 8, None, BrokerAction.READS, 0),
    Named("bad start", lambda: put(start(3), b"\x7a"), 3, K.BAD_START, BrokerAction.LOSES_REST, 4),
    Named("bad end", lambda: at_end(3, 0, b"\x00"), 3, K.BAD_END, BrokerAction.LOSES_REST, 4),
    Named("bad end of the last record", lambda: at_end(7, 0, b"\x00"), 7, K.BAD_END, BrokerAction.LOSES_REST, 0),
    Named("negative length", lambda: length(2, -1), 2, K.BAD_LENGTH, BrokerAction.LOSES_REST, 5),
    Named("very negative length", lambda: length(2, -(1 << 31)), 2, K.BAD_LENGTH, BrokerAction.NO_START, 5),
    Named("zero length", lambda: length(2, 0), 2, K.BAD_END, BrokerAction.LOSES_REST, 5),
    Named("huge length", lambda: length(2, 0x7FFFFFFF), 2, K.TORN, BrokerAction.NO_START, 5),
    Named("length past the end", lambda: length(7, 100000), 7, K.TORN, BrokerAction.LOSES_REST, 0),
    Named("length one too long", lambda: length(2, starts()[2][1] + 1), 2, K.BAD_END, BrokerAction.LOSES_REST, 5),
    Named(
        "length over two records",
        lambda: length(1, starts()[1][1] + 6 + starts()[2][1]),
        7,
        K.SWALLOWED,
        BrokerAction.READS,
        1,
    ),
    Named(
        "length to the end of the file",
        lambda: length(1, len(page()) - start(1) - 6),
        2,
        K.SWALLOWED,
        BrokerAction.READS,
        6,
    ),
    Named("torn tail", lambda: page()[:-9], 7, K.TORN, BrokerAction.LOSES_REST, 0),
    Named("torn head", lambda: page()[: start(7) + 3], 7, K.FRAGMENT, BrokerAction.IGNORES_TAIL, 0),
    Named("one byte left", lambda: page() + b"{", 8, K.FRAGMENT, BrokerAction.IGNORES_TAIL, 0),
    Named("five bytes left", lambda: page() + b"{\0\0\0\1", 8, K.FRAGMENT, BrokerAction.IGNORES_TAIL, 0),
    Named("six bytes left", lambda: page() + b"{\0\0\0\1}", 8, K.TORN, BrokerAction.LOSES_REST, 0),
    Named(
        "empty record",
        lambda: page()[: start(4)] + b"{\0\0\0\0}" + page()[start(4) :],
        4,
        K.UNDECODABLE,
        BrokerAction.NO_START,
        4,
    ),
    Named("zero-filled tail", lambda: page() + bytes(4096), 8, K.ZERO_TAIL, BrokerAction.LOSES_REST, 0),
    Named("zeros in the middle", lambda: put(start(3), bytes(50)), 3, K.BAD_START, BrokerAction.LOSES_REST, 4),
    Named("zero file", lambda: bytes(4096), 0, K.ZERO_TAIL, BrokerAction.LOSES_REST, 0),
    Named("empty file", lambda: b"", 0, None, BrokerAction.READS, 0),
    Named("noise", lambda: b"no page at all, but some text", 0, K.BAD_START, BrokerAction.LOSES_REST, 0),
    Named("noise before the records", lambda: b"????" + page(), 0, K.BAD_START, BrokerAction.LOSES_REST, 8),
    Named(
        "lost byte", lambda: page()[: start(2) + 20] + page()[start(2) + 21 :], 2, K.BAD_END, BrokerAction.LOSES_REST, 5
    ),
    Named("bad persister", lambda: put(start(2) + 14, b"\x09"), 2, K.UNDECODABLE, BrokerAction.NO_START, 5),
    Named("unknown large type", lambda: put(start(2) + 13, b"\x07"), 8, K.UNDECODABLE, BrokerAction.READS, 0),
    Named(
        "negative queue count", lambda: at_end(2, 12, b"\xff\xff\xff\xff"), 2, K.UNDECODABLE, BrokerAction.NO_START, 5
    ),
    Named("huge queue count", lambda: at_end(2, 12, b"\x7f\xff\xff\xff"), 2, K.UNDECODABLE, BrokerAction.NO_START, 5),
    Named("queue count too low", lambda: at_end(2, 12, b"\x00\x00\x00\x00"), 8, K.SWALLOWED, BrokerAction.READS, 0),
    Named("bad text in the address", lambda: put(start(2) + 24, b"\x7f"), 2, K.UNDECODABLE, BrokerAction.NO_START, 5),
    Named("bad size of a large header", lambda: put(start(6) + 14, b"\x7f"), 8, K.UNDECODABLE, BrokerAction.READS, 0),
    Named("record twice", lambda: page()[: start(2)] + page()[start(1) :], 9, None, BrokerAction.READS, 0),
    Named("reversed", lambda: page()[::-1], 0, K.BAD_START, BrokerAction.LOSES_REST, 0),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_what_survives(row: Named) -> None:
    verdict = verify_bytes(Page(row.make()), "000000001.page", PageContext("store", 1, last=True))
    first = verdict.faults[0].kind if verdict.faults else None
    assert (verdict.records, first, verdict.broker.action) == (row.survive, row.kind, row.action), verdict.faults[:1]
    assert verdict.recovered == row.back


def test_every_kind_is_in_the_table() -> None:
    assert {row.kind for row in TABLE} - {None} == set(DamageKind) - NO_BYTES, "no bytes, no row"
    assert {row.action for row in TABLE} == set(BrokerAction) - {BrokerAction.STOPS}


def test_a_page_in_the_middle_stops_the_broker_instead() -> None:
    raw = put(start(2) + 14, b"\x09")
    assert verify_bytes(Page(raw), "000000001.page", PageContext("store", 1)).broker.action is BrokerAction.STOPS


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "missing"])
def test_only_regular_files_are_opened(kind: str, tmp_path: Path) -> None:
    import os

    path = tmp_path / "000000001.page"
    if kind == "link":
        (tmp_path / "other").write_bytes(b"")
        path.symlink_to(tmp_path / "other")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    with open_page(path) as page:
        assert list(page.records()) == []
        damage = page.damage
    assert damage and (damage.offset, damage.number) == (0, 0)
    assert damage.kind is (DamageKind.GONE if kind == "missing" else DamageKind.UNREADABLE)
    with pytest.raises(NotReadable, match=r"000000001\.page"):
        verify_page(path, PageContext("store", 1))
