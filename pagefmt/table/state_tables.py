"""Tables other than that of messages: pages, queues, damage, acknowledgements.

``docs/message-table.md`` has them column by column; null is what is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from pagefmt.codec.pages.frames import DamageKind
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.describe.arrow_schema import STRING, utf8_row
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.positions import BOOKMARK, PositionIndex
from pagefmt.outstanding.backlog import Backlog, backlog_of
from pagefmt.outstanding.loaded_journals import UnknownPart
from pagefmt.outstanding.state import StoreState
from pagefmt.table.named_columns import QUEUES, TIME, RowsContext, in_calendar
from pagefmt.table.table_content import TableContent

_INT: Final = pa.int64()


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema({"broker": STRING, "exported_at": TIME} | columns)


SCHEMAS: Final[Mapping[TableContent, pa.Schema]] = {
    TableContent.PAGES: _schema(
        store=STRING,
        store_address=STRING,
        page=_INT,
        file=STRING,
        bytes=_INT,
        messages=_INT,
        messages_held=_INT,
        bytes_held=_INT,
        held_by=QUEUES,
        damage=STRING,
        remark=STRING,
    ),
    TableContent.OUTSTANDING: _schema(
        store=STRING,
        store_address=STRING,
        queue=STRING,
        id=_INT,
        messages=_INT,
        bytes=_INT,
        in_doubt=_INT,
        pages_held=_INT,
        bytes_held=_INT,
        bytes_held_alone=_INT,
        oldest=TIME,
        remark=STRING,
    ),
    TableContent.DAMAGE: _schema(
        store=STRING,
        store_address=STRING,
        page=_INT,
        file=STRING,
        offset=_INT,
        bytes=_INT,
        number=_INT,
        kind=STRING,
        detail=STRING,
    ),
    TableContent.ACKNOWLEDGEMENTS: _schema(queue=STRING, id=_INT, address=STRING, page=_INT, number=_INT, kind=STRING),
}

# The column that is null in rows of undamaged things.
TELLS_HARM: Final[Mapping[TableContent, str]] = {
    TableContent.PAGES: "damage",
    TableContent.OUTSTANDING: "remark",
    TableContent.DAMAGE: "kind",
}


def table_rows(content: TableContent, rows: Iterable[Mapping[str, Any]], context: RowsContext) -> pa.RecordBatch:
    """Return rows of a broker as a batch."""
    common = {"broker": context.broker, "exported_at": context.now}
    batch = pa.RecordBatch.from_pylist([utf8_row({**common, **row}) for row in rows], schema=SCHEMAS[content])
    at = batch.schema.get_field_index("oldest")
    return batch if at < 0 else batch.set_column(at, batch.schema.field(at), in_calendar(batch.column(at)))


def page_row(state: StoreState, page: PageFile, queues: Mapping[int, str]) -> dict[str, Any]:
    """Return the row of one page file, read once."""
    blind = state.unknown is not None and state.unknown.part is UnknownPart.JOURNAL
    load, _ = (replace(state, unknown=None) if blind else state).page(page)
    moving = None if load.damage is None else state.motion(page, load.damage)
    closed = load.damage is not None and load.damage.kind is DamageKind.NOT_PERMITTED
    damage = load.damage if moving is None and not closed else None
    unknown = load.damage.detail if closed and load.damage else state.unknown.reason if state.unknown else None
    judged = state.unknown is None and load.readable
    held: dict[str, Any] = dict.fromkeys(("messages_held", "bytes_held", "held_by"))
    if judged:
        held_by = load.holders and [{"id": queue, "name": queues.get(queue)} for queue in load.holders]
        held = {"messages_held": load.live_records, "bytes_held": load.live_bytes, "held_by": held_by}
    return held | {
        "store": state.store.name,
        "store_address": state.store.address,
        "page": page.number,
        "file": page.name,
        "bytes": page.size,
        "messages": load.records if load.readable else None,
        "damage": None if damage is None else f"{damage.kind}: {damage.detail}",
        "remark": moving or unknown,
    }


def queue_rows(state: StoreState) -> Iterator[dict[str, Any]]:
    """Yield a row for each queue that holds pages of a store, as in ``messages top --in pages``.

    If no queue does, or the journal is not known, a row without a queue has the remark, if there is one. Pages are read
    one at a time.
    """
    store = {"store": state.store.name, "store_address": state.store.address}
    if state.unknown is not None and state.unknown.part is UnknownPart.JOURNAL:
        yield store | {"remark": state.unknown.reason}
        return
    backlog = backlog_of(state, {})
    remark = "; ".join(backlog.verdict.all_remarks) or None
    rows = [row for row in backlog.queues if row.held != 0]
    for row in rows or ([backlog.whole] if remark else []):
        yield store | _queue(row) | {"remark": remark}


def _queue(of: Backlog) -> dict[str, Any]:
    return {
        "queue": of.queue,
        "id": of.id,
        "messages": of.messages,
        "bytes": of.bytes,
        "in_doubt": of.in_doubt,
        "pages_held": of.pages,
        "bytes_held": of.held,
        "bytes_held_alone": of.alone,
        "oldest": of.oldest,
    }


def acknowledgement_batches(
    journal: MessageJournal, context: RowsContext, addresses: Mapping[int, str]
) -> Iterator[pa.RecordBatch]:
    """Yield the positions that queues have acknowledged; ``number`` null: the whole page."""
    kinds: tuple[tuple[str, PositionIndex], ...] = (
        ("acknowledged", journal.ack_index),
        ("page complete", journal.complete_index),
        ("in doubt", journal.in_doubt_acks),
    )
    schema = SCHEMAS[TableContent.ACKNOWLEDGEMENTS]
    for kind, index in kinds:
        for queues, pages, numbers in index.chunks():
            if index is not journal.complete_index and numbers.min() <= BOOKMARK:
                pages, numbers = pages[numbers > BOOKMARK], numbers[numbers > BOOKMARK]
            rows, queue = len(numbers), int(queues[0])
            mask = np.full(rows, index is journal.complete_index)
            constant = {
                "broker": context.broker,
                "exported_at": context.now,
                "queue": context.queues.get(queue),
                "id": queue,
                "address": addresses.get(queue),
                "kind": kind,
            }
            columns = {
                name: pa.repeat(pa.scalar(value, schema.field(name).type), rows)
                for name, value in utf8_row(constant).items()
            }
            columns |= {"page": pa.array(pages), "number": pa.array(numbers.astype(np.int64), mask=mask)}
            yield pa.record_batch([columns[name] for name in schema.names], schema=schema)
