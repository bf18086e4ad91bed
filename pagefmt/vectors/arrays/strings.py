"""Slices of a page as Arrow arrays: bytes as they are, UTF-16 as UTF-8, all values of a column at once.

A page's text is UTF-16 little-endian with lone surrogates allowed (Java strings); Arrow text is UTF-8, which cannot
hold them: they come out as U+FFFD here. Whoever needs them exactly reads the message with the reference decoder.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Bytes, Ints, Mask
from pagefmt.vectors.pages.gather import PageBytes

Offsets = npt.NDArray[np.int32]


def slices(page: PageBytes, start: Ints, length: Ints, valid: Mask | None = None) -> pa.BinaryArray:
    """Return one binary value per (start, length), null where ``valid`` is false. Arrow does the copying.

    Offsets of an Arrow array must not fall, and starts rise as records do, so the page itself serves as the value
    buffer of an array in which every second value is the gap between two slices. Raises ``IndexError`` for slices
    beyond the page.
    """
    n = len(start)
    if n == 0:
        return pa.array([], pa.binary())
    if valid is not None and not valid.any():
        return pa.nulls(n, pa.binary())
    if valid is not None and bool(valid.all()):
        valid = None
    if valid is None and bool((length == length[0]).all()):
        return _of_one_length(page, start, int(length[0]))
    if valid is not None:
        length = np.where(valid, length, 0)
    order = None
    if n > 1 and bool(np.any(start[1:] < start[:-1] + length[:-1])):
        if valid is not None:
            start = _fill_gaps(start, valid)
        if bool(np.any(start[1:] < start[:-1] + length[:-1])):
            order = np.argsort(start, kind="stable")
            start, length = start[order], length[order]
    end = start + length
    if int(length.min()) < 0 or int(start[0]) < 0 or int(end[-1]) > len(page.buffer):
        raise IndexError("slices reach beyond the page: Arrow does not look")
    offsets = np.empty(2 * n + 1, np.int32)
    offsets[0:-1:2] = start
    offsets[1::2] = end
    offsets[-1] = end[-1]
    picked = every_second(page, offsets)
    if order is not None:
        back = np.empty(n, np.int64)
        back[order] = np.arange(n)
        picked = picked.take(pa.array(back))
    return with_nulls(picked, valid)


def every_second(page: PageBytes, offsets: Offsets) -> pa.BinaryArray:
    """Return the slices between each pair of ``offsets``; after the pairs the last offset must be repeated.

    Offsets must not fall and must lie inside the page. Arrow reserves for each value the average size of all of them,
    gaps included, and copies when that was too little: empty values at the end, which are cut off, make it reserve
    enough.
    """
    n = len(offsets) // 2
    whole = pa.BinaryArray.from_buffers(pa.binary(), 2 * n, [None, pa.py_buffer(offsets), pa.py_buffer(page.buffer)])
    wanted = int(np.sum(offsets[1::2] - offsets[0:-1:2], dtype=np.int64))
    spread = int(offsets[-1]) - int(offsets[0])
    enough = max(n, -(-wanted * 2 * n // spread) + 1) if spread else n
    rows = np.full(enough, 2 * n - 1, np.int32)
    rows[:n] = np.arange(0, 2 * n, 2, dtype=np.int32)
    return pc.take(whole, pa.array(rows), boundscheck=False).slice(0, n)


def table_slices(page: PageBytes, columns: Sequence[tuple[Ints, Ints | int]], rows: int) -> pa.BinaryArray:
    """Return the slices (start, length) of some columns, row by row.

    In a row they must rise, and lie inside the page.
    """
    offsets = np.empty(2 * rows * len(columns) + 1, np.int32)
    pairs = offsets[:-1].reshape(rows, len(columns), 2)
    for k, (at, size) in enumerate(columns):
        pairs[:, k, 0] = at
        np.add(at, size, out=pairs[:, k, 1], casting="unsafe")
    offsets[-1] = offsets[-2]
    return every_second(page, offsets)


def _of_one_length(page: PageBytes, start: Ints, length: int) -> pa.BinaryArray:
    n = len(start)
    if length < 0 or int(start.min()) < 0 or int(start.max()) + length > len(page.buffer):
        raise IndexError("slices reach beyond the page")
    content = page.window(start, length) if length else np.empty(0, np.uint8)
    offsets = np.arange(0, n * length + 1, length, dtype=np.int32) if length else np.zeros(n + 1, np.int32)
    return pa.BinaryArray.from_buffers(pa.binary(), n, [None, pa.py_buffer(offsets), pa.py_buffer(content)])


def distinct(page: PageBytes, start: Ints, length: Ints, period: int = 1) -> pa.DictionaryArray:
    """Return the slices, dictionary-encoded. ``period``: values at that distance are likely to be equal."""
    n = len(start)
    if 0 < period < n and n % period == 0 and _repeat(page, start.reshape(-1, period), length, period):
        first = slices(page, start[:period], length[:period]).dictionary_encode()
        indices = np.tile(np.asarray(first.indices), n // period)
        return pa.DictionaryArray.from_arrays(pa.array(indices), first.dictionary)
    return slices(page, start, length).dictionary_encode()


_LONGEST_REPEATED = 128


def only_one(page: PageBytes, start: Ints, length: Ints) -> bytes | None:
    """Return the bytes that all slices have, or None if they differ or are long."""
    if not _repeat(page, start.reshape(-1, 1), length, 1):
        return None
    first = int(start[0])
    return page.u8[first : first + int(length[0])].tobytes()


# Values per distinct one at least, above which it pays to work out each distinct value once.
_SAMPLE = 64
# Bytes. Longer values are not worth caching.
_LONGEST_KNOWN = 1024


def few(page: PageBytes, start: Ints, length: Ints) -> tuple[list[bytes], Ints] | None:
    """Return the distinct slices and an index into them for each slice, or None if many differ."""
    if int(length.max()) > _LONGEST_KNOWN:
        return None
    same = only_one(page, start, length)
    if same is not None:
        return [same], np.zeros(len(start), np.int64)
    if len(slices(page, start[:_SAMPLE], length[:_SAMPLE]).dictionary_encode().dictionary) * 2 > _SAMPLE:
        return None
    coded = slices(page, start, length).dictionary_encode()
    different = coded.dictionary.to_pylist()
    return (different, np.asarray(coded.indices)) if len(different) * _SAMPLE <= len(start) + _SAMPLE else None


def _repeat(page: PageBytes, start: Ints, length: Ints, period: int) -> bool:
    """Return whether each column of ``start`` has the same bytes in all rows; False without a look if they are long."""
    sizes = length[:period]
    if int(sizes.max()) > _LONGEST_REPEATED or bool((length.reshape(-1, period) != sizes).any()):
        return False
    return all(_same(page, start[:, k], size) for k, size in enumerate(sizes.tolist()))


def _same(page: PageBytes, start: Ints, size: int) -> bool:
    if size == 0:
        return True
    if int(start.min()) < 0 or int(start.max()) + size > len(page.buffer):
        return False
    content = page.window(start, size).tobytes()
    return content == content[:size] * len(start)


def _fill_gaps(start: Ints, valid: Mask) -> Ints:
    """Set the starts of absent values so that starts do not fall."""
    return np.maximum.accumulate(np.where(valid, start, 0))


def with_nulls(values: pa.BinaryArray, valid: Mask | None) -> pa.BinaryArray:
    """Return the values, null where ``valid`` is false. Copies no value bytes."""
    if valid is None or bool(valid.all()):
        return values
    bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    _, offsets, content = values.buffers()
    assert values.offset == 0
    return pa.Array.from_buffers(values.type, len(values), [bits, offsets, content])


def offsets_and_bytes(values: pa.BinaryArray) -> tuple[Offsets, Bytes]:
    """Return offsets from 0 and the bytes of an array, whatever its own offset is."""
    _, offsets, content = values.buffers()
    at = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    raw: Bytes = np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)
    first = at[0]
    return at - first if first else at, raw[first : int(at[-1])]


def text_of_utf16(values: pa.BinaryArray) -> pa.StringArray:
    """Decode UTF-16LE binary values. Nulls stay null. Values of odd length must not occur."""
    if len(values) == 0:
        return pa.array([], pa.string())
    at, raw = offsets_and_bytes(values)
    units = np.frombuffer(np.ascontiguousarray(raw), "<u2")
    ends = at >> 1
    if len(units) and int(units.max()) >= 128:
        texts = [None if value is None else value.decode("utf-16-le", "replace") for value in values.to_pylist()]
        return pa.array(texts, pa.string())
    return _strings(values, ends, units.astype(np.uint8))


def utf16_of_ascii(values: pa.BinaryArray) -> pa.BinaryArray | None:
    """Encode ASCII without nulls as UTF-16LE. Return None if a byte is no ASCII."""
    at, raw = offsets_and_bytes(values)
    if len(raw) and int(raw.max()) >= 128:
        return None
    return pa.Array.from_buffers(
        pa.binary(), len(values), [None, pa.py_buffer(2 * at), pa.py_buffer(raw.astype("<u2"))]
    )


def _strings(like: pa.Array, offsets: Offsets, content: Bytes) -> pa.StringArray:
    validity = like.buffers()[0]
    if validity is not None and like.offset:
        validity = pa.py_buffer(np.packbits(np.asarray(like.is_valid()), bitorder="little"))
    return pa.Array.from_buffers(pa.string(), len(like), [validity, pa.py_buffer(offsets), pa.py_buffer(content)])


def text_of_utf8(values: pa.BinaryArray) -> tuple[pa.StringArray, Mask]:
    """UTF-8 binary values as text, and which of them are not valid UTF-8 (those need the careful path)."""
    _, raw = offsets_and_bytes(values)
    if len(raw) == 0 or int(raw.max()) < 128:
        text = pa.Array.from_buffers(pa.string(), len(values), values.buffers(), values.null_count, values.offset)
        return text, np.zeros(len(values), bool)
    try:
        return values.cast(pa.string()), np.zeros(len(values), bool)
    except pa.ArrowInvalid:
        pass
    texts: list[str | None] = []
    bad = np.zeros(len(values), bool)
    for n, value in enumerate(values.to_pylist()):
        try:
            texts.append(None if value is None else value.decode("utf-8"))
        except UnicodeDecodeError:
            texts.append(None)
            bad[n] = True
    return pa.array(texts, pa.string()), bad


_CONTROL = np.zeros(256, bool)
_CONTROL[[*range(9), 11, 12, *range(14, 32), 127]] = True


def without_controls(page: PageBytes, start: Ints, length: Ints, wanted: Mask) -> tuple[Ints, pa.BinaryArray]:
    """Return the rows of ``wanted`` without control characters, and their bytes.

    These rows are readable (``body_text.readable``) if they are UTF-8.
    """
    rows = np.flatnonzero(wanted & (length > 0))
    if not len(rows):
        return rows, pa.array([], pa.binary())
    raw = slices(page, start[rows], length[rows])
    at, content = offsets_and_bytes(raw)
    # few bytes are looked at one by one: those below 32 and above 126
    control = np.flatnonzero(content - np.uint8(32) > 94)
    plain = np.ones(len(rows), bool)
    plain[np.searchsorted(at, control[_CONTROL[content[control]]], "right") - 1] = False
    return (rows, raw) if plain.all() else (rows[plain], raw.filter(pa.array(plain)))


def readable_texts(page: PageBytes, start: Ints, length: Ints, wanted: Mask) -> tuple[Ints, pa.StringArray]:
    """Return the rows of ``wanted`` whose bytes are readable text (``body_text.readable``), and these texts."""
    rows, raw = without_controls(page, start, length, wanted)
    texts, bad = text_of_utf8(raw)
    return (rows[~bad], texts.filter(pa.array(~bad))) if bad.any() else (rows, texts)


def with_texts(texts: pa.StringArray, rows: Ints, others: pa.StringArray) -> pa.StringArray:
    """Return the texts with those at ``rows`` replaced by ``others``."""
    if not len(rows):
        return texts
    if len(rows) == len(texts):
        return others
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    return pc.replace_with_mask(texts, pa.array(mask), others)
