"""The program with its fast ways shut: every page and journal file is read record by record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import watched_calls

import pagefmt.change.compaction.planning as planning
import pagefmt.journal.load as load
import pagefmt.table.json_lines as json_lines
import pagefmt.vectors.record_choice as record_choice
from pagefmt.journal.columns import SMALL, JournalColumns
from pagefmt.journal.files import JournalFile
from pagefmt.journal.position_bodies import SIZE as POSITION
from pagefmt.journal.records import JournalFrame, RecordKind
from pagefmt.journal.scan import scan
from pagefmt.storage.files import FileStretches
from pagefmt.vectors.routes.route_columns import IrregularPage
from pagefmt.vectors.routes.whole_pages import RouteVectors


def record_by_record(loader: load._Loader, number: int, file: JournalFile, opened: FileStretches, torn: Any) -> None:
    """Load every record of a file by itself, as a broker does; the reference for ``_Loader.in_windows``."""
    content = bytes(opened[0 : opened.size])
    for frame in scan(content, file.header, torn):
        match frame.kind:
            case RecordKind.ADD | RecordKind.UPDATE:
                loader.rows.append(one_more(loader.columns, frame, content))
            case RecordKind.DELETE:
                loader.deleted.append(frame.id)
            case RecordKind.ADD_TX | RecordKind.UPDATE_TX | RecordKind.DELETE_TX:
                loader.in_transaction(frame, content, number, one_more(loader.columns, frame, content))
            case RecordKind.PREPARE | RecordKind.COMMIT | RecordKind.ROLLBACK:
                loader.in_transaction(frame, content, number, -1)


def one_more(columns: JournalColumns, frame: JournalFrame, content: bytes) -> int:
    """Add one record to the columns and return its row; the reference for ``JournalColumns.extend``."""
    row = len(columns)
    columns.ids.append(frame.id)
    columns.types.append(frame.user_type)
    columns.updates.append(frame.kind in (RecordKind.UPDATE, RecordKind.UPDATE_TX))
    columns.compacts.append(frame.compact)
    columns.sizes.append(frame.size)
    body = content[frame.body : frame.body + frame.size]
    if frame.size == POSITION:
        columns.places.append(columns.position_bodies.add(body))
    elif frame.size <= SMALL:
        columns.places.append(len(columns.small))
        columns.small += body
    else:
        columns.places.append(frame.body)
    return row


@contextmanager
def reference_only() -> Iterator[None]:
    """Disable the fast paths, so that all reading uses the reference code, and skip the check against schemas."""

    def irregular(*_: Any) -> Any:
        raise IrregularPage("asked for")

    def no_lines(_content: Any, _frames: Any, _source: Any, wanted: Any, *_: Any) -> Any:
        return np.zeros(len(wanted), bool), pa.array([], pa.binary())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(load._Loader, "in_windows", record_by_record)
        patched.setattr(RouteVectors, "load", lambda *_: None)
        patched.setattr(RouteVectors, "count", lambda *_: None)
        patched.setattr(planning._PlanWalk, "at_once", irregular)
        patched.setattr(record_choice, "route_columns", irregular)
        patched.setattr(json_lines, "ordinary_lines", no_lines)
        patched.setattr(watched_calls, "check_call", lambda *_: None)
        yield
