"""Large journal files, some MiB at a time: memory does not grow with the size of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from pagefmt.bytes.files import FileStretches
from pagefmt.journal.fast_scan import Ints, JournalFrames, bodies_at, candidates, records_at
from pagefmt.journal.files import JournalHeader
from pagefmt.journal.records import CHECK
from pagefmt.journal.scan import TornRecords

WINDOW: Final = 8 << 20
LONGEST_HEAD: Final = 64
"""No record without a body is as long."""
_FAR: Final = 64
"""So many records of one window may end outside of it, or say so; each costs a read."""


class _TooFar(Exception):
    """More records than ``_FAR`` that end elsewhere."""


def frames_in_windows(file: FileStretches, header: JournalHeader, torn: TornRecords) -> Iterator[JournalFrames | None]:
    """What ``fast_scan`` finds, window by window. None, at last, where ``scan`` has to go on from ``torn.end``."""
    low = torn.end
    while low < file.size:
        high = min(low + WINDOW, file.size)
        found = _frames(file, header, low, high, torn.end)
        if found is None:
            yield None
            return
        if len(found.at):
            starts, ends = found.at, found.at + found.total
            before = np.append(torn.end, ends[:-1])
            for gap in np.flatnonzero(before < starts).tolist():
                torn.note_gap(file, int(before[gap]), int(starts[gap]))
            torn.records += len(starts)
            torn.record_bytes += int((ends - starts).sum())
            torn.end = int(ends[-1])
            yield found
        low = max(torn.end, high - LONGEST_HEAD) if high < file.size else high


def _frames(file: FileStretches, header: JournalHeader, low: int, high: int, end: int) -> JournalFrames | None:
    """The records that begin from ``low`` on, as far as their heads are whole; ``end``: of the last one before."""
    content = np.frombuffer(file[low:high], np.uint8)
    at = candidates(content, header, 0)
    if high < file.size:
        at = at[at < len(content) - LONGEST_HEAD]

    def checks(wanted: Ints) -> Ints:
        inside = wanted <= len(content) - CHECK.size
        found = np.zeros(len(wanted), np.int64)
        found[inside] = bodies_at(content, wanted[inside], CHECK.size).view(">i4")
        far = np.flatnonzero(~inside)
        if len(far) > _FAR:
            raise _TooFar
        found[far] = [CHECK.unpack(file[low + each : low + each + CHECK.size])[0] for each in wanted[far].tolist()]
        return found

    try:
        columns, good = records_at(content, at, header, file.size - low, checks)
    except _TooFar:
        return None
    starts = columns["at"]
    ends = starts + columns["total"]
    if (ends[:-1] > starts[1:]).any():
        return None
    before = np.searchsorted(starts, at[~good], "right") - 1
    inside = (before >= 0) & (at[~good] < (ends[before] if len(ends) else 0))
    if not inside.all():
        return None
    columns["at"], columns["body"] = starts + low, columns["body"] + low
    return JournalFrames(**columns, content=content, base=low)
