"""``where``, ``file`` and ``queues_state`` as columns of a table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints, Mask, flat
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.persisters import CORE
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import FRAME, Layout
from pagefmt.describe.arrow_schema import STRING, names_array
from pagefmt.describe.values_json import Json
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.message_location import (
    MessageOrigin,
    PageOrigin,
    QueueEntry,
    ScheduledRecord,
    Where,
    scheduled_time,
)
from pagefmt.storage.files import NotPermitted
from pagefmt.vectors import PageBytes, PageFrames

QUEUES_STATE: Final = pa.list_(
    pa.struct(
        [
            pa.field("queue", STRING),
            pa.field("id", pa.int64()),
            pa.field("state", STRING),
            pa.field("delivery_count", pa.int32()),
            pa.field("scheduled", pa.int64()),
            pa.field("why", STRING),
        ]
    )
)
ORIGIN_FIELDS: Final = (
    pa.field("where", STRING, nullable=False),
    pa.field("file", STRING),
    pa.field("queues_state", QUEUES_STATE, nullable=False),
)
TIME: Final = pa.timestamp("ms", "UTC")
TIMES: Final = ("not_before", "not_after")
# Between these times a message of a history was sent; null if not known.
TIME_FIELDS: Final = tuple(pa.field(name, TIME) for name in TIMES)
# Columns that are null for messages of the journal.
NULLABLE: Final = frozenset(("store", "page", "number"))
# ``queues_state`` with each distinct entry once.
CODED_STATES: Final = pa.field("queues_state", pa.list_(pa.dictionary(pa.int32(), QUEUES_STATE.value_type)))
# Without the last zero: a search looks at the last byte first, and zeros are frequent.
_CORE_MARK: Final = "Q_SCHED_DELIVERY".encode("utf-16-le")[:-1]
_AMQP_MARK: Final = b"x-opt-delivery-"


def _marks(opened: Page, frames: PageFrames) -> Iterator[bytes]:
    """Yield the words that set a time of delivery in messages of the protocols that the chunk has."""
    large_type, persister = np.frombuffer(opened.buf, np.uint8)[frames.offset[frames.length >= 10] + [[13], [14]]]
    core = (persister <= CORE) | (large_type == 1) | (large_type == 0xFF)
    if opened.layout() is Layout.OLD or frames.length.max(initial=0) >= 2 << 24:  # a size instead of a persister
        core[:] = True
    if core.any():
        yield _CORE_MARK
    if not core.all():
        yield _AMQP_MARK


def note_schedules(origin: PageOrigin, content: PageBytes, opened: Page, frames: PageFrames) -> None:
    """Look for times of delivery in a chunk of a page: in the few messages that have the words."""
    rows = set()
    for mark in _marks(opened, frames):
        at = content.find(mark, 0)
        while at >= 0:
            row = int(np.searchsorted(frames.offset, at, "right")) - 1
            rows.add(row)
            at = content.find(mark, int(frames.offset[row + 1])) if row + 1 < len(frames.offset) else -1
    for row in sorted(rows - {-1}):
        strict = opened.strict_layout()
        record = opened.record(frames.number + row, int(frames.offset[row]), int(frames.length[row]), strict)
        if not isinstance(record, Damage) and (time := scheduled_time(record.message)):
            origin.scheduled[frames.number + row] = time


def set_apart(origin: PageOrigin, frames: PageFrames, mask: Mask) -> None:
    """Take the scheduled ones of a chunk out of those that are shown, and all whose turn it is not."""
    if origin.only is not None:
        mask &= np.isin(frames.number + np.arange(len(mask)), origin.only)
    for number, time in origin.scheduled.items():
        row = number - frames.number
        if origin.apart and not 0 <= time <= origin.now and 0 <= row < len(mask) and mask[row]:
            mask[row] = False
            at = int(frames.offset[row]) + frames.base
            origin.set_apart.append(ScheduledRecord(time, number, at, at + int(frames.length[row]) + FRAME))


def origin_table(
    origin: MessageOrigin, rule: PageRule | None, number: Ints, columns: dict[str, pa.Array], form: pa.Schema
) -> dict[str, pa.Array]:
    """Return the columns of ``ORIGIN_FIELDS`` that the form has; for journal messages also those of their position.

    ``columns`` includes transaction, queues, id and large.
    """
    table: dict[str, pa.Array] = {}
    if "where" in form.names or "file" in form.names:
        large = pc.fill_null(columns["large"], False)
        if origin.where is Where.HISTORY:  # which has the bodies, too
            large = pc.and_(large, False)
        names, which = origin.files(number)
        files = names_array(names).take(pa.array(which))
        if origin.large is not None and pc.any(large).as_py():
            files = pc.if_else(large, names_array(_bodies(origin.large, columns["id"], large)), files)
        table |= {"where": pc.if_else(large, str(Where.LARGE), str(origin.where)), "file": files}
    if (times := origin.times(number)) is not None:
        which = pa.array(times.which)
        for name, texts in zip(TIMES, zip(*times.brackets, strict=True), strict=True):
            moments = [None if text is None else datetime.fromisoformat(text) for text in texts]
            table[name] = pa.array(moments, TIME).take(which)
    if "queues_state" in form.names:
        entries = origin.entries(rule, number, np.asarray(columns["tx"]), *flat(columns["queues"]))
        distinct, which = pa.array(map(_struct, entries.distinct), QUEUES_STATE.value_type), entries.which
        if form.field("queues_state").type == CODED_STATES.type:
            states = pa.DictionaryArray.from_arrays(which.astype(np.int32), distinct)
        else:
            states = distinct.take(pa.array(which))
        table["queues_state"] = pa.ListArray.from_arrays(pa.array(entries.offsets.astype(np.int32)), states)
    places = origin.places(number)
    if places is None:
        return table
    rows = len(number)
    return table | {
        "store": pa.nulls(rows, STRING),
        "page": pa.nulls(rows, pa.int64()),
        "number": pa.nulls(rows, pa.int32()),
        "store_address": names_array(places.addresses).take(pa.array(places.which)),
        "offset": pa.array(places.offset),
        "length": pa.array(places.length.astype(np.int32)),
    }


def _bodies(folder: LargeMessages, ids: pa.Array, large: pa.Array) -> list[str | None]:
    return [
        _body_name(folder, id_) if is_large else None
        for id_, is_large in zip(ids.to_pylist(), large.to_pylist(), strict=True)
    ]


def _body_name(folder: LargeMessages, message: int) -> str | None:
    try:
        file = folder.find(message)
    except NotPermitted:
        return None
    return None if file is None else file.name


def _struct(entry: QueueEntry) -> Json:
    queue, why = names_array([entry.queue, entry.why]).to_pylist()  # why may name files, whose names are any bytes
    return entry._asdict() | {"queue": queue, "why": why, "state": None if entry.state is None else str(entry.state)}
