"""The program with its fast ways shut: every page and journal file is read record by record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import watched_calls

import pagefmt.columns.json_lines as json_lines
import pagefmt.columns.wanted_records as wanted_records
import pagefmt.compaction.planning as planning
import pagefmt.journal.load as load
import pagefmt.outstanding.overview as overview
from pagefmt.outstanding.route_columns import IrregularPage
from pagefmt.outstanding.state import StoreState


@contextmanager
def reference_only() -> Iterator[None]:
    """What is read in the meantime is read by the references alone, and compared with what is held against schemas."""

    def irregular(*_: Any) -> Any:
        raise IrregularPage("asked for")

    def no_lines(_content: Any, _frames: Any, _source: Any, wanted: Any, *_: Any) -> Any:
        return np.zeros(len(wanted), bool), pa.array([], pa.binary())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(load._Loader, "at_once", lambda *_: False)
        patched.setattr(StoreState, "_at_once", irregular)
        patched.setattr(overview, "_at_once", irregular)
        patched.setattr(planning._PlanWalk, "at_once", irregular)
        patched.setattr(wanted_records, "route_columns", irregular)
        patched.setattr(json_lines, "_lines", no_lines)
        patched.setattr(watched_calls, "check_call", lambda *_: None)
        yield
