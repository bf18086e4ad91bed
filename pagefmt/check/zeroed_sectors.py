"""Lost sectors: pages have no checksums, but a disk that loses a sector returns 512 aligned zero bytes.

A run of such sectors inside a record counts if the bytes directly before and after it are not zero: zeros in a message
end anywhere.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

import numpy as np

from pagefmt.codec.messages.amqp_message import AmqpMessage
from pagefmt.codec.messages.core_fields import TEXT
from pagefmt.codec.pages.frames import Buffer, Damage, Reach
from pagefmt.codec.pages.page import OddRecord, Page
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.fast_scan import Ints
from pagefmt.journal.scan import JournalBytes

SECTOR: Final = 512
_WINDOW: Final = 1 << 20
_BESIDE: Final = 2
_NAMED: Final = 5


class SectorRuns:
    """Runs of zeroed sectors, from ``starts`` up to ``ends``, in a file that is searched piece by piece."""

    __slots__ = ("ends", "starts")

    def __init__(self) -> None:
        self.starts = array("q")
        self.ends = array("q")

    def look(self, buf: Buffer, base: int = 0, reach: Reach | None = None) -> None:
        """Add the runs of the next piece, which starts at the sector boundary ``base``.

        ``reach``: see ``Page.reach``.
        """
        for start, end in _zero_runs(buf, reach):
            if self.ends and self.ends[-1] == base + start:
                self.ends[-1] = base + end
            else:
                self.starts.append(base + start)
                self.ends.append(base + end)

    def among(self, starts: Ints, ends: Ints) -> list[int]:
        """Return the indexes of the records in which a run starts."""
        runs = np.frombuffer(self.starts, np.int64)
        return np.flatnonzero(np.searchsorted(runs, starts) < np.searchsorted(runs, ends)).tolist()

    def lost_inside(self, buf: JournalBytes, offset: int, behind: int) -> Iterator[tuple[int, int]]:
        """Yield the runs inside a record that have other bytes directly before and after them."""
        for row in range(bisect_left(self.starts, offset), bisect_left(self.starts, behind)):
            start, end = self.starts[row], self.ends[row]
            if end < behind and any(buf[start - _BESIDE : start]) and any(buf[end : end + _BESIDE]):
                yield start, end


def zeroed_sectors(page: Page, place: str) -> Finding | None:
    """Return one finding for all zeroed sectors inside records, or None. ``place`` names the page."""
    runs = SectorRuns()
    runs.look(page.buf, reach=page.reach)
    if not runs.starts:
        return None
    runs_in_records = list(_in_records(page, runs))
    if not runs_in_records:
        return None
    start, end, _, _ = runs_in_records[0]
    ids = sorted({message for *_, message, _ in runs_in_records})
    named = ", ".join(map(str, ids[:_NAMED])) + (" …" if len(ids) > _NAMED else "")
    more = f", and {len(runs_in_records) - 1} more such places" if len(runs_in_records) > 1 else ""
    message = (
        f"{end - start} zero bytes in whole sectors at offset {start}{more}, in message{'s' if len(ids) > 1 else ''} "
        f"{named}: this is what a lost sector of {SECTOR} bytes looks like; a page has no checksum to tell"
    )
    surely = any(text for *_, text in runs_in_records)
    return about_data(
        Severity.WARNING if surely else Severity.INFO, "zeroed-sector", place, message, "delivers them as they are"
    )


def _zero_runs(buf: Buffer, reach: Reach | None = None) -> Iterator[tuple[int, int]]:
    """Yield (start, end) offsets of runs of zeroed sectors, ascending. Stop where ``reach`` returns False.

    ``reach``: see ``Page.reach``; None if all bytes are in memory.
    """
    run: tuple[int, int] | None = None
    for base in range(0, len(buf) - SECTOR + 1, _WINDOW):
        upto = min(base + _WINDOW, len(buf) - len(buf) % SECTOR)
        if reach is not None and not reach(base, upto):
            break
        # Each sector is a row of 64 words of 8 bytes; a row without a non-zero word is a zeroed sector.
        words = np.frombuffer(buf, np.uint64, (upto - base) // 8, base).reshape(-1, SECTOR // 8)
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


def _in_records(page: Page, runs: SectorRuns) -> Iterator[tuple[int, int, int, bool]]:
    """Yield (start, end, message id, whether the message is text) of the runs inside records."""
    for route in page.handed_out():
        if isinstance(route, Damage):
            continue
        for start, end in runs.lost_inside(page.buf, route[1], route[1] + route[2]):
            record = page.understood(route)
            message = record.record and record.record.message if isinstance(record, OddRecord) else record.message
            yield start, end, route[5], holds_text(message)


def holds_text(message: object) -> bool:
    """Return whether the message's body is text, which does not contain zeros."""
    return isinstance(message, AmqpMessage) or getattr(message, "type", 0) == TEXT
