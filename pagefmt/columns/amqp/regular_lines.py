"""The records of a chunk that lines are made of at once: ordinary core and AMQP messages without anything odd."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias, TypeVar

from pagefmt.columns.amqp.amqp_columns import may_be_amqp
from pagefmt.columns.amqp.amqp_lines import amqp_line_parts
from pagefmt.columns.arrays.fragments import Part, Pool
from pagefmt.columns.core.batch import Batch, read_regular
from pagefmt.columns.core.core_columns import may_be_core
from pagefmt.columns.core.core_lines import core_line_parts
from pagefmt.columns.core.line_parts import LineSource
from pagefmt.pages.gather import Ints, Mask, PageBytes, fits_old_layout
from pagefmt.pages.record import Layout
from pagefmt.pages.scan import PageFrames

_LARGEST: Final = 16 << 20
"""Bytes. A larger chunk holds one huge record and goes to the reference decoder: lines with its body might not fit into
an Arrow array."""
LineParts: TypeAlias = Callable[[Batch, PageFrames, LineSource, Pool], list[Part]]
_KINDS: Final[tuple[tuple[LineParts, Callable[[PageBytes, Ints], Mask]], ...]] = (
    (core_line_parts, may_be_core), (amqp_line_parts, may_be_amqp),
)  # fmt: skip
Made = TypeVar("Made")


def regular_lines(
    content: PageBytes, frames: PageFrames, wanted: Ints, layout: Layout | None,
    made: Callable[[int, list[Part], Pool], Made], source: LineSource,
) -> list[tuple[Ints, Made]]:  # fmt: skip
    """What ``made`` makes of the parts of so many lines, of one kind after the other, and of which rows."""
    payload = frames.offset[wanted] + 5
    ordinary = content.byte(payload + 8) == 0
    if layout is Layout.OLD:
        ordinary &= fits_old_layout(content, payload, frames.length[wanted])
    found: list[tuple[Ints, Made]] = []
    for parts_of, mine in _KINDS if content.size <= _LARGEST else ():
        rows = wanted[ordinary & mine(content, payload)]
        if len(rows):
            read = partial(_read, frames=frames, source=source, parts_of=parts_of, made=made)
            rows, lines = read_regular(content, frames, rows, read)
            if lines is not None:
                found.append((rows, lines))
    return found


def _read(
    batch: Batch, frames: PageFrames, source: LineSource, parts_of: LineParts,
    made: Callable[[int, list[Part], Pool], Made],
) -> Made | None:  # fmt: skip
    """None where some of the records are irregular."""
    pool = Pool()
    parts = parts_of(batch, frames, source, pool)
    return made(len(batch.row), parts, pool) if batch.regular.all() else None
