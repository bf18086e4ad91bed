"""Lines joined from fragments: a pool holds each text once, and a line is a sequence of pool codes.

Arrow concatenates the fragments of all lines in one call. Lines mostly have the same fragments at the same places: such
parts stay columns until the end, and a text that all lines share takes no column at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pybase64 import b64encode

from pagefmt.arrays import Ints, Mask
from pagefmt.vectors.arrays.strings import offsets_and_bytes, slices
from pagefmt.vectors.pages.gather import PageBytes

Codes: TypeAlias = npt.NDArray[np.int32]
# What each line has in one position: the same fragment in all lines, or one for each line.
Cell: TypeAlias = int | Codes
BINARY: Final = pa.binary()


@dataclass(frozen=True, slots=True)
class Even:
    """Cells of which all lines have all."""

    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Runs:
    """A part with a varying number of codes per line.

    For each line some codes, or none: ``counts`` of them, one line's behind the other's.
    """

    counts: Ints
    codes: Codes


# An array has the text of each line itself. Long texts are better there: they are copied once, those of a pool twice.
Part: TypeAlias = Cell | Even | Runs | pa.BinaryArray

# Arrow allocates by an estimate and shrinks the buffer afterwards; this pool shrinks without copying.
_SHRINKING: Final = (
    pa.mimalloc_memory_pool() if "mimalloc" in pa.supported_memory_backends() else pa.default_memory_pool()
)

url_safe: Final = partial(b64encode, altchars=b"-_")
# Up to so many items, lists of equal length get one column for each item.
_ALIKE: Final = 64
# Codes reserved for constant texts, which become one array before the texts of the page.
_CONSTANTS: Final = 1024


class Pool:
    """Fragments by number. Bytes as they will be written: UTF-8 that is escaped already."""

    __slots__ = ("_arrays", "_known", "_size", "_texts")

    def __init__(self) -> None:
        self._arrays: list[pa.Array] = []
        self._known: dict[str, int] = {}
        self._texts: list[str] = []
        self._size = _CONSTANTS

    def add(self, values: pa.Array) -> Codes:
        """Return the codes of all values, in their order. A null is an empty fragment."""
        first = self._size
        self._arrays.append(values if values.type == BINARY else values.view(BINARY))
        self._size += len(values)
        return np.arange(first, self._size, dtype=np.int32)

    def texts(self, texts: Iterable[str]) -> Codes:
        """Return the codes of texts made one by one, for few or unusual texts."""
        return self.add(pa.array([text.encode() for text in texts], BINARY))

    def base64(self, page: PageBytes, at: Ints, size: Ints, encode: Callable[[Any], bytes] = b64encode) -> Codes:
        """Return the codes of the pieces' Base64, as ``base64`` makes it."""
        return self.add(pc.binary_join_element_wise(*base64(page, at, size, encode), b""))

    def constant(self, text: str) -> int:
        """Return the code of a text that is used again and again."""
        code = self._known.get(text)
        if code is None:
            code = len(self._texts)
            if code >= _CONSTANTS:
                return int(self.texts((text,))[0])
            self._known[text] = code
            self._texts.append(text)
        return code

    def numbers(self, values: Ints) -> Cell:
        """Decimal text of each number; a column of one value costs nothing."""
        if len(values) and values[0] == values[-1] and bool((values == values[0]).all()):
            return self.constant(str(int(values[0])))
        return self.add(pa.array(values).cast(pa.string()))

    def flags(self, values: Mask) -> Cell:
        """Return ``true`` or ``false`` for each line."""
        return either(values, self.constant("true"), self.constant("false"))

    def joined(self, rows: int, parts: Sequence[Part]) -> pa.BinaryArray:
        """Return the lines, in one buffer. Raise ``pyarrow.ArrowException`` above 2 GiB."""
        stretches = [
            (whole, [*run] if whole else [*self._merged(run)])
            for whole, run in groupby(flattened(parts), key=_is_array)
        ] or [(False, [])]
        constants = pa.array([text.encode() for text in self._texts], BINARY)
        room = pa.nulls(_CONSTANTS - len(constants), BINARY)
        pool = pa.concat_arrays([constants, room, *self._arrays])
        pieces: list[pa.BinaryArray] = []
        for whole, run in stretches:
            pieces += run if whole else [_from_pool(pool, rows, run)]
        return pieces[0] if len(pieces) == 1 else pc.binary_join_element_wise(*pieces, b"")

    def _merged(self, parts: Iterable[Cell | Runs]) -> Iterator[Cell | Runs]:
        """Yield the parts with neighbouring constants joined into one."""
        seen = [part if isinstance(part, Runs) else settled(part) for part in parts]
        for same, run in groupby(seen, key=_is_constant):
            if same:
                yield self.constant("".join(self._texts[code] for code in run if isinstance(code, int)))
            else:
                yield from run


def _from_pool(pool: pa.BinaryArray, rows: int, parts: Sequence[Cell | Runs]) -> pa.BinaryArray:
    """Return the parts of each line, copied from the pool."""
    lines = laid_out(rows, parts)
    runs = lines if isinstance(lines, Runs) else as_runs(rows, lines.cells)
    pieces = pc.take(pool, pa.array(runs.codes), boundscheck=False, memory_pool=_SHRINKING)
    _, offsets, content = pieces.buffers()
    ends = np.frombuffer(offsets, np.int32)[edges(runs.counts)]
    return pa.Array.from_buffers(BINARY, rows, [None, pa.py_buffer(ends), content])


