"""All live records of one journal file at once (docs/spec/journal.md 3.1); ``pagefmt.journal.scan`` is the reference.

Every place where a record type and the file id stand is a candidate; the check size tells which are records. Where two
records would overlap, which no broker writes, the file is left to the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pagefmt.journal.files import HEADER, JournalHeader
from pagefmt.journal.records import CHECK, FILE_ID_MASK, FRAME_LAYOUTS, FrameLayout, JournalFrame, RecordKind, frame_at
from pagefmt.journal.scan import OldContent, TornRecords, only_fill

Ints = npt.NDArray[np.int64]
Buffer = bytes | bytearray | npt.NDArray[np.uint8]
_CODES: Final = {"B": "u1", "b": "i1", "i": ">i4", "q": ">i8"}
_COLUMNS: Final = {
    "kind": "u1", "at": "i8", "total": "i4", "body": "i8", "compact": "i1", "tx": "i8", "id": "i8", "records": "i4",
    "size": "i4", "user_type": "i1",
}  # fmt: skip
_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class JournalFrames:
    """Columns of ``pagefmt.journal.records.Frame``, as narrow as the fields are, and bytes of the file from ``base``
    on, with all small bodies."""

    kind: npt.NDArray[np.uint8]
    at: Ints
    total: npt.NDArray[np.int32]
    body: Ints
    compact: npt.NDArray[np.int8]
    tx: Ints
    id: Ints
    records: npt.NDArray[np.int32]
    size: npt.NDArray[np.int32]
    user_type: npt.NDArray[np.int8]
    content: npt.NDArray[np.uint8]
    base: int = 0

    def frame(self, row: int) -> JournalFrame:
        """One row as the record loop has it."""
        return JournalFrame(*(int(getattr(self, name)[row]) for name in JournalFrame._fields))


def fast_scan(buf: bytes, header: JournalHeader, torn: TornRecords) -> JournalFrames | None:
    """``None`` where the reference has to decide. Memory: the file, and 50 bytes for each record."""
    content = np.frombuffer(buf, np.uint8)
    at = candidates(content, header, HEADER.size)
    checks = lambda at: bodies_at(content, at, CHECK.size).view(">i4")  # noqa: E731
    found, good = records_at(content, at, header, len(content), checks)
    ends = found["at"] + found["total"]
    if (ends[:-1] > found["at"][1:]).any():
        return None
    _note_torn(buf, header, at[~good], found["at"], ends, torn)
    return JournalFrames(**found, content=content)


def records_at(
    content: npt.NDArray[np.uint8], at: Ints, header: JournalHeader, length: int, checks: Callable[[Ints], Ints]
) -> tuple[dict[str, Any], npt.NDArray[np.bool_]]:
    """Columns of the records among these offsets, and which they are. ``length``: of the file, from the start of
    ``content`` on; ``checks``: the check sizes at offsets, which may lie behind its end."""
    # zeros that nobody writes to (no record has all fields) take no memory
    columns: dict[str, Any] = {name: np.zeros(len(at), code) for name, code in _COLUMNS.items()}
    columns["at"], columns["kind"] = at, content[at]
    good = np.zeros(len(at), bool)
    for kind in np.flatnonzero(np.bincount(columns["kind"])).tolist():
        here = np.flatnonzero(columns["kind"] == kind)
        shape = FRAME_LAYOUTS[header.version][kind]
        good[here] = _fields(content, shape, here, columns, length, checks)
    return columns if good.all() else {name: column[good] for name, column in columns.items()}, good


def candidates(content: npt.NDArray[np.uint8], header: JournalHeader, start: int) -> Ints:
    """Offsets from ``start`` on where a record type is followed by the file id."""
    found = [
        _candidates_between(content, start, min(start + _AT_ONCE, len(content) - 4), header.file_id & FILE_ID_MASK)
        for start in range(start, len(content) - 4, _AT_ONCE)
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _candidates_between(content: npt.NDArray[np.uint8], start: int, end: int, file_id: int) -> Ints:
    # the kind first: most of a file is fill, and bytes below the first one wrap round
    at = (
        np.flatnonzero(content[start:end] - np.uint8(RecordKind.EVENT) <= RecordKind.ROLLBACK - RecordKind.EVENT)
        + start
    )
    here: Ints = at[bodies_at(content, at + 1, 4).view(">u4") == file_id]
    return here


def _fields(
    content: npt.NDArray[np.uint8],
    shape: FrameLayout,
    here: Ints,
    columns: dict[str, Any],
    length: int,
    checks: Callable[[Ints], Ints],
) -> npt.NDArray[np.bool_]:
    """Read the heads of all candidates of one kind; which of them are records."""
    every = columns["at"][here]
    fits = every <= length - shape.total
    at = every[fits]
    codes = [_CODES[code] for code in shape.head.format[1:]]
    heads = bodies_at(content, at, shape.head.size).view(np.dtype(list(zip(shape.fields, codes, strict=True))))
    size = heads["size"].astype(np.int64) if "size" in shape.fields else np.zeros(len(at), np.int64)
    inside = (size >= 0) & (at + size <= length - shape.total)
    check = checks(np.where(inside, at + size, at) + (shape.total - CHECK.size))
    good = np.zeros(len(here), bool)
    good[fits] = inside & (check == shape.total + size)
    rows = here[good]
    for name in shape.fields[2:]:
        columns[name][rows] = heads[name][good[fits]]
    columns["body"][rows] = columns["at"][rows] + shape.head.size
    columns["total"][rows] = shape.total + columns["size"][rows]
    return good


def bodies_at(content: Buffer, at: Ints, size: int) -> npt.NDArray[np.void]:
    """``size`` bytes from each offset on, one element each."""
    if not size or not len(at):
        return np.zeros(0, f"V{max(size, 1)}")
    return np.ndarray((len(content) - size + 1,), f"V{size}", content, strides=(1,))[at]


def _note_torn(buf: bytes, header: JournalHeader, bad: Ints, starts: Ints, ends: Ints, torn: TornRecords) -> None:
    """Candidates that are none, outside of every record; and what lies between records."""
    before = np.searchsorted(starts, bad, "right") - 1
    outside = (before < 0) | (bad >= np.where(before >= 0, ends[before] if len(ends) else 0, 0))
    before_each = np.append(HEADER.size, ends)
    old, tail, stretch = OldContent(buf, header), -1, -1
    for at, behind in zip(bad[outside].tolist(), before_each[before[outside] + 1].tolist(), strict=True):
        if not old.holds(at, behind) and (stretch == behind or only_fill(buf, behind, at)):
            torn.add(at, str(frame_at(buf, at, header.version)))
            tail, stretch = at, behind
    for gap in np.flatnonzero(before_each[:-1] < starts).tolist():
        torn.note_gap(buf, int(before_each[gap]), int(starts[gap]))
    torn.records, torn.record_bytes = len(starts), int((ends - starts).sum())
    torn.end = int(before_each[-1])
    torn.tail = tail >= torn.end
