"""Selectors evaluated on columns, once for each distinct combination of the values that they refer to.

Rows are left undecided where columns do not hold the exact value (lone surrogates, uuids, compound values) or where a
broker derives the value from more than one place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.values import INTEGRAL, TypedValue, ValueKind
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import Layout
from pagefmt.describe.arrow_schema import STRING, Detail
from pagefmt.selector import Selector, Value
from pagefmt.selector.facts import BodyContains
from pagefmt.selector.message import ANNOTATIONS, HOPS, OF_AMQP, selector_value, source_of
from pagefmt.selector.nodes import MessageFact
from pagefmt.selector.values import JavaClass, Number
from pagefmt.vectors.amqp.amqp_columns import may_be_amqp
from pagefmt.vectors.amqp.parts import amqp_parts
from pagefmt.vectors.amqp.structure import structure
from pagefmt.vectors.fact_columns import REPLACED, entries, verdicts
from pagefmt.vectors.page_columns import PageColumns
from pagefmt.vectors.pages.gather import PageBytes, fits_old_layout
from pagefmt.vectors.pages.scan import PageFrames

# A type and a value, None if absent: distinguishes answers that a selector treats differently.
Answer: TypeAlias = tuple[str, Any] | None
_UNSURE: Final = ("", None)
_AMQP: Final = pa.scalar("amqp", STRING)
_INT, _LONG, _TEXT, _FACT = "header int", "header long", "header text", "fact"
_REALS: Final = (ValueKind.FLOAT, ValueKind.DOUBLE)
_TEXTS: Final = (ValueKind.STRING, ValueKind.SYMBOL)


def _text(kind: str, text: str | None) -> Answer:
    return _UNSURE if text is None or REPLACED in text else (kind, text)


def _user_id(text: str | None) -> Answer:
    return _text(_TEXT, text if text is None or text.startswith("ID:") else f"ID:{text}")


_HEADERS: Final[dict[str, tuple[str, Callable[[Any], Answer]]]] = {
    "AMQPriority": ("priority", lambda value: (_INT, value)),
    "AMQTimestamp": ("timestamp", lambda value: (_LONG, value)),
    "AMQExpiration": ("expiration", lambda value: (_LONG, value)),
    "AMQDurable": ("durable", lambda value: (_TEXT, "DURABLE" if value else "NON_DURABLE")),
    "AMQAddress": ("address", lambda value: _text(_TEXT, value)),
    "AMQUserID": ("user_id", _user_id),
}


def decides(selector: Selector) -> bool:
    """Return whether columns have everything that the selector refers to."""
    return all(
        name in _HEADERS if name.startswith("AMQ") else not name.startswith(HOPS) and _is_exact(name)
        for name in selector.names()
    )


def level_for(selector: Selector) -> Detail:
    """Return the level of columns that is needed to evaluate the selector, and to know whether a body decodes."""
    return Detail.TEXTS if any(isinstance(fact, BodyContains) for fact in selector.facts()) else Detail.STRINGS


def _is_exact(name: str) -> bool:
    """Return whether Arrow's text represents the name exactly and unambiguously."""
    return REPLACED not in name and name == name.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class _Answers:
    known: dict[str | MessageFact, Answer]

    def fact(self, fact: MessageFact) -> bool:
        answer = self.known[fact]
        return answer is not None and bool(answer[1])

    def property(self, name: str) -> Value:
        answer = self.known[name]
        if answer is None:
            return None
        kind, value = answer
        if kind in (_INT, _LONG):
            return Number(JavaClass.INT if kind == _INT else JavaClass.LONG, value)
        if kind == _TEXT:
            return str(value)
        return selector_value(TypedValue(ValueKind(kind), float.fromhex(value) if kind in _REALS else value))


def decided(selector: Selector, batch: pa.RecordBatch) -> tuple[Mask, Mask]:
    """Return which rows are certain, and which match.

    ``batch`` has headers and properties. The selector is one for which ``decides`` is true.
    """
    questions: list[str | MessageFact] = [*sorted(set(selector.names())), *selector.facts()]
    rows = batch.num_rows
    whole = _whole(batch)
    if not questions:
        return whole, np.full(rows, selector.matches(_Answers({})))
    sure, matching = np.zeros(rows, bool), np.zeros(rows, bool)
    decisions: dict[tuple[Answer, ...], bool] = {}
    for n, row in enumerate(zip(*[_answers(question, batch) for question in questions], strict=True)):
        if not whole[n] or _UNSURE in row:
            continue
        verdict = decisions.get(row)
        if verdict is None:
            verdict = decisions[row] = selector.matches(_Answers(dict(zip(questions, row, strict=True))))
        sure[n], matching[n] = True, verdict
    return sure, matching


