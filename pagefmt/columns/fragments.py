"""Lines put together from fragments: every text is kept once in a pool, and a line is a run of pool indices.

Arrow copies the fragments of all lines behind one another in one go; nothing is done line by line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pagefmt.columns.gather import Ints, Mask

Codes: TypeAlias = npt.NDArray[np.int32]
BINARY: Final = pa.binary()


@dataclass(frozen=True, slots=True)
class Runs:
    """For each line some codes, or none: ``counts`` of them, one line's behind the other's."""

    counts: Ints
    codes: Codes


_CONSTANTS: Final = 1024
"""Room for texts of our own in front of those of the page: they become one array at the end."""

_WORTH_MERGING: Final = 64

Part: TypeAlias = int | Codes | Runs
"""What a line has at one place: the same fragment in all lines, one for each line, or some for each line."""


class Pool:
    """Fragments by number. Bytes as they will be written: UTF-8 that is escaped already."""

    __slots__ = ("_arrays", "_known", "_size")

    def __init__(self) -> None:
        self._arrays: list[pa.Array] = []
        self._known: dict[str, int] = {}
        self._size = _CONSTANTS

    def add(self, values: pa.Array) -> Codes:
        """Codes of all values, in their order. A null is an empty fragment."""
        first = self._size
        self._arrays.append(values if values.type == BINARY else values.cast(BINARY))
        self._size += len(values)
        return np.arange(first, self._size, dtype=np.int32)

    def texts(self, texts: Iterable[str]) -> Codes:
        """Codes of texts that are made one by one; few of them, or unusual ones."""
        return self.add(pa.array([text.encode() for text in texts], BINARY))

    def constant(self, text: str) -> int:
        """The code of a text that is asked for again and again."""
        code = self._known.get(text)
        if code is None:
            code = len(self._known)
            if code >= _CONSTANTS:
                return int(self.texts((text,))[0])
            self._known[text] = code
        return code

    def numbers(self, values: Ints) -> Codes:
        """Decimal text of each number; a column of one value costs nothing."""
        if len(values) and values[0] == values[-1] and bool((values == values[0]).all()):
            return np.full(len(values), self.constant(str(int(values[0]))), np.int32)
        return self.add(pa.array(values).cast(pa.string()))

    def flags(self, values: Mask) -> Codes:
        return np.where(values, self.constant("true"), self.constant("false")).astype(np.int32)

    def joined(self, lines: Runs) -> pa.BinaryArray:
        """The lines, in one buffer behind one another. Raises ``pyarrow.ArrowInvalid`` above 2 GiB."""
        lines = self._merged(lines)
        known = [text.encode() for text in self._known] + [b""] * (_CONSTANTS - len(self._known))
        pieces = pa.concat_arrays([pa.array(known, BINARY), *self._arrays]).take(pa.array(lines.codes))
        offsets = np.frombuffer(pieces.buffers()[1], np.int32)
        ends = np.concatenate(([0], np.cumsum(lines.counts)))
        return pa.Array.from_buffers(
            BINARY, len(lines.counts), [None, pa.py_buffer(offsets[ends]), pieces.buffers()[2]]
        )

    def _merged(self, lines: Runs) -> Runs:
        """Lines of one shape, as most are: constants that stand side by side in all of them become one."""
        rows = len(lines.counts)
        width = int(lines.counts[0]) if rows else 0
        if rows < _WORTH_MERGING or not bool((lines.counts == width).all()):
            return lines
        table = lines.codes.reshape(rows, width)
        fixed = (table[0] < _CONSTANTS) & (table == table[0]).all(axis=0)
        texts, columns = list(self._known), []
        for same, run in groupby(range(width), key=lambda k: bool(fixed[k])):
            if same:
                merged = self.constant("".join(texts[table[0, k]] for k in run))
                columns.append(np.full(rows, merged, np.int32))
            else:
                columns += [table[:, k] for k in run]
        return Runs(np.full(rows, len(columns)), np.stack(columns, axis=1).reshape(-1))


def laid_out(rows: int, parts: Sequence[Part]) -> Runs:
    """The parts of each line one behind the other."""
    counts = np.full(rows, sum(not isinstance(part, Runs) for part in parts), np.int64)
    for part in parts:
        if isinstance(part, Runs):
            counts += part.counts
    at = np.cumsum(counts) - counts
    out = np.empty(int(counts.sum()), np.int32)
    for part in parts:
        if isinstance(part, Runs):
            out[spread(at, part.counts)] = part.codes
            at += part.counts
        else:
            out[at] = part
            at += 1
    return Runs(counts, out)


def spread(first: Ints, counts: Ints) -> Ints:
    """``first[k]``, ``first[k] + 1`` ... ``counts[k]`` numbers for each k."""
    total = int(counts.sum())
    return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(total)


def where_present(present: Mask, inner: Runs, absent: int | Runs) -> Runs:
    """``inner`` of the lines in ``present``, for the others ``absent``."""
    if present.all():
        return inner
    other = absent if isinstance(absent, Runs) else laid_out(len(present), [absent])
    counts = np.where(present, inner.counts, other.counts)
    out = np.empty(int(counts.sum()), np.int32)
    mine = np.repeat(present, counts)
    out[mine] = inner.codes[np.repeat(present, inner.counts)]
    out[~mine] = other.codes[np.repeat(~present, other.counts)]
    return Runs(counts, out)


def listed(pool: Pool, offsets: Ints, items: Sequence[Part]) -> Runs:
    """The items of each line's list with commas between. ``items``: the parts of each item, of all lines."""
    counts = np.diff(offsets)
    total = int(offsets[-1])
    comma = np.full(total, pool.constant(","), np.int32)
    comma[offsets[:-1][counts > 0]] = pool.constant("")
    flat = laid_out(total, [comma, *items])
    ends = np.concatenate(([0], np.cumsum(flat.counts)))
    return Runs(ends[offsets[1:]] - ends[offsets[:-1]], flat.codes)
