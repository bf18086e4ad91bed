"""Fields of the bodies of small records: about references, and about positions in pages (docs/spec/journal.md 4)."""

from __future__ import annotations

from typing import Final

import numpy as np

from pagefmt.arrays import Fields, Ints
from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.record_types import RecordType

_QUEUE: Final = np.dtype([("queue", ">i8")])
_POSITION: Final = np.dtype([("queue", ">i8"), ("page", ">i8"), ("number", ">i4")])
_LAYOUTS: Final = {
    RecordType.ADD_REF: _QUEUE,
    RecordType.ACKNOWLEDGE_REF: _QUEUE,
    RecordType.UPDATE_DELIVERY_COUNT: np.dtype([("queue", ">i8"), ("value", ">i4")]),
    RecordType.SET_SCHEDULED_DELIVERY_TIME: np.dtype([("queue", ">i8"), ("value", ">i8")]),
    RecordType.PAGE_TRANSACTION: np.dtype([("tx", ">i8"), ("references", ">i4")]),
    RecordType.ACKNOWLEDGE_CURSOR: _POSITION,
    RecordType.PAGE_CURSOR_COMPLETE: _POSITION,
}


def bodies_of(columns: JournalColumns, rows: Ints, kind: RecordType) -> tuple[Ints, Fields]:
    """Return the indexes of those of the rows whose bodies are long enough for their type, and the fields of these."""
    layout = _LAYOUTS[kind]
    fits = np.flatnonzero(columns.sizes.at(rows) >= layout.itemsize)
    fields: Fields = columns.beginnings(rows[fits], layout.itemsize).view(layout)
    return fits, fields
