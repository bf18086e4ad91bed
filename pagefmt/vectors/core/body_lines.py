"""The bodies of JSON lines, in the forms of ``pages decode --body``, from columns.

A body that does not hold what its type says, and one that may be compressed, leaves its record to the reference.
"""

from __future__ import annotations

from binascii import hexlify
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.bodies import stream_of
from pagefmt.codec.messages.body_text import READABLE
from pagefmt.codec.messages.core_fields import MAP, STREAM, TEXT
from pagefmt.codec.wire import Undecodable
from pagefmt.describe.message_json import BodyForm
from pagefmt.describe.values_json import Quote, typed_json
from pagefmt.vectors.arrays.fragments import BINARY, Codes, Even, Part, Pool, base64, either, laid_out, where_present
from pagefmt.vectors.arrays.json_text import utf8_texts, utf16_texts
from pagefmt.vectors.arrays.strings import offsets_and_bytes, readable_texts, slices
from pagefmt.vectors.core.line_parts import LineSource, digests
from pagefmt.vectors.core.parts import CoreParts, nullable_string
from pagefmt.vectors.core.property_lines import ENTRIES, property_lines
from pagefmt.vectors.pages.gather import PageBytes

_CONTENT: Final = frozenset((BodyForm.TEXT, BodyForm.VALUE, BodyForm.BASE64, BodyForm.HEX))


def core_body(
    page: PageBytes, parts: CoreParts, regular: Mask, compressed: Mask, source: LineSource, pool: Pool
) -> list[Part]:
    """Return the parts that the chosen body forms add to each line. A body that does not decode clears ``regular``."""
    forms, quote = source.wanted.forms, source.quote
    out: list[Part] = []
    if BodyForm.SIZE in forms:
        out += [pool.constant(',"body_size":'), pool.numbers(parts.body_size)]
    if BodyForm.SHA256 in forms:
        out += [pool.constant(',"body_sha256":"'), digests(page, parts.body_at, parts.body_size, pool)]
        out.append(pool.constant('"'))
    if forms & _CONTENT:
        regular &= ~compressed
    if BodyForm.TEXT in forms:
        out += _text(page, parts, regular, pool, quote)
    if BodyForm.VALUE in forms:
        out += [_map(page, parts, regular, pool, quote), _stream(page, parts, regular, pool, quote)]
    return [*out, *raw_forms(page, parts.body_at, parts.body_size, source, pool)]


def raw_forms(page: PageBytes, at: Ints, size: Ints, source: LineSource, pool: Pool) -> list[Part]:
    """Return pieces of the page as they are."""
    forms = source.wanted.forms
    out: list[Part] = []
    if BodyForm.BASE64 in forms:
        out += [pool.constant(',"body_base64":"'), *base64(page, at, size), pool.constant('"')]
    if BodyForm.HEX in forms:
        out += [pool.constant(',"body_hex":"'), _hex(page, at, size, pool), pool.constant('"')]
    return out


def _hex(page: PageBytes, at: Ints, size: Ints, pool: Pool) -> Codes:
    offsets, content = offsets_and_bytes(slices(page, at, size))
    buffers = [None, pa.py_buffer(2 * offsets), pa.py_buffer(hexlify(content.data))]
    return pool.add(pa.Array.from_buffers(BINARY, len(at), buffers))


def _text(page: PageBytes, parts: CoreParts, regular: Mask, pool: Pool, quote: Quote) -> list[Part]:
    """Return the texts of text messages, and of bytes messages with readable bytes.

    A text body is one nullable string; bytes after it are ignored.
    """
    mine = parts.type == TEXT
    readable, read = readable_texts(page, parts.body_at, parts.body_size, np.isin(parts.type, READABLE))
    present, size, after, fine = nullable_string(page, parts.body_at)
    present &= mine & (parts.body_size > 0)
    good = fine & (after <= parts.body_at + parts.body_size)
    regular &= good | ~present
    present &= good
    if not mine.any() and not len(readable):
        return []
    texts = np.full(len(mine), pool.constant("null"), np.int32)
    rows = np.flatnonzero(present)
    texts[rows] = pool.add(utf16_texts(slices(page, parts.body_at[rows] + 5, size[rows]), quote))
    texts[~mine] = empty = pool.constant("")
    texts[readable] = pool.add(utf8_texts(read, quote))
    present[readable] = mine[readable] = True
    mark = either(present, pool.constant('"'), empty)
    return [Even((either(mine, pool.constant(',"body_text":'), empty), mark, texts, mark))]


def _map(page: PageBytes, parts: CoreParts, regular: Mask, pool: Pool, quote: Quote) -> Part:
    """Return the bodies of map messages: a block of typed properties, or an empty body."""
    mine = parts.type == MAP
    if not mine.any():
        return pool.constant("")
    filled, end = mine & (parts.body_size > 0), parts.body_at + parts.body_size
    entries = property_lines(page, parts.body_at, end, filled, regular, pool, quote, ENTRIES)
    if entries is None:
        return pool.constant("")
    inner = entries.inside
    value = laid_out(len(mine), [pool.constant(',"body_value":['), inner, pool.constant("]")])
    return where_present(pool, mine, value, pool.constant(""))


def _stream(page: PageBytes, parts: CoreParts, regular: Mask, pool: Pool, quote: Quote) -> Part:
    """Return the bodies of stream messages. Items are decoded one by one."""
    rows = np.flatnonzero(parts.type == STREAM)
    if not len(rows):
        return pool.constant("")
    texts = []
    at, size = parts.body_at[rows].tolist(), parts.body_size[rows].tolist()
    for row, first, length in zip(rows.tolist(), at, size, strict=True):
        try:
            items = stream_of(bytes(page.buffer[first : first + length]))
        except Undecodable:
            regular[row], items = False, ()
        texts.append(f',"body_value":{quote([typed_json(item) for item in items])}')
    out = np.full(len(regular), pool.constant(""), np.int32)
    out[rows] = pool.texts(texts)
    return out
