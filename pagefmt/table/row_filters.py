"""Tests of single columns that rows have to pass: they leave out files by their names, and rows by their headers.

What passes may still fail: whoever asked looks at the rows that come. A test of a column that nothing is known of here
passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Mask
from pagefmt.describe.arrow_schema import Detail, schema

EQUAL, IN, PREFIX = "==", "in", "prefix"
_COMPARED: Final[dict[str, tuple[Callable[[Any, Any], bool], Any]]] = {
    EQUAL: (lambda value, bound: value == bound, pc.equal),
    ">": (lambda value, bound: value > bound, pc.greater),
    ">=": (lambda value, bound: value >= bound, pc.greater_equal),
    "<": (lambda value, bound: value < bound, pc.less),
    "<=": (lambda value, bound: value <= bound, pc.less_equal),
    IN: (lambda value, bound: value in bound, lambda values, bound: _is_in(values, pa.array(bound))),
    PREFIX: (lambda value, bound: value.startswith(bound), pc.starts_with),
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIMES: Final = {"sent": "timestamp", "expires": "expiration"}
_HEADERS: Final = frozenset(schema(Detail.HEADERS).names) - {"queues"}


def _is_in(values: pa.Array, bound: pa.Array) -> pa.Array:
    return pc.is_in(values.cast(bound.type), bound)


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """A comparison of a column with a value.

    ``operator``: ``==``, ``<``, ``<=``, ``>``, ``>=``, ``in`` (with a tuple) or ``prefix``.
    """

    column: str
    operator: str
    value: Any

    def passes(self, value: Any) -> bool:
        """Return whether a row with this value may pass. Null never does."""
        return value is not None and bool(_COMPARED[self.operator][0](value, self.value))


def may_pass(tests: Iterable[ColumnTest], column: str, value: Any) -> bool:
    """Return whether rows that all have this value in a column may pass."""
    return all(test.passes(value) for test in tests if test.column == column)


def header_tests(tests: Iterable[ColumnTest]) -> Callable[[pa.RecordBatch], Mask] | None:
    """Return a function that selects rows by their headers, or None if no test is about headers."""
    tests_of_headers = tuple(test_ for test in tests if (test_ := _of_headers(test)).column in _HEADERS)
    if not tests_of_headers:
        return None

    def mask(headers: pa.RecordBatch) -> Mask:
        mask_ = np.ones(headers.num_rows, bool)
        for test in tests_of_headers:
            passed = _COMPARED[test.operator][1](headers.column(test.column), test.value)
            mask_ &= np.asarray(pc.fill_null(passed, False))
        return mask_

    return mask


def _of_headers(test: ColumnTest) -> ColumnTest:
    """Return the test on the time column in ms. Bounds are widened by 1 ms, since that column is less precise."""
    if test.column not in _TIMES or not isinstance(test.value, datetime):
        return test
    at = (test.value - _EPOCH) // timedelta(milliseconds=1)  # in whole numbers: seconds as a float are not exact
    wide = {">": (">=", at - 1), ">=": (">=", at - 1), "<": ("<=", at + 1), "<=": ("<=", at + 1)}
    operator, bound = wide.get(test.operator, (EQUAL, at))
    return ColumnTest(_TIMES[test.column], operator, bound)
