"""Puts parts of a page that were read separately back into record order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints

# Average rows per stretch: above this stretches are sliced and joined, below it rows are taken one by one.
_SHORTEST: Final = 16


def in_order(parts: Sequence[tuple[Ints, Any]], concat: Callable[[list[Any]], Any]) -> Any:
    """Merge arrays or batches by their ascending rows. ``concat`` is the Arrow function that joins them."""
    parts = [part for part in parts if len(part[0])] or parts[:1]
    if len(parts) == 1:
        return parts[0][1]
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows, kind="stable")
    part = np.repeat(np.arange(len(parts)), [len(rows) for rows, _ in parts])[order]
    # In merged order, runs of rows from one part are consecutive in it: they can be sliced instead of taken row by row.
    cuts = np.flatnonzero(part[1:] != part[:-1]) + 1
    if len(cuts) > len(rows) // _SHORTEST:
        return concat([values for _, values in parts]).take(pa.array(order))
    stretches = []
    used = [0] * len(parts)
    for first, behind in pairwise([0, *cuts.tolist(), len(rows)]):
        which = int(part[first])
        stretches.append(parts[which][1].slice(used[which], behind - first))
        used[which] += behind - first
    return concat(stretches)
