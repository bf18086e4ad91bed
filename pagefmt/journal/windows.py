"""Reading of journal files in windows of some MiB, so that memory does not depend on a file's size or content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pagefmt.journal.fast_scan import Ints, JournalFrames, bodies_at, of_file, record_types, records_at, stated_ids
from pagefmt.journal.files import HEADER, JournalHeader
from pagefmt.journal.records import CHECK, FILE_ID_MASK, JournalFrame, frame_at
from pagefmt.journal.scan import JournalBytes, TornRecords, only_fill

WINDOW: Final = 8 << 20
# Bytes. No record without its body is as long.
LONGEST_HEAD: Final = 64
# Bytes of a window searched at once, and offsets processed at once.
STRETCH: Final = 1 << 18
# Bytes. Check sizes within such a block are read together.
_NEAR: Final = 1 << 12
# Selects the offsets of record types in a window that are candidates.
Choice = Callable[[npt.NDArray[np.uint8], Ints], npt.NDArray[np.bool_]]


class _Candidates(NamedTuple):
    """Offsets ``at`` in a window that look like records; ``good`` marks those that are. ``columns``: of these alone."""

    base: int
    content: npt.NDArray[np.uint8]
    at: Ints
    good: npt.NDArray[np.bool_]
    columns: dict[str, Any]

    @property
    def starts(self) -> Ints:
        """Return the offsets of the records in the file."""
        offsets: Ints = self.columns["at"] + self.base
        return offsets

    @property
    def ends(self) -> Ints:
        """Return the offsets in the file after the records' last bytes."""
        offsets: Ints = self.starts + self.columns["total"]
        return offsets


def frames_in_windows(file: JournalBytes, header: JournalHeader, torn: TornRecords) -> Iterator[JournalFrames]:
    """Yield the live records after ``torn.end``, window by window, in the order of their offsets.

    Time is linear in the size of the file, whatever its content. Torn records are added to ``torn``.
    """
    gap = _Gap(file, header, torn)
    for candidates in _candidates(file, header.version, torn.end, len(file), of_file(header.file_id), lambda: torn.end):
        starts, ends = candidates.starts, candidates.ends
        kept = _apart(starts, ends, torn.end)
        columns = candidates.columns
        if len(kept) < len(starts):
            starts, ends = starts[kept], ends[kept]
            columns = {name: column[kept] for name, column in columns.items()}
        gap.note(candidates.at[~candidates.good] + candidates.base, starts, ends)
        if len(starts):
            columns["at"], columns["body"] = starts, columns["body"] + candidates.base
            yield JournalFrames(**columns, content=candidates.content, base=candidates.base)


def chosen_frames(
    file: JournalBytes, header: JournalHeader, torn: TornRecords, record: int | None, user_type: int | None
) -> Iterator[JournalFrame]:
    """Yield the records of a file with this id and user type; None selects any.

    Torn records are added to ``torn``.
    """
    for frames in frames_in_windows(file, header, torn):
        for frame in map(frames.frame, range(len(frames.at))):
            if record in (None, frame.id) and user_type in (None, frame.user_type):
                yield frame


def first_stated(file: JournalBytes, version: int, wanted: Sequence[int]) -> int | None:
    """Return the file id of the first record whose file id is one of ``wanted``, or None if no record has one."""
    for candidates in _candidates(
        file, version, HEADER.size, len(file), lambda content, at: np.isin(stated_ids(content, at), wanted), lambda: 0
    ):
        if candidates.good.any():
            first = candidates.at[candidates.good][:1]
            return int(stated_ids(candidates.content, first)[0])
    return None


def _candidates(
    file: JournalBytes, version: int, start: int, end: int, choose: Choice, passed: Callable[[], int]
) -> Iterator[_Candidates]:
    """Yield the candidates from ``start`` to ``end``, in batches that take little memory.

    Skips offsets before ``passed()``.
    """
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
    """Check sizes at offsets of a window; those after its end are read from the file."""

    file: JournalBytes
    base: int
    content: npt.NDArray[np.uint8]

    def at(self, wanted: Ints) -> Ints:
        """Return the check sizes at these offsets, counted from the start of the window."""
        inside = wanted <= len(self.content) - CHECK.size
        sizes = np.zeros(len(wanted), np.int64)
        sizes[inside] = bodies_at(self.content, wanted[inside], CHECK.size).view(">i4")
        far = np.flatnonzero(~inside)
        if not len(far):
            return sizes
        far = far[np.argsort(wanted[far], kind="stable")]
        at = wanted[far] + self.base
        breaks = np.flatnonzero(at[1:] // _NEAR != at[:-1] // _NEAR) + 1
        for start, end in pairwise((0, *breaks.tolist(), len(at))):
            first = int(at[start])
            part = np.frombuffer(self.file[first : int(at[end - 1]) + CHECK.size], np.uint8)
            sizes[far[start:end]] = bodies_at(part, at[start:end] - first, CHECK.size).view(">i4")
        return sizes


def _apart(starts: Ints, ends: Ints, end: int) -> Ints:
    """Return the rows of the records that do not begin within an earlier one, from the offset ``end`` on.

    No broker nests records, but a body may contain bytes of one.
    """
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
    """The bytes between a live record and the next one: whether a torn record begins there, and how many follow."""

    __slots__ = ("_file", "_header", "_old", "_seen", "_torn")

    def __init__(self, file: JournalBytes, header: JournalHeader, torn: TornRecords) -> None:
        self._file, self._header, self._torn = file, header, torn
        self._old: _OldContent | None = None
        # end of the record after which the first candidate was checked
        self._seen = -1

    def note(self, bad: Ints, starts: Ints, ends: Ints) -> None:
        """Add the next live records, and the failed candidates up to and after the last of them."""
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
    """The records of lower file ids that a reused file held before, from an offset on.

    A field of one of them may look like the start of a record.
    """

    __slots__ = ("_file", "_highest", "_last", "_searched", "_version")

    def __init__(self, file: JournalBytes, header: JournalHeader, start: int) -> None:
        self._file, self._version = file, header.version
        self._highest = (header.file_id & FILE_ID_MASK) >> 24
        self._last = start, start
        self._searched = start

    def holds(self, offsets: Ints) -> npt.NDArray[np.bool_]:
        """Return which offsets an old record covers. Call with rising offsets."""
        starts, ends = [np.array([bound]) for bound in self._last]
        parts = _candidates(
            self._file,
            self._version,
            self._searched,
            int(offsets[-1]),
            lambda content, at: content[at + 1] <= self._highest,
            lambda: self._last[1],
        )
        for candidates in parts:
            kept = _apart(candidates.starts, candidates.ends, self._last[1])
            if len(kept):
                starts, ends = np.append(starts, candidates.starts[kept]), np.append(ends, candidates.ends[kept])
                self._last = int(starts[-1]), int(ends[-1])
                wanted = ends > offsets[0]
                wanted[-1] = True
                starts, ends = starts[wanted], ends[wanted]
        self._searched = int(offsets[-1])
        row = np.searchsorted(starts, offsets, "right") - 1
        reached: npt.NDArray[np.bool_] = (row >= 0) & (offsets < ends[row])
        return reached
