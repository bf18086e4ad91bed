"""Tables of what there is beside messages: pages, queues, damage, acknowledgements.

``docs/message-table.md`` has them column by column; null is what is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pagefmt.columns.arrays.schema import STRING, utf8_row
from pagefmt.columns.named_columns import QUEUES, TIME, RowsContext, in_calendar
from pagefmt.columns.table_content import TableContent
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.positions import BOOKMARK, PositionIndex
from pagefmt.outstanding.backlog import Backlog, backlog_of
from pagefmt.outstanding.knowledge import UnknownPart
from pagefmt.outstanding.state import StoreState
from pagefmt.pages.frames import DamageKind
from pagefmt.pages.paging import PageFile

_INT: Final = pa.int64()


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema({"broker": STRING, "exported_at": TIME} | columns)


SCHEMAS: Final[Mapping[TableContent, pa.Schema]] = {
    TableContent.PAGES: _schema(
        store=STRING, store_address=STRING, page=_INT, file=STRING, bytes=_INT, messages=_INT, messages_held=_INT,
        bytes_held=_INT, held_by=QUEUES, damage=STRING, remark=STRING,
    ),
    TableContent.OUTSTANDING: _schema(
        store=STRING, store_address=STRING, queue=STRING, id=_INT, messages=_INT, bytes=_INT, in_doubt=_INT,
        pages_held=_INT, bytes_held=_INT, bytes_held_alone=_INT, oldest=TIME, remark=STRING,
    ),
    TableContent.DAMAGE: _schema(
        store=STRING, store_address=STRING, page=_INT, file=STRING, offset=_INT, bytes=_INT, number=_INT, kind=STRING,
        detail=STRING,
    ),
    TableContent.ACKNOWLEDGEMENTS: _schema(
        queue=STRING, id=_INT, address=STRING, page=_INT, number=_INT, kind=STRING,
    ),
}  # fmt: skip

TELLS_HARM: Final[Mapping[TableContent, str]] = {
    TableContent.PAGES: "damage", TableContent.OUTSTANDING: "remark", TableContent.DAMAGE: "kind",
}  # fmt: skip
"""The column that is null in rows of what is sound."""


def table_rows(content: TableContent, rows: Iterable[Mapping[str, Any]], context: RowsContext) -> pa.RecordBatch:
    """Rows of a broker."""
    common = {"broker": context.broker, "exported_at": context.now}
    found = pa.RecordBatch.from_pylist([utf8_row({**common, **row}) for row in rows], schema=SCHEMAS[content])
    at = found.schema.get_field_index("oldest")
    return found if at < 0 else found.set_column(at, found.schema.field(at), in_calendar(found.column(at)))


def page_row(known: StoreState, page: PageFile, queues: Mapping[int, str]) -> dict[str, Any]:
    """One page file, read once."""
    blind = known.unknown is not None and known.unknown.part is UnknownPart.JOURNAL
    load, _ = (replace(known, unknown=None) if blind else known).page(page)
    moving = None if load.damage is None else known.motion(page, load.damage)
    closed = load.damage is not None and load.damage.kind is DamageKind.NOT_PERMITTED
    damage = load.damage if moving is None and not closed else None
    unknown = load.damage.detail if closed and load.damage else known.unknown.reason if known.unknown else None
    judged = known.unknown is None and load.readable
    held: dict[str, Any] = dict.fromkeys(("messages_held", "bytes_held", "held_by"))
    if judged:
        held_by = load.holders and [{"id": each, "name": queues.get(each)} for each in load.holders]
        held = {"messages_held": load.live_records, "bytes_held": load.live_bytes, "held_by": held_by}
    return held | {
        "store": known.store.name, "store_address": known.store.address, "page": page.number, "file": page.name,
        "bytes": page.size, "messages": load.records if load.readable else None,
        "damage": None if damage is None else f"{damage.kind}: {damage.detail}",
        "remark": moving or unknown,
    }  # fmt: skip


def queue_rows(known: StoreState) -> Iterator[dict[str, Any]]:
    """Queues that hold pages of a store, as ``messages top --in pages`` has them; reads its pages one at a time."""
    store = {"store": known.store.name, "store_address": known.store.address}
    if known.unknown is not None and known.unknown.part is UnknownPart.JOURNAL:
        yield store | {"remark": known.unknown.reason}
        return
    found = backlog_of(known, {})
    remark = "; ".join(found.verdict.all_remarks) or None
    rows = [each for each in found.queues if each.held != 0]
    for each in rows or ([found.whole] if remark else []):
        yield store | _queue(each) | {"remark": remark}


def _queue(of: Backlog) -> dict[str, Any]:
    return {
        "queue": of.queue, "id": of.id, "messages": of.messages, "bytes": of.bytes, "in_doubt": of.in_doubt,
        "pages_held": of.pages, "bytes_held": of.held, "bytes_held_alone": of.alone, "oldest": of.oldest,
    }  # fmt: skip


def acknowledgement_batches(
    journal: MessageJournal, context: RowsContext, addresses: Mapping[int, str]
) -> Iterator[pa.RecordBatch]:
    """Positions that queues are done with; ``number`` null: with the whole page."""
    kinds: tuple[tuple[str, PositionIndex], ...] = (
        ("acknowledged", journal.ack_index), ("page complete", journal.complete_index),
        ("in doubt", journal.in_doubt_acks),
    )  # fmt: skip
    schema = SCHEMAS[TableContent.ACKNOWLEDGEMENTS]
    for kind, index in kinds:
        for queues, pages, numbers in index.chunks():
            if index is not journal.complete_index and numbers.min() <= BOOKMARK:
                pages, numbers = pages[numbers > BOOKMARK], numbers[numbers > BOOKMARK]
            rows, queue = len(numbers), int(queues[0])
            mask = np.full(rows, index is journal.complete_index)
            constant = {
                "broker": context.broker, "exported_at": context.now, "queue": context.queues.get(queue), "id": queue,
                "address": addresses.get(queue), "kind": kind,
            }  # fmt: skip
            columns = {
                name: pa.repeat(pa.scalar(value, schema.field(name).type), rows)
                for name, value in utf8_row(constant).items()
            }
            columns |= {"page": pa.array(pages), "number": pa.array(numbers.astype(np.int64), mask=mask)}
            yield pa.record_batch([columns[name] for name in schema.names], schema=schema)