def _whole(batch: pa.RecordBatch) -> Mask:
    """Return the rows of messages all of whose parts decode. The others are damage, whatever the selector asks for."""
    amqp = np.asarray(pc.equal(batch.column("protocol"), _AMQP))
    parts = np.where(amqp, np.asarray(batch.column("amqp").is_null()), False)
    return ~(np.asarray(batch.column("properties").is_null()) | parts)


def _answers(name: str | MessageFact, batch: pa.RecordBatch) -> list[Answer]:
    if isinstance(name, MessageFact):
        true, sure = verdicts(name, batch)
        return [
            (_FACT, truth) if is_sure else _UNSURE for truth, is_sure in zip(true.tolist(), sure.tolist(), strict=True)
        ]
    if name in _HEADERS:
        column, answer = _HEADERS[name]
        return [answer(value) for value in batch.column(column).to_pylist()]
    return _properties(name, batch)


def _properties(name: str, batch: pa.RecordBatch) -> list[Answer]:
    maps = batch.column("properties")
    out: list[Answer] = [None] * batch.num_rows
    rows, values = entries(maps, name)
    for row, value in zip(rows.tolist(), values.to_pylist(), strict=True):
        out[row] = _typed(value)
    if name in OF_AMQP or name.startswith(ANNOTATIONS) or _elsewhere(name, batch):
        for row in np.flatnonzero(np.asarray(pc.equal(batch.column("protocol"), _AMQP))).tolist():
            out[row] = _UNSURE
    return out


def _elsewhere(name: str, batch: pa.RecordBatch) -> bool:
    """Return whether some AMQP message has the name among the broker's extra properties, a fallback source."""
    extra = batch.column("amqp").field("extra_properties")
    return bool(pc.any(pc.equal(extra.keys, pa.scalar(name, STRING))).as_py())


def _typed(value: dict[str, Any]) -> Answer:
    kind = value["type"]
    if kind in INTEGRAL:
        number = value["long"]
        return _UNSURE if number is None else (kind, bool(number) if kind == ValueKind.BOOLEAN else number)
    if kind in _REALS:
        return kind, value["double"].hex()
    if kind in _TEXTS:
        return _text(kind, value["string"])
    if kind == ValueKind.BYTES:
        return kind, value["bytes"]
    return None if kind == ValueKind.NULL else _UNSURE


def select(
    content: PageBytes,
    frames: PageFrames,
    selector: Selector,
    table: pa.RecordBatch | None,
    doubtful: Mask,
    mask: Mask,
    layout: Layout | None = None,
) -> None:
    """Clear ``mask`` for records that the selector rejects. ``table``: the first records, with their properties.

    Records that columns do not decide, or that are ``doubtful``, are decided by the reference decoder. Records that it
    cannot decode stay selected, since they are damage to report.
    """
    sure = np.zeros(len(mask), bool)
    if table is not None and decides(selector):
        rows = table.num_rows
        sure[:rows], matching = decided(selector, table)
        sure[:rows] &= ~doubtful[:rows]
        if layout is Layout.OLD:
            sure &= fits_old_layout(content, frames.offset + 5, frames.length)
        mask[:rows] &= matching | ~sure[:rows]
    page = Page(memoryview(content.buffer)[: content.size])
    for n in np.flatnonzero(mask & ~sure).tolist():
        record = page.record(frames.number + n, int(frames.offset[n]), int(frames.length[n]), layout)
        mask[n] = isinstance(record, Damage) or selector.matches(source_of(record.message))


def of_reference(decoded: PageColumns, rows: int) -> Mask:
    """Return the rows that the reference decoder read."""
    mask = np.zeros(rows, bool)
    mask[decoded.irregular] = True
    return mask


def body_unread(content: PageBytes, frames: PageFrames, table: pa.RecordBatch) -> Ints:
    """Return the rows of AMQP messages with bodies that columns pass over, and that may be damaged.

    ``table``: a table with texts.
    """
    untold = pc.and_(pc.equal(table.column("protocol"), _AMQP), table.column("body_text").is_null())
    row: Ints = np.flatnonzero(np.asarray(untold))
    row = row[may_be_amqp(content, frames.offset[row] + 5)]
    if not len(row):
        return row
    parts = amqp_parts(content, frames.offset[row] + 5, frames.length[row])
    unread: Ints = row[~parts.regular | structure(content, parts).passed_over()]
    return unread
