"""Text inside JSON strings: columns without escapes are taken as they are, unusual values are quoted one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Bytes, Ints, value_bytes
from pagefmt.describe.values_json import Quote
from pagefmt.vectors.arrays.strings import text_of_utf16

# Renders a value as JSON, a text with its quotes.

# Texts that may need more than a backslash: controls, unassigned and invisible characters, and the replacement of lone
# surrogates. A superset of what any JSON writer escapes; ``quote`` decides how they are written.
_ODD: Final = r"\x{fffd}|[^ \n\r\t\p{L}\p{M}\p{N}\p{P}\p{S}]"
# The escapes that JSON has in common use. The backslash comes first, since the other replacements add backslashes.
_ESCAPES: Final = ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\t", b"\\t"))


def utf16_texts(raw: pa.BinaryArray, quote: Quote) -> pa.Array:
    """Return the inside of the JSON strings for UTF-16LE values."""
    texts = text_of_utf16(raw)
    return escaped(texts, odd_rows(texts), lambda n: quote(java_text(raw[n].as_py())))


def utf8_texts(texts: pa.StringArray, quote: Quote) -> pa.Array:
    """Return the inside of the JSON strings for texts."""
    return escaped(texts, odd_rows(texts), lambda n: quote(texts[n].as_py()))


def java_text(raw: bytes) -> str:
    """UTF-16LE as it is, lone surrogates too."""
    return raw.decode("utf-16-le", "surrogatepass")


def odd_rows(texts: pa.StringArray) -> Ints:
    """Return the rows whose texts need ``quote``, because escaping by replacement is not enough."""
    if _is_common(value_bytes(texts)):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.asarray(pc.fill_null(pc.match_substring_regex(texts, _ODD), False)))


def escaped(texts: pa.Array, odd: Ints, quoted: Callable[[int], str]) -> pa.Array:
    """Return the inside of the JSON strings in UTF-8. ``quoted`` gives the whole JSON string of an ``odd`` row."""
    if not is_plain(value_bytes(texts)):
        texts = _with_backslashes(texts)
    if not len(odd):
        return texts
    mask = np.zeros(len(texts), bool)
    mask[odd] = True
    by = pa.array([quoted(n)[1:-1].encode() for n in odd.tolist()], pa.binary())
    return pc.replace_with_mask(texts.view(pa.binary()), pa.array(mask), by)


def _with_backslashes(texts: pa.Array) -> pa.Array:
    _, offsets, content = texts.buffers()
    at: Ints = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    raw = np.frombuffer(content, np.uint8)[at[0] : at[-1]] if content is not None else np.empty(0, np.uint8)
    out, marked = raw.tobytes(), np.zeros(len(raw), bool)
    for char, escape in _ESCAPES:
        if char in out:
            marked |= raw == char[0]
            out = out.replace(char, escape)
    ends = at - at[0] + np.searchsorted(np.flatnonzero(marked), at - at[0])
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)


# Bytes that are read several times in a row: few enough to stay in the processor's cache.
_BLOCK: Final = 1 << 17


def is_plain(raw: Bytes) -> bool:
    """Return whether all bytes are printable ASCII without quote and backslash."""
    matches = np.empty(_BLOCK, bool)
    for at in range(0, len(raw), _BLOCK):
        block = raw[at : at + _BLOCK]
        if block.min() < 0x20 or block.max() >= 0x7F:
            return False
        for escape in (0x22, 0x5C):
            if np.equal(block, escape, out=matches[: len(block)]).any():
                return False
    return True


def _is_common(raw: Bytes) -> bool:
    """Printable ASCII, line ends and tabs."""
    for at in range(0, len(raw), _BLOCK):
        block = raw[at : at + _BLOCK]
        if block.max() >= 0x7F:
            return False
        if block.min() < 0x20 and not np.isin(np.unique(block[block < 0x20]), (0x09, 0x0A, 0x0D)).all():
            return False
    return True
