"""Sectors that were lost: pages carry no checksums, but a disk that loses a sector gives 512 aligned zero bytes for it.

A run of such sectors inside of a record counts where what stands right before and behind it is not zero: zeros that
somebody sent end anywhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

import numpy as np

from pagefmt.findings import Finding, Severity, about_data
from pagefmt.messages.amqp_message import AmqpMessage
from pagefmt.messages.core_fields import TEXT
from pagefmt.pages.frames import Damage
from pagefmt.pages.page import OddRecord, Page

SECTOR: Final = 512
_WINDOW: Final = 1 << 20
_BESIDE: Final = 2
_NAMED: Final = 5


def zeroed_sectors(page: Page, place: str) -> Finding | None:
    """One finding for all that are in a page. ``place``: of the page."""
    runs = list(_runs(page))
    if not runs:
        return None
    found = list(_in_records(page, runs))
    if not found:
        return None
    start, end, _, _ = found[0]
    ids = sorted({message for *_, message, _ in found})
    named = ", ".join(map(str, ids[:_NAMED])) + (" …" if len(ids) > _NAMED else "")
    more = f", and {len(found) - 1} more such places" if len(found) > 1 else ""
    message = (
        f"{end - start} zero bytes in whole sectors at offset {start}{more}, in message{'s' if len(ids) > 1 else ''} "
        f"{named}: what a lost sector of {SECTOR} bytes looks like; a page has no checksum that tells"
    )
    surely = any(text for *_, text in found)
    return about_data(
        Severity.WARNING if surely else Severity.INFO, "zeroed-sector", place, message, "delivers them as they are"
    )


def _runs(page: Page) -> Iterator[tuple[int, int]]:
    """Runs of sectors of zeros, (start, end), that something else stands beside."""
    run: tuple[int, int] | None = None
    for base in range(0, len(page.buf) - SECTOR + 1, _WINDOW):
        upto = min(base + _WINDOW, len(page.buf) - len(page.buf) % SECTOR)
        if page.reach is not None and not page.reach(base, upto):
            break
        words = np.frombuffer(page.buf, np.uint64, (upto - base) // 8, base).reshape(-1, SECTOR // 8)
        for sector in np.flatnonzero(~words.any(axis=1)).tolist():
            at = base + sector * SECTOR
            if run is not None and run[1] == at:
                run = run[0], at + SECTOR
                continue
            if run is not None:
                yield run
            run = at, at + SECTOR
    if run is not None:
        yield run


def _in_records(page: Page, runs: list[tuple[int, int]]) -> Iterator[tuple[int, int, int, bool]]:
    """(start, end, message id, whether the message is text) of the runs that lie in a record."""
    starts = [start for start, _ in runs]
    for route in page.handed_out():
        if isinstance(route, Damage):
            continue
        offset, behind = route[1], route[1] + route[2]
        for start, end in runs[bisect_right(starts, offset) : bisect_right(starts, behind)]:
            if end < behind and any(page.buf[start - _BESIDE : start]) and any(page.buf[end : end + _BESIDE]):
                record = page.understood(route)
                message = record.record and record.record.message if isinstance(record, OddRecord) else record.message
                yield start, end, route[5], isinstance(message, AmqpMessage) or getattr(message, "type", 0) == TEXT
