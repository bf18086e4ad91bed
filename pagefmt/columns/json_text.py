"""Text inside of JSON strings: columns that need no escape stay as they are, the odd values are written one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.gather import Bytes, Ints
from pagefmt.columns.strings import text_of_utf16, value_bytes

Quote: TypeAlias = Callable[[object], str]
"""One value as JSON, a text with its quotes."""

ODD: Final = r'["\\\x{fffd}]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]'
"""What may need an escape: quotes, controls, unassigned and invisible characters, and what stands for lone surrogates.
More than any writer of JSON escapes; what becomes of it the writer decides."""


def utf16_texts(raw: pa.BinaryArray, quote: Quote) -> pa.StringArray:
    """The inside of the JSON strings for UTF-16LE text."""
    texts = text_of_utf16(raw)
    odd = odd_rows(texts)
    return texts if not len(odd) else replaced(texts, odd, [quote(java_text(raw[n].as_py()))[1:-1] for n in odd])


def java_text(raw: bytes) -> str:
    """UTF-16LE as it is, lone surrogates too."""
    return raw.decode("utf-16-le", "surrogatepass")


def odd_rows(texts: pa.StringArray) -> Ints:
    """The values that may need an escape."""
    if is_plain(value_bytes(texts)):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.asarray(pc.fill_null(pc.match_substring_regex(texts, ODD), False)))


_BLOCK: Final = 1 << 17
"""What is looked at several times, and written once, stays in the cache meanwhile."""


def is_plain(raw: Bytes) -> bool:
    """Printable ASCII without quote and backslash."""
    found = np.empty(_BLOCK, bool)
    for at in range(0, len(raw), _BLOCK):
        block = raw[at : at + _BLOCK]
        if block.min() < 0x20 or block.max() >= 0x7F:
            return False
        for escaped in (0x22, 0x5C):
            if np.equal(block, escaped, out=found[: len(block)]).any():
                return False
    return True


def replaced(texts: pa.Array, rows: Ints, by: list[str] | list[bytes]) -> pa.Array:
    mask = np.zeros(len(texts), bool)
    mask[rows] = True
    return pc.replace_with_mask(texts, pa.array(mask), pa.array(by, texts.type))
