"""CSV lines of many messages, from the columns of Arrow tables. The text equals that of ``columns.ChosenColumns``.

A cell is text as ``csv_cell`` makes it safe, quoted as Python's ``csv`` does it. Both look at few cells: an expression
finds those that need it, and all others pass as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pagectl.terminal.sanitise import UNSAFE
from pagectl.terminal.streams import csv_text, json_text
from pagefmt.arrays import value_bytes
from pagefmt.describe.arrow_schema import STRING
from pagefmt.describe.values_json import utf16_order
from pagefmt.quantities import time_text
from pagefmt.table.named_columns import value_text

_TIMES: Final = {"sent": "timestamp", "expires": "expiration"}  # columns that show a time (ms) of the table as text
_ID_TYPE: Final = "amqp.properties.correlation_id_type"
_SPECIAL: Final = rf'^[=+\-@\t\r]|[",\n\r]|{UNSAFE.replace(chr(0xD800) + "-" + chr(0xDFFF), "")}'
_REPLACED: Final = "\ufffd".encode()  # stands in Arrow's text for a lone surrogate, which CSV shows as an escape
_NUMBERS: Final = ("byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong", "char", "timestamp")
_TEXTS: Final = ("string", "symbol", "uuid", "decimal32", "decimal64", "decimal128")

Ints = npt.NDArray[np.int64]


def table_columns(names: Sequence[str]) -> list[str]:
    """Return the columns of the table that the lines of these columns are made of."""
    return [*(_TIMES.get(name, name) for name in names), "large", *([_ID_TYPE] if "correlation_id" in names else [])]


def csv_lines(batch: pa.RecordBatch, names: Sequence[str]) -> pa.StringArray | None:
    """Return the CSV line of each row with its line end, or None if the table alone does not have all texts.

    That is the case for large bodies, whose size is that of a file, and for identifiers that are shown in another form
    than in the table.
    """
    if batch.column("large").true_count or ("correlation_id" in names and _has_odd_identifier(batch.column(_ID_TYPE))):
        return None
    cells = [_cells(name, batch.column(_TIMES.get(name, name))) for name in names]
    texts = [cell for cell in cells if cell is not None]
    if len(texts) < len(cells):
        return None
    return pc.binary_join_element_wise(pc.binary_join_element_wise(*texts, ","), "", "\n")


def _has_odd_identifier(types: pa.StringArray) -> bool:
    return not set(types.unique().to_pylist()) <= {None, "string", "ulong"}


def _cells(name: str, column: pa.Array) -> pa.StringArray | None:
    """Return the cells of a column; None if a text has lost a character, or a value has no plain text."""
    kind = column.type
    if name in _TIMES:
        return _times(column)
    if name == "queues_state":
        return _safe(_states(column))
    if pa.types.is_map(kind):
        texts = _properties(column)
        return None if texts is None else _safe(texts)
    if pa.types.is_list(kind):
        texts = pc.binary_join(pa.ListArray.from_arrays(column.offsets, _plain(column.values)), ", ")
        return _safe(pc.if_else(column.is_null(), "?" if name.startswith("outstanding") else "", texts))
    texts = _plain(column).fill_null("")
    return _safe(texts) if pa.types.is_string(kind) else texts


def _plain(values: pa.Array) -> pa.StringArray:
    """Return numbers, flags and texts as text."""
    return values if pa.types.is_string(values.type) else pc.cast(values, STRING)


def _safe(texts: pa.StringArray) -> pa.StringArray | None:
    """Return texts as CSV cells, or None if a character of one was replaced when it was decoded."""
    if not _may_be_special(texts):
        return texts
    if bytes(value_bytes(texts)).find(_REPLACED) >= 0:
        return None
    special = np.asarray(pc.match_substring_regex(texts, _SPECIAL))
    if not special.any():
        return texts
    distinct = texts.take(pa.array(np.flatnonzero(special))).dictionary_encode()
    escaped = pa.array([csv_text(text) for text in distinct.dictionary.to_pylist()], STRING)
    return pc.replace_with_mask(texts, pa.array(special), escaped.take(distinct.indices))


def _may_be_special(texts: pa.StringArray) -> bool:
    """Return whether a byte of the texts needs a closer look: nearly all texts are done with this one pass."""
    content, offsets = value_bytes(texts), np.frombuffer(texts.buffers()[1], np.int32)
    offsets = offsets[texts.offset : texts.offset + len(texts) + 1]
    starts = offsets[:-1][offsets[:-1] < offsets[1:]]
    used = content[offsets[0] : offsets[-1]]
    return bool(_SPECIAL_BYTES[used].any()) or bool(_SPECIAL_STARTS[content[starts]].any())


def _byte_table(special: Iterable[int]) -> npt.NDArray[np.bool_]:
    table = np.zeros(256, bool)
    table[list(special)] = True
    return table


_SPECIAL_BYTES: Final = _byte_table((*range(32), *b'",', *range(0x7F, 256)))
_SPECIAL_STARTS: Final = _byte_table(b"=+-@")
_TIME_SIZE: Final = len("2026-01-31T12:00:00.000Z")


def _times(milliseconds: pa.Array) -> pa.StringArray:
    """Return times in milliseconds as ``time_text`` writes them.

    Usual times have 24 characters each, so numpy writes them all at once into one buffer; distinct odd ones (0, or
    outside the calendar) are written one by one and put in by mask.
    """
    values = np.asarray(milliseconds.fill_null(0))
    odd = (values == 0) | (values > _IN_CALENDAR) | (values < -_IN_CALENDAR)
    distinct, which = np.unique(values[odd], return_inverse=True)
    odd_texts = pa.array([csv_text(time_text(value)) if value else "" for value in distinct.tolist()], STRING)
    if odd.all():
        return odd_texts.take(pa.array(which))
    # each of the usual ones has as many characters
    characters = np.datetime_as_string(np.where(odd, 0, values).astype("datetime64[ms]"), unit="ms").view(np.uint32)
    content = np.full((len(values), _TIME_SIZE), ord("Z"), np.uint8)
    content[:, :-1] = characters.reshape(len(values), -1)[:, : _TIME_SIZE - 1]
    offsets = np.arange(len(values) + 1, dtype=np.int32) * _TIME_SIZE
    texts = pa.StringArray.from_buffers(len(values), pa.py_buffer(offsets), pa.py_buffer(content))
    return pc.replace_with_mask(texts, pa.array(odd), odd_texts.take(pa.array(which))) if odd.any() else texts


_IN_CALENDAR: Final = 60_000_000_000_000  # ms around 1970, well inside of the years 1 to 9999


def _properties(maps: pa.MapArray) -> pa.StringArray | None:
    """Return the properties of each message as NAME=VALUE by name; None if a value has no plain text."""
    offsets = np.asarray(maps.offsets).astype(np.int64)
    first, end = int(offsets[0]), int(offsets[-1])
    values = _value_texts(maps.items.slice(first, end - first))
    if values is None:
        return None
    names = maps.keys.slice(first, end - first).dictionary_encode()
    entries = pc.binary_join_element_wise(names.cast(STRING), values, "=")
    order = sorted(range(len(names.dictionary)), key=lambda n: utf16_order(names.dictionary[n].as_py()))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    place = np.repeat(np.arange(len(maps)), np.diff(offsets)) * max(1, len(order)) + rank[np.asarray(names.indices)]
    if len(place) > 1 and bool((np.diff(place) < 0).any()):
        entries = entries.take(pa.array(np.argsort(place, kind="stable")))
    return pc.binary_join(pa.ListArray.from_arrays(pa.array((offsets - first).astype(np.int32)), entries), "; ")


def _value_texts(values: pa.StructArray) -> pa.StringArray | None:
    types = values.field("type").dictionary_encode()
    names = types.dictionary.to_pylist()
    if len(names) < 2:
        return _texts_of_type(names[0], values) if names else values.field("string")
    which = np.asarray(types.indices)
    order = np.argsort(which, kind="stable")
    parts = []
    for n, rows in enumerate(np.split(order, np.searchsorted(which[order], np.arange(1, len(names))))):
        texts = _texts_of_type(names[n], values.take(pa.array(rows)))
        if texts is None:
            return None
        parts.append(texts)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return pa.concat_arrays(parts).take(pa.array(place))


def _texts_of_type(name: str, values: pa.StructArray) -> pa.StringArray | None:
    """Return the texts of values of one type; None for lists, maps and described values."""
    if name in _TEXTS:
        return values.field("string").fill_null("")
    if name in _NUMBERS:  # an unsigned number of more than 63 bits is kept as text
        return pc.coalesce(pc.cast(values.field("long"), STRING), values.field("string"))
    if name == "boolean":
        return pc.if_else(pc.equal(values.field("long"), 1), "true", "false")
    if name == "null":
        return pa.repeat(pa.scalar("", STRING), len(values))
    if name in ("float", "double", "bytes"):
        return pa.array([value_text(value) for value in values.to_pylist()], STRING)
    return None


def _states(lists: pa.ListArray) -> pa.StringArray:
    """Return what each queue of each message has of it as JSON; few messages differ in it."""
    offsets = np.asarray(lists.offsets).astype(np.int64)
    codes, counts = np.asarray(lists.values.indices), np.diff(offsets)
    which = np.zeros(len(lists), np.int64)
    for n in range(int(counts.max(initial=0))):
        there = counts > n
        code = np.zeros(len(lists), np.int64)
        code[there] = codes[offsets[:-1][there] + n] + 1
        which = np.unique(which * (int(codes.max(initial=0)) + 2) + code, return_inverse=True)[1]
    _, first, which = np.unique(which, return_index=True, return_inverse=True)
    entries = lists.values.dictionary.to_pylist()
    texts = [
        json_text(dict(map(_state, (entries[code] for code in codes[offsets[n] : offsets[n + 1]])))) for n in first
    ]
    return pa.array(texts, STRING).take(pa.array(which))


def _state(entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    state = {name: entry[name] for name in ("state", "delivery_count", "scheduled")}
    return entry["queue"], state if entry["why"] is None else state | {"why": entry["why"]}
