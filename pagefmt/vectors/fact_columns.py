"""The facts of ``pagefmt.selector.facts`` on columns: for each which rows have it, and of which rows that is sure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.message_ids import CORRELATION_ID_PROPERTIES, USER_ID_PROPERTIES, id_text
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.describe.arrow_schema import STRING
from pagefmt.selector.facts import AddressIs, BodyContains, CorrelationIdIs, ExpiredBy, IdIs, SentBetween, UserIdIs
from pagefmt.selector.nodes import MessageFact

# Whether the fact holds for each row, and whether that is certain.
Verdicts = tuple[Mask, Mask]
# Arrow's text may have it in place of a lone surrogate.
REPLACED: Final = "\ufffd"


def entries(maps: pa.MapArray, name: str) -> tuple[Ints, pa.StructArray]:
    """Return the rows that have the property, and its values."""
    positions = np.flatnonzero(np.asarray(pc.equal(maps.keys, pa.scalar(name, STRING))))
    offsets: Ints = np.asarray(maps.offsets)
    positions = positions[(positions >= offsets[0]) & (positions < offsets[-1])]
    return np.searchsorted(offsets, positions, "right") - 1, maps.items.take(pa.array(positions))


def verdicts(fact: MessageFact, batch: pa.RecordBatch) -> Verdicts:
    """Return whether the fact holds for each row.

    ``batch`` has headers and properties, for ``BodyContains`` also texts.
    """
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
    """Return the texts that an Arrow column can hold."""
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


def _or(first: Verdicts, second: Verdicts) -> Verdicts:
    return first[0] | second[0], first[1] & second[1]


def _properties(batch: pa.RecordBatch, names: Iterable[str], wanted: frozenset[str]) -> Verdicts:
    matches, sure = np.zeros(batch.num_rows, bool), _sure(batch)
    for name in names:
        rows, values = entries(batch.column("properties"), name)
        for row, value in zip(rows.tolist(), values.to_pylist(), strict=True):
            text = _id_text(value)
            matches[row] |= text in wanted
            sure[row] &= text is None or REPLACED not in text
    return matches, sure


def _id_text(value: dict[str, Any]) -> str | None:
    """Return the text that ``message_ids.id_text`` gives, or ``REPLACED`` if the column is not exact."""
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
    """Decide ``--contains`` on columns. Bodies in files, and lone surrogates in texts, are left to the reference."""
    texts = batch.column("body_text")
    if REPLACED in fact.text:
        return np.zeros(batch.num_rows, bool), np.zeros(batch.num_rows, bool)
    return _mask(pc.match_substring(texts, fact.text)), ~_mask(batch.column("large"))


_READERS: Final[dict[type[MessageFact], Callable[[Any, pa.RecordBatch], Verdicts]]] = {
    IdIs: _id,
    AddressIs: _address,
    UserIdIs: _user_id,
    CorrelationIdIs: _correlation_id,
    SentBetween: _sent,
    ExpiredBy: _expired,
    BodyContains: _contains,
}
