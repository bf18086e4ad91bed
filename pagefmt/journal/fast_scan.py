"""Live records of a journal file, many at once (docs/spec/journal.md 3.1); ``pagefmt.journal.scan`` is the reference.

Every place where a record type and the file id stand is a candidate; the check size tells which are records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pagefmt.journal.records import CHECK, FILE_ID_MASK, FRAME_LAYOUTS, FrameLayout, JournalFrame, RecordKind

Ints = npt.NDArray[np.int64]
Buffer = bytes | bytearray | npt.NDArray[np.uint8]
_CODES: Final = {"B": "u1", "b": "i1", "i": ">i4", "q": ">i8"}
_COLUMNS: Final = {
    "kind": "u1", "at": "i8", "total": "i4", "body": "i8", "compact": "i1", "tx": "i8", "id": "i8", "records": "i4",
    "size": "i4", "user_type": "i1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class JournalFrames:
    """Columns of ``pagefmt.journal.records.Frame``, as narrow as the fields are.

    ``content``: the bytes of the file from ``base`` on, which include all small bodies.
    """

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
        """Return one row in the form of the record loop."""
        return JournalFrame(*(int(getattr(self, name)[row]) for name in JournalFrame._fields))


def records_at(
    content: npt.NDArray[np.uint8], at: Ints, version: int, length: int, checks: Callable[[Ints], Ints]
) -> tuple[dict[str, Any], npt.NDArray[np.bool_]]:
    """Return columns of the records among these offsets, and which offsets have one.

    ``length``: of the file, counted from the start of ``content``. ``checks``: returns the check sizes at offsets,
    which may be after the end of ``content``.
    """
    # zeros that nobody writes to (no record has all fields) take no memory
    columns: dict[str, Any] = {name: np.zeros(len(at), code) for name, code in _COLUMNS.items()}
    columns["at"], columns["kind"] = at, content[at]
    good = np.zeros(len(at), bool)
    for kind in np.flatnonzero(np.bincount(columns["kind"])).tolist():
        rows = np.flatnonzero(columns["kind"] == kind)
        shape = FRAME_LAYOUTS[version][kind]
        good[rows] = _fields(content, shape, rows, columns, length, checks)
    return columns if good.all() else {name: column[good] for name, column in columns.items()}, good


def of_file(file_id: int) -> Callable[[npt.NDArray[np.uint8], Ints], npt.NDArray[np.bool_]]:
    """Return a function that finds which offsets of record types are followed by the file id."""
    low = file_id & FILE_ID_MASK

    def choose(content: npt.NDArray[np.uint8], at: Ints) -> npt.NDArray[np.bool_]:
        matches: npt.NDArray[np.bool_] = stated_ids(content, at) == low
        return matches

    return choose


def stated_ids(content: npt.NDArray[np.uint8], at: Ints) -> npt.NDArray[np.uint32]:
    """Return the file ids after the record types at these offsets."""
    return bodies_at(content, at + 1, 4).view(">u4")


def record_types(content: npt.NDArray[np.uint8], start: int, end: int) -> Ints:
    """Return the offsets from ``start`` to ``end`` with a record type and room for a file id after it."""
    window = content[start : max(0, min(end, len(content) - 4))]
    # bytes below the first type wrap round
    return np.flatnonzero(window - np.uint8(RecordKind.EVENT) <= RecordKind.ROLLBACK - RecordKind.EVENT) + start


def _fields(
    content: npt.NDArray[np.uint8],
    shape: FrameLayout,
    rows_of_kind: Ints,
    columns: dict[str, Any],
    length: int,
    checks: Callable[[Ints], Ints],
) -> npt.NDArray[np.bool_]:
    """Read the heads of all candidates of one kind. Return which of them are records."""
    every = columns["at"][rows_of_kind]
    fits = every <= length - shape.total
    at = every[fits]
    codes = [_CODES[code] for code in shape.head.format[1:]]
    heads = bodies_at(content, at, shape.head.size).view(np.dtype(list(zip(shape.fields, codes, strict=True))))
    size = heads["size"].astype(np.int64) if "size" in shape.fields else np.zeros(len(at), np.int64)
    inside = (size >= 0) & (at + size <= length - shape.total)
    check = checks(np.where(inside, at + size, at) + (shape.total - CHECK.size))
    good = np.zeros(len(rows_of_kind), bool)
    good[fits] = inside & (check == shape.total + size)
    rows = rows_of_kind[good]
    for name in shape.fields[2:]:
        columns[name][rows] = heads[name][good[fits]]
    columns["body"][rows] = columns["at"][rows] + shape.head.size
    columns["total"][rows] = shape.total + columns["size"][rows]
    return good


def bodies_at(content: Buffer, at: Ints, size: int) -> npt.NDArray[np.void]:
    """Return ``size`` bytes from each offset on, as one element each."""
    if not size or not len(at):
        return np.zeros(0, f"V{max(size, 1)}")
    return np.ndarray((len(content) - size + 1,), f"V{size}", content, strides=(1,))[at]
