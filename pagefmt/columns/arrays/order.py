"""Puts parts of a page that were read separately back into record order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pagefmt.pages.gather import Ints

_SHORTEST: Final = 16
"""Stretches this long are joined; shorter ones are picked row by row."""


def in_order(parts: Sequence[tuple[Ints, Any]], concat: Callable[[list[Any]], Any]) -> Any:
    """One array or batch of several, each with its rows, which ascend; ``concat`` is Arrow's for their kind."""
    parts = [part for part in parts if len(part[0])] or parts[:1]
    if len(parts) == 1:
        return parts[0][1]
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows, kind="stable")
    part = np.repeat(np.arange(len(parts)), [len(rows) for rows, _ in parts])[order]
    cuts = np.flatnonzero(part[1:] != part[:-1]) + 1
    if len(cuts) > len(rows) // _SHORTEST:
        return concat([each for _, each in parts]).take(pa.array(order))
    stretches = []
    taken = [0] * len(parts)
    for first, behind in pairwise([0, *cuts.tolist(), len(rows)]):
        which = int(part[first])
        stretches.append(parts[which][1].slice(taken[which], behind - first))
        taken[which] += behind - first
    return concat(stretches)
