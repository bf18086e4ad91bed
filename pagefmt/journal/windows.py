"""Journal files some MiB at a time: memory grows neither with the size of a file nor with what stands in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pagefmt.journal.fast_scan import (
    Ints,
    JournalFrames,
    bodies_at,
    of_file,
    record_types,
    records_at,
    stated_ids,
)
from pagefmt.journal.files import HEADER, JournalHeader
from pagefmt.journal.records import CHECK, FILE_ID_MASK, JournalFrame, frame_at
from pagefmt.journal.scan import JournalBytes, TornRecords, only_fill

WINDOW: Final = 8 << 20
LONGEST_HEAD: Final = 64
"""No record without a body is as long."""
STRETCH: Final = 1 << 18
"""Bytes of a window that are searched at once, and offsets that are looked at together."""
_NEAR: Final = 1 << 12
"""Check sizes so near to one another are read together."""
Choice = Callable[[npt.NDArray[np.uint8], Ints], npt.NDArray[np.bool_]]
"""Which of the offsets of record types in a window are candidates."""


class _Candidates(NamedTuple):
    """Offsets of a window of a file which look like records, and which ``are``; ``columns``: of those alone."""

    base: int
    content: npt.NDArray[np.uint8]
    at: Ints
    good: npt.NDArray[np.bool_]
    columns: dict[str, Any]

    @property
    def starts(self) -> Ints:
        """Of the records, from the start of the file."""
        found: Ints = self.columns["at"] + self.base
        return found

    @property
    def ends(self) -> Ints:
        """The same, behind their last bytes."""
        found: Ints = self.starts + self.columns["total"]
        return found


def frames_in_windows(file: JournalBytes, header: JournalHeader, torn: TornRecords) -> Iterator[JournalFrames]:
    """The live records behind ``torn.end``, window by window, in the order of their offsets.

    Time is linear in the size of the file, whatever stands in it. What looks torn goes to ``torn``.
    """
    gap = _Gap(file, header, torn)
    for found in _candidates(file, header.version, torn.end, len(file), of_file(header.file_id), lambda: torn.end):
        starts, ends = found.starts, found.ends
        kept = _apart(starts, ends, torn.end)
        columns = found.columns
        if len(kept) < len(starts):
            starts, ends = starts[kept], ends[kept]
            columns = {name: column[kept] for name, column in columns.items()}
        gap.note(found.at[~found.good] + found.base, starts, ends)
        if len(starts):
            columns["at"], columns["body"] = starts, columns["body"] + found.base
            yield JournalFrames(**columns, content=found.content, base=found.base)


def chosen_frames(
    file: JournalBytes, header: JournalHeader, torn: TornRecords, record: int | None, user_type: int | None
) -> Iterator[JournalFrame]:
    """Yield the records of a file with this id and of this type, of any where it is None. ``torn`` gets torn ones."""
    for frames in frames_in_windows(file, header, torn):
        for frame in map(frames.frame, range(len(frames.at))):
            if record in (None, frame.id) and user_type in (None, frame.user_type):
                yield frame


def first_stated(file: JournalBytes, version: int, wanted: Sequence[int]) -> int | None:
    """The file id that the first record names which names one of these."""
    for found in _candidates(
        file, version, HEADER.size, len(file), lambda content, at: np.isin(stated_ids(content, at), wanted), lambda: 0
    ):
        if found.good.any():
            first = found.at[found.good][:1]
            return int(stated_ids(found.content, first)[0])
    return None


def _candidates(
    file: JournalBytes, version: int, start: int, end: int, choose: Choice, passed: Callable[[], int]
) -> Iterator[_Candidates]:
    """Those that begin from ``start`` on and in front of ``end``, so many at once that they take little memory. What
    lies in front of ``passed()`` is not looked at."""
    low = max(start, passed())
    while low < end:
        upto = min(low + WINDOW, end)
        content = np.frombuffer(file[low : min(upto + LONGEST_HEAD, len(file))], np.uint8)
        checks = _CheckSizes(file, low, content).at
        for every in _offsets(content, upto - low, choose):
            at = every[every >= passed() - low]
            columns, good = records_at(content, at, version, len(file) - low, checks)
            yield _Candidates(low, content, at, good, columns)
        low = max(upto, passed())


def _offsets(content: npt.NDArray[np.uint8], limit: int, choose: Choice) -> Iterator[Ints]:
    waiting: list[Ints] = []
    count = 0
    for start in range(0, limit, STRETCH):
        at = record_types(content, start, min(start + STRETCH, limit))
        waiting.append(at[choose(content, at)])
        count += len(waiting[-1])
        if count >= STRETCH:
            yield from _parts(np.concatenate(waiting))
            waiting, count = [], 0
    if count:
        yield from _parts(np.concatenate(waiting))


def _parts(at: Ints) -> Iterator[Ints]:
    for start in range(0, len(at), STRETCH):
        yield at[start : start + STRETCH]


class _CheckSizes(NamedTuple):
    """Check sizes at offsets of a window, also behind its end; those are read from the file."""

    file: JournalBytes
    base: int
    content: npt.NDArray[np.uint8]

    def at(self, wanted: Ints) -> Ints:
        """``wanted``: from the start of the window on."""
        inside = wanted <= len(self.content) - CHECK.size
        found = np.zeros(len(wanted), np.int64)
        found[inside] = bodies_at(self.content, wanted[inside], CHECK.size).view(">i4")
        far = np.flatnonzero(~inside)
        if not len(far):
            return found
        far = far[np.argsort(wanted[far], kind="stable")]
        at = wanted[far] + self.base
        breaks = np.flatnonzero(at[1:] // _NEAR != at[:-1] // _NEAR) + 1
        for start, end in pairwise((0, *breaks.tolist(), len(at))):
            first = int(at[start])
            part = np.frombuffer(self.file[first : int(at[end - 1]) + CHECK.size], np.uint8)
            found[far[start:end]] = bodies_at(part, at[start:end] - first, CHECK.size).view(">i4")
        return found


def _apart(starts: Ints, ends: Ints, end: int) -> Ints:
    """Which records a reader meets that goes on behind each; no broker writes any inside of another."""
    if not len(starts) or (starts[0] >= end and (ends[:-1] <= starts[1:]).all()):
        return np.arange(len(starts))
    kept: list[int] = []
    row = int(np.searchsorted(starts, end))
    after = np.searchsorted(starts, ends).tolist()
    while row < len(starts):
        kept.append(row)
        row = after[row]
    return np.array(kept, np.int64)


class _Gap:
    """The bytes behind a live record, up to the next one: whether a torn record begins there, and how many follow."""

    __slots__ = ("_file", "_header", "_old", "_seen", "_torn")

    def __init__(self, file: JournalBytes, header: JournalHeader, torn: TornRecords) -> None:
        self._file, self._header, self._torn = file, header, torn
        self._old: _OldContent | None = None
        self._seen = -1
        """The end of the record for which the first candidate behind it was looked at."""

    def note(self, bad: Ints, starts: Ints, ends: Ints) -> None:
        """The next live records, and candidates that are none up to the last of these and behind it."""
        torn = self._torn
        before = np.append(torn.end, ends)
        which = np.searchsorted(starts, bad, "right")
        outside = bad >= before[which]
        bad, which = bad[outside], which[outside]
        gaps, firsts = np.unique(which, return_index=True)
        of_gap = dict(zip(gaps.tolist(), pairwise((*firsts.tolist(), len(bad))), strict=True))
        for row in np.union1d(gaps, np.flatnonzero(before[:-1] < starts)).tolist():
            behind = int(before[row])
            if behind > torn.end:
                torn.end, torn.tail = behind, False
            if row in of_gap:
                self._look(bad[slice(*of_gap[row])], behind)
            if row < len(starts) and behind < starts[row]:
                torn.note_gap(self._file, behind, int(starts[row]))
        if len(starts):
            torn.records += len(starts)
            torn.record_bytes += int((ends - starts).sum())
            if ends[-1] > torn.end:
                torn.end, torn.tail = int(ends[-1]), False

    def _look(self, bad: Ints, behind: int) -> None:
        torn = self._torn
        if self._seen != behind:
            self._seen = behind
            torn.tail = only_fill(self._file, behind, int(bad[0]))
            self._old = _OldContent(self._file, self._header, behind) if torn.tail else None
        if not torn.tail or self._old is None:
            return
        bad = bad[~self._old.holds(bad)]
        for at in bad[: torn.room].tolist():
            torn.add(at, str(frame_at(self._file, at, self._header.version)))
            bad = bad[1:]
        torn.count += len(bad)


class _OldContent:
    """What a reused file held before, from an offset on: records of lower file ids one behind the other. A field of
    one may look like the start of a record."""

    __slots__ = ("_file", "_highest", "_last", "_searched", "_version")

    def __init__(self, file: JournalBytes, header: JournalHeader, start: int) -> None:
        self._file, self._version = file, header.version
        self._highest = (header.file_id & FILE_ID_MASK) >> 24
        self._last = start, start
        self._searched = start

    def holds(self, offsets: Ints) -> npt.NDArray[np.bool_]:
        """Which of them a record reaches over. Asked with rising offsets."""
        starts, ends = [np.array([each]) for each in self._last]
        parts = _candidates(
            self._file, self._version, self._searched, int(offsets[-1]),
            lambda content, at: content[at + 1] <= self._highest, lambda: self._last[1],
        )  # fmt: skip
        for found in parts:
            kept = _apart(found.starts, found.ends, self._last[1])
            if len(kept):
                starts, ends = np.append(starts, found.starts[kept]), np.append(ends, found.ends[kept])
                self._last = int(starts[-1]), int(ends[-1])
                wanted = ends > offsets[0]
                wanted[-1] = True
                starts, ends = starts[wanted], ends[wanted]
        self._searched = int(offsets[-1])
        row = np.searchsorted(starts, offsets, "right") - 1
        reached: npt.NDArray[np.bool_] = (row >= 0) & (offsets < ends[row])
        return reached