def base64(page: PageBytes, at: Ints, size: Ints, encode: Callable[[Any], bytes] = b64encode) -> list[pa.BinaryArray]:
    """Return two arrays that make the pieces' Base64, one behind the other.

    Three bytes become four characters, whatever stands beside them: the whole threes of all pieces are encoded in one
    call, and so are the one or two bytes that are left of each. ``encode`` chooses the alphabet.
    """
    tail_size = size % 3
    whole = slices(page, at, size - tail_size)
    offsets, content = offsets_and_bytes(whole)
    text = encode(content)
    ends = pa.py_buffer(offsets // 3 * 4)
    last = np.zeros((len(at), 3), np.uint8)
    for n in (0, 1):
        last[:, n] = np.where(tail_size > n, page.byte(at + size - tail_size + n), 0)
    tail = np.frombuffer(encode(last), np.uint8).reshape(-1, 4).copy()
    tail[:, 2][tail_size == 1] = tail[:, 3] = ord("=")
    tail_ends = edges((tail_size > 0) * 4).astype(np.int32)
    return [
        pa.Array.from_buffers(BINARY, len(at), [None, ends, pa.py_buffer(text)]),
        pa.Array.from_buffers(
            BINARY, len(at), [None, pa.py_buffer(tail_ends), pa.py_buffer(tail[tail_size > 0].tobytes())]
        ),
    ]


def _is_array(part: Part) -> bool:
    return isinstance(part, pa.Array)


def _is_constant(part: Cell | Runs) -> bool:
    return isinstance(part, int) and part < _CONSTANTS


def settled(cell: Cell) -> Cell:
    """Return the single code of a column that has the same one in all lines; else return the column."""
    if isinstance(cell, int) or not len(cell) or cell[0] != cell[-1] or not bool((cell == cell[0]).all()):
        return cell
    return int(cell[0])


def either(where: Mask, true: Cell, false: Cell) -> Cell:
    """Return ``true`` where the mask is set, else ``false``."""
    if where.all():
        return true
    return np.where(where, true, false).astype(np.int32) if where.any() else false


def flattened(parts: Iterable[Part]) -> Iterator[Cell | Runs | pa.BinaryArray]:
    """Yield the parts, with the cells of even parts one by one."""
    for part in parts:
        if isinstance(part, Even):
            yield from part.cells
        else:
            yield part


def laid_out(rows: int, parts: Iterable[Part]) -> Even | Runs:
    """Return the parts of each line in their order, as one part."""
    flat = list(flattened(parts))
    cells = [part for part in flat if not isinstance(part, Runs)]
    if len(cells) == len(flat):
        return Even(tuple(cells))
    counts = np.full(rows, len(cells), np.int64)
    for part in flat:
        if isinstance(part, Runs):
            counts += part.counts
    # ``at`` is the next free slot of each line; each part advances it by the number of its codes.
    at = np.cumsum(counts) - counts
    out = np.empty(int(counts.sum()), np.int32)
    for part in flat:
        if isinstance(part, Runs):
            out[spread(at, part.counts)] = part.codes
            at += part.counts
        else:
            out[at] = part
            at += 1
    return Runs(counts, out)


def as_runs(rows: int, cells: Sequence[Cell]) -> Runs:
    """Return the cells of each line as one run."""
    table = np.empty((rows, len(cells)), np.int32)
    for n, cell in enumerate(cells):
        table[:, n] = cell
    return Runs(np.full(rows, len(cells)), table.reshape(-1))


def edges(counts: Ints) -> Ints:
    """Return the start of each line's run, and the end of the last one."""
    return np.concatenate(([0], np.cumsum(counts)))


def spread(first: Ints, counts: Ints) -> Ints:
    """Return consecutive numbers for each k, concatenated.

    ``first[k]``, ``first[k] + 1`` ... ``counts[k]`` numbers for each k.
    """
    total = int(counts.sum())
    return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(total)


def where_present(pool: Pool, present: Mask, inner: Even | Runs, absent: int | Even | Runs) -> Part:
    """Return ``inner`` for the lines in ``present``, and ``absent`` for the others."""
    if present.all():
        return inner
    if not present.any():
        return absent
    rows = len(present)
    if isinstance(inner, Even) and isinstance(absent, int):
        first, *others = inner.cells
        empty = pool.constant("")
        return Even((either(present, first, absent), *(either(present, cell, empty) for cell in others)))
    mine, other = _runs(rows, inner), _runs(rows, absent)
    counts = np.where(present, mine.counts, other.counts)
    out = np.empty(int(counts.sum()), np.int32)
    is_inner = np.repeat(present, counts)
    out[is_inner] = mine.codes[np.repeat(present, mine.counts)]
    out[~is_inner] = other.codes[np.repeat(~present, other.counts)]
    return Runs(counts, out)


def _runs(rows: int, part: int | Even | Runs) -> Runs:
    if isinstance(part, Runs):
        return part
    return as_runs(rows, (part,) if isinstance(part, int) else part.cells)


def listed(pool: Pool, offsets: Ints, items: Sequence[Cell]) -> Even | Runs:
    """Return the items of each line's list with commas between them.

    ``items``: the cells of each item, over all lines.
    """
    counts = np.diff(offsets)
    comma = pool.constant(",")
    width = int(counts[0]) if len(counts) else 0
    if width <= _ALIKE and bool((counts == width).all()):
        columns = [_by_place(item, len(counts), width) for item in items]
        return Even(tuple(cell for n in range(width) for cell in ([comma] * (n > 0) + [c[n] for c in columns])))
    total = int(offsets[-1])
    commas = np.full(total, comma, np.int32)
    commas[offsets[:-1][counts > 0]] = pool.constant("")
    flat = as_runs(total, [commas, *items])
    return Runs(counts * (1 + len(items)), flat.codes)


def _by_place(item: Cell, rows: int, width: int) -> Sequence[Cell]:
    """Return a column for the first, second, … item of all lines; each line has ``width`` items."""
    return [item] * width if isinstance(item, int) else list(item.reshape(rows, width).T)
