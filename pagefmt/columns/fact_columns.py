"""The facts of ``pagefmt.selector.facts`` on columns: for each which rows have it, and of which rows that is sure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.arrays.schema import STRING
from pagefmt.messages.message_ids import CORRELATION_ID_PROPERTIES, USER_ID_PROPERTIES, id_text
from pagefmt.messages.values import TypedValue, ValueKind
from pagefmt.pages.gather import Ints, Mask
from pagefmt.selector.facts import (
    AddressIs,
    BodyContains,
    CorrelationIdIs,
    ExpiredBy,
    IdIs,
    SentBetween,
    UserIdIs,
)
from pagefmt.selector.nodes import MessageFact

Verdicts = tuple[Mask, Mask]
"""Whether it is so, and whether that is sure."""
REPLACED: Final = "\ufffd"
"""In Arrow's text it may stand for a lone surrogate."""


def entries(maps: pa.MapArray, name: str) -> tuple[Ints, pa.StructArray]:
    """The rows that have the property, and its values."""
    here = np.flatnonzero(np.asarray(pc.equal(maps.keys, pa.scalar(name, STRING))))
    offsets: Ints = np.asarray(maps.offsets)
    here = here[(here >= offsets[0]) & (here < offsets[-1])]
    return np.searchsorted(offsets, here, "right") - 1, maps.items.take(pa.array(here))


def verdicts(fact: MessageFact, batch: pa.RecordBatch) -> Verdicts:
    """Of each row. ``batch``: with headers and properties, for ``BodyContains`` with texts."""
    return _READERS[type(fact)](fact, batch)


def _mask(values: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(values, False))


def _sure(batch: pa.RecordBatch) -> Mask:
    return np.ones(batch.num_rows, bool)


def _id(fact: IdIs, batch: pa.RecordBatch) -> Verdicts:
    return _mask(pc.is_in(batch.column("id"), pa.array(sorted(fact.ids), pa.int64()))), _sure(batch)


def _among(texts: pa.Array, wanted: frozenset[str]) -> Verdicts:
    return _mask(pc.is_in(texts, _as_utf8(wanted))), ~_mask(pc.match_substring(texts, REPLACED))


def _as_utf8(texts: Iterable[str]) -> pa.Array:
    """Those that a column can hold."""
    return pa.array(
        [text for text in texts if text.isascii() or text == text.encode("utf-8", "replace").decode()], STRING
    )


def _address(fact: AddressIs, batch: pa.RecordBatch) -> Verdicts:
    return _among(batch.column("address"), fact.addresses)


def _user_id(fact: UserIdIs, batch: pa.RecordBatch) -> Verdicts:
    return _or(_among(batch.column("user_id"), fact.texts), _properties(batch, USER_ID_PROPERTIES, fact.texts))


def _correlation_id(fact: CorrelationIdIs, batch: pa.RecordBatch) -> Verdicts:
    field = pc.struct_field(batch.column("amqp"), ["properties", "correlation_id"])
    return _or(_among(field, fact.texts), _properties(batch, CORRELATION_ID_PROPERTIES, fact.texts))


def _or(one: Verdicts, other: Verdicts) -> Verdicts:
    return one[0] | other[0], one[1] & other[1]


def _properties(batch: pa.RecordBatch, names: Iterable[str], wanted: frozenset[str]) -> Verdicts:
    found, sure = np.zeros(batch.num_rows, bool), _sure(batch)
    for name in names:
        rows, values = entries(batch.column("properties"), name)
        for row, value in zip(rows.tolist(), values.to_pylist(), strict=True):
            text = _id_text(value)
            found[row] |= text in wanted
            sure[row] &= text is None or REPLACED not in text
    return found, sure


def _id_text(value: dict[str, Any]) -> str | None:
    """As ``message_ids.id_text``; what columns do not hold exactly is never sure."""
    match value["type"]:
        case ValueKind.NULL:
            return None
        case ValueKind.STRING:
            return str(value["string"])
        case ValueKind.BYTES:
            return id_text(TypedValue(ValueKind.BYTES, value["bytes"]))
        case _:
            return REPLACED


def _sent(fact: SentBetween, batch: pa.RecordBatch) -> Verdicts:
    sent = np.asarray(pc.fill_null(batch.column("timestamp"), 0))
    low = True if fact.since is None else sent >= fact.since
    return (sent != 0) & low & (True if fact.until is None else sent < fact.until), _sure(batch)


def _expired(fact: ExpiredBy, batch: pa.RecordBatch) -> Verdicts:
    expires = np.asarray(pc.fill_null(batch.column("expiration"), 0))
    return (expires != 0) & (fact.now - expires >= 0), _sure(batch)


def _contains(fact: BodyContains, batch: pa.RecordBatch) -> Verdicts:
    """Bodies in files are for the reference, and texts with lone surrogates where such are looked for."""
    texts = batch.column("body_text")
    if REPLACED in fact.text:
        return np.zeros(batch.num_rows, bool), np.zeros(batch.num_rows, bool)
    return _mask(pc.match_substring(texts, fact.text)), ~_mask(batch.column("large"))


_READERS: Final[dict[type[MessageFact], Callable[[Any, pa.RecordBatch], Verdicts]]] = {
    IdIs: _id, AddressIs: _address, UserIdIs: _user_id, CorrelationIdIs: _correlation_id, SentBetween: _sent,
    ExpiredBy: _expired, BodyContains: _contains,
}  # fmt: skip
