"""All live records of one journal file at once (spec/journal.md 3.1); ``pagefmt.journal.scan`` is the reference.

Every place where a record type and the file id stand is a candidate; the check size tells which are records. Where two
records would overlap, which takes an accident or a forger, the file is left to the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from pagefmt.journal.files import HEADER, Header
from pagefmt.journal.records import FILE_ID_MASK, SHAPES, Frame, Kind, frame_at
from pagefmt.journal.scan import TornRecords

Ints = npt.NDArray[np.int64]
_WIDTHS: Final = {"B": 1, "b": 1, "i": 4, "q": 8}
_PADDING: Final = 64


@dataclass(frozen=True, slots=True)
class Frames:
    """Columns of ``pagefmt.journal.records.Frame``, and the bytes of the file with some zeros behind."""

    kind: Ints
    at: Ints
    total: Ints
    body: Ints
    compact: Ints
    tx: Ints
    id: Ints
    records: Ints
    size: Ints
    user_type: Ints
    content: npt.NDArray[np.uint8]

    def frame(self, row: int) -> Frame:
        return Frame(*(int(getattr(self, name)[row]) for name in Frame._fields))


def fast_scan(buf: bytes, header: Header, torn: TornRecords) -> Frames | None:
    """``None`` where the reference has to decide. Memory: a few times the file."""
    content = np.frombuffer(buf + bytes(_PADDING), np.uint8)
    at = _candidates(content, len(buf), header)
    columns = {name: np.zeros(len(at), np.int64) for name in Frame._fields}
    columns["at"] = at
    columns["kind"] = content[at].astype(np.int64)
    good = np.zeros(len(at), bool)
    for kind in Kind:
        here = np.flatnonzero(columns["kind"] == kind)
        if len(here):
            good[here] = _fields(content, len(buf), header.version, kind, here, columns)
    found = {name: column[good] for name, column in columns.items()}
    ends = found["at"] + found["total"]
    if (ends[:-1] > found["at"][1:]).any():
        return None
    _note_torn(buf, header, at[~good], found["at"], ends, torn)
    return Frames(**found, content=content)


def _candidates(content: npt.NDArray[np.uint8], size: int, header: Header) -> Ints:
    """Offsets behind the header where a record type is followed by the file id."""
    wanted = (header.file_id & FILE_ID_MASK).to_bytes(4, "big")
    window = content[HEADER.size : size]
    if len(window) < 5:
        return np.zeros(0, np.int64)
    last = len(window) - 4
    # the kind first: most of a file is fill
    at = np.flatnonzero((window[:last] >= Kind.EVENT) & (window[:last] <= Kind.ROLLBACK))
    for distance, byte in enumerate(wanted, 1):
        at = at[window[at + distance] == byte]
    return at.astype(np.int64) + HEADER.size


def _fields(
    content: npt.NDArray[np.uint8], size: int, version: int, kind: Kind, here: Ints, columns: dict[str, Ints]
) -> npt.NDArray[np.bool_]:
    """Read the heads of all candidates of one kind; which of them are records."""
    shape = SHAPES[version][kind]
    at = columns["at"][here]
    fits = at + shape.total <= size
    offset = 0
    for name, code in zip(shape.fields, shape.head.format[1:], strict=True):
        if name not in ("kind", "file_id"):
            columns[name][here] = np.where(fits, _read(content, np.where(fits, at + offset, 0), code), 0)
        offset += _WIDTHS[code]
    columns["body"][here] = at + shape.head.size
    total = shape.total + columns["size"][here]
    columns["total"][here] = total
    fits &= (columns["size"][here] >= 0) & (at + total <= size)
    check = _read(content, np.where(fits, at + total - 4, 0), "i")
    good: npt.NDArray[np.bool_] = fits & (check == total)
    return good


def _read(content: npt.NDArray[np.uint8], at: Ints, code: str) -> Ints:
    if _WIDTHS[code] == 1:
        return content[at].view(np.int8).astype(np.int64)
    kind = np.dtype(f">i{_WIDTHS[code]}")
    view = np.ndarray((len(content) - kind.itemsize + 1,), dtype=kind, buffer=content, strides=(1,))
    return view[at].astype(np.int64)


def _note_torn(buf: bytes, header: Header, bad: Ints, starts: Ints, ends: Ints, torn: TornRecords) -> None:
    """Candidates that are none, outside of every record."""
    before = np.searchsorted(starts, bad, "right") - 1
    outside = (before < 0) | (bad >= np.where(before >= 0, ends[before] if len(ends) else 0, 0))
    for at in bad[outside].tolist():
        torn.add(at, str(frame_at(buf, at, header.version)))
