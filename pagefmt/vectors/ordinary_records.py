"""The records of a chunk that lines are made of at once: ordinary core and AMQP messages without anything odd."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.pages.record import Layout
from pagefmt.vectors.amqp.amqp_columns import may_be_amqp
from pagefmt.vectors.amqp.amqp_lines import amqp_line_parts
from pagefmt.vectors.arrays.fragments import Part, Pool
from pagefmt.vectors.arrays.order import in_order
from pagefmt.vectors.core.batch import Batch, read_regular
from pagefmt.vectors.core.core_columns import may_be_core
from pagefmt.vectors.core.core_lines import core_line_parts
from pagefmt.vectors.core.line_parts import LineSource
from pagefmt.vectors.pages.gather import PageBytes, fits_old_layout
from pagefmt.vectors.pages.scan import PageFrames

# Bytes. A larger chunk holds one huge record and goes to the reference decoder: lines with its body might not fit into
# Arrow's 2 GiB.
_LARGEST: Final = 16 << 20
LineParts: TypeAlias = Callable[[Batch, PageFrames, LineSource, Pool], list[Part]]
_KINDS: Final[tuple[tuple[LineParts, Callable[[PageBytes, Ints], Mask]], ...]] = (
    (core_line_parts, may_be_core),
    (amqp_line_parts, may_be_amqp),
)
Made = TypeVar("Made")


def regular_lines(
    content: PageBytes,
    frames: PageFrames,
    wanted: Ints,
    layout: Layout | None,
    render: Callable[[int, list[Part], Pool], Made],
    source: LineSource,
) -> list[tuple[Ints, Made]]:
    """Return what ``render`` makes of the parts of the lines, one protocol after another, each with its rows.

    ``render`` receives the number of lines, their parts and the pool of the parts' texts.
    """
    payload = frames.offset[wanted] + 5
    ordinary = content.byte(payload + 8) == 0
    if layout is Layout.OLD:
        ordinary &= fits_old_layout(content, payload, frames.length[wanted])
    results: list[tuple[Ints, Made]] = []
    for parts_of, mine in _KINDS if content.size <= _LARGEST else ():
        rows = wanted[ordinary & mine(content, payload)]
        if len(rows):
            read = partial(_read, frames=frames, source=source, parts_of=parts_of, render=render)
            rows, lines = read_regular(content, frames, rows, read)
            if lines is not None:
                results.append((rows, lines))
    return results


def ordinary_lines(
    content: PageBytes, frames: PageFrames, source: LineSource | None, wanted: Ints, layout: Layout | None
) -> tuple[Mask, pa.BinaryArray]:
    """Return which of the records ``wanted`` have a line, and these lines in file order."""
    if source is None:
        return np.zeros(len(wanted), bool), pa.array([], pa.binary())
    rendered = regular_lines(
        content, frames, wanted, layout, lambda rows, parts, pool: pool.joined(rows, parts), source
    )
    done = np.zeros(len(frames.offset), bool)
    for rows, _ in rendered:
        done[rows] = True
    return done[wanted], in_order(rendered, pa.concat_arrays) if rendered else pa.array([], pa.binary())


def _read(
    batch: Batch,
    frames: PageFrames,
    source: LineSource,
    parts_of: LineParts,
    render: Callable[[int, list[Part], Pool], Made],
) -> Made | None:
    """Render the lines of a batch. Return None if some of its records are irregular."""
    pool = Pool()
    parts = parts_of(batch, frames, source, pool)
    return render(len(batch.row), parts, pool) if batch.regular.all() else None
