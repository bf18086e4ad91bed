"""The table of a whole paging directory, batch by batch, in the order store, page, number."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.bodies import map_of, stream_of
from pagefmt.codec.messages.core_fields import MAP, STREAM
from pagefmt.codec.messages.values import last_wins
from pagefmt.codec.pages.file_part import WHOLE_FILE, FilePart
from pagefmt.codec.pages.frames import Damage, end_of_records
from pagefmt.codec.pages.page import OddRecord, Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import FRAME, Layout
from pagefmt.codec.wire import Undecodable
from pagefmt.describe.arrow_schema import LONGS, STRING, Detail, schema
from pagefmt.describe.message_json import unscanned
from pagefmt.describe.values_json import property_map_json, typed_json
from pagefmt.editions import NEWEST, Edition
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.message_location import MessageOrigin, PageOrigin
from pagefmt.selector import Selector
from pagefmt.selector.message import source_of
from pagefmt.storage.files import utf8_name
from pagefmt.table.location_columns import (
    CODED_STATES,
    NULLABLE,
    ORIGIN_FIELDS,
    TIME_FIELDS,
    note_schedules,
    origin_table,
    set_apart,
)
from pagefmt.table.table_body import TableBody
from pagefmt.vectors import (
    PageBytes,
    PageColumns,
    PageFrames,
    acked_columns,
    decode_page,
    handed_out_row,
    level_for,
    of_reference,
    opened_chunks,
    select,
)

STORE_FIELDS: Final = (pa.field("store", STRING, nullable=False), pa.field("store_address", STRING))
STATE_FIELDS: Final = (pa.field("acked_by", LONGS), pa.field("outstanding", LONGS))
VALUE_FIELD: Final = pa.field("body_value", STRING)
STORE_COLUMNS: Final = frozenset(field.name for field in STORE_FIELDS)
STATE_COLUMNS: Final = frozenset(field.name for field in STATE_FIELDS)
_AMQP: Final = pa.scalar("amqp", STRING)
# The level that a body form needs beyond the properties.
_DETAILS: Final = {TableBody.TEXT: Detail.TEXTS, TableBody.VALUE: Detail.BODIES, TableBody.BASE64: Detail.BODIES}


@dataclass(frozen=True, slots=True)
class TableDamage:
    """What is damaged in a page. ``missing``: how many bytes are in no row, of one record, or up to the file's end."""

    damage: Damage
    missing: int


@dataclass(frozen=True, slots=True)
class PageSource:
    """One page file to read. ``rule`` None: no journal, and the state columns are null.

    ``edition``: whose reader says the facts of AMQP messages (``message_json``), as a rule that of the writer.
    """

    file: Path | PageFile | PageInMemory
    page: int
    store: str
    address: str | None
    rule: PageRule | None
    part: FilePart = WHOLE_FILE
    edition: Edition = NEWEST
    origin: MessageOrigin | None = None


@dataclass(frozen=True, slots=True)
class TableQuery:
    """The rows and columns of a table.

    ``where``: only messages that the selector matches. ``columns``: only these columns of the body form, and nothing
    else is decoded; None: all. ``located``: with the columns of an origin. ``headers``: selects rows by their headers
    before anything else is decoded. ``coded``: ``queues_state`` contains each distinct state once. ``past``: messages
    of a history, with the times between which they were sent.
    """

    body: TableBody = TableBody.SIZE
    where: Selector | None = None
    columns: frozenset[str] | None = None
    located: bool = False
    headers: Callable[[pa.RecordBatch], Mask] | None = None
    coded: bool = False
    past: bool = False

    @property
    def schema(self) -> pa.Schema:
        """Return the columns of the table, in order."""
        fields = [*STORE_FIELDS, *schema(_DETAILS.get(self.body, Detail.PROPERTIES)), *STATE_FIELDS]
        if self.body is TableBody.NONE:
            fields = [field for field in fields if field.name != "body_size"]
        if self.body is TableBody.VALUE:
            fields = [VALUE_FIELD if field.name == "body" else field for field in fields]
        if self.located:
            fields = [
                *(field.with_nullable(field.name in NULLABLE or field.nullable) for field in fields),
                *(CODED_STATES if self.coded and field.name == CODED_STATES.name else field for field in ORIGIN_FIELDS),
                *(TIME_FIELDS if self.past else ()),
            ]
        return pa.schema([field for field in fields if self.columns is None or field.name in self.columns])

    @property
    def level(self) -> Detail:
        """Return the lowest level that has everything that the columns and the selector need."""
        made_of = {VALUE_FIELD.name: ("type", "body")} | dict.fromkeys(STATE_COLUMNS, ("number", "tx", "queues"))
        made_of |= dict.fromkeys(
            (field.name for field in (*ORIGIN_FIELDS, *TIME_FIELDS)), ("number", "tx", "queues", "id", "large")
        )
        needed = {name_ for name in self.schema.names for name_ in made_of.get(name, (name,))} - STORE_COLUMNS
        least = Detail.COUNT if self.where is None else Detail.PROPERTIES
        if self.where is not None and level_for(self.where) is Detail.TEXTS:
            least = Detail.TEXTS
        levels = (level for level in Detail if level >= least and level is not Detail.STRINGS)
        return next(level for level in levels if needed <= set(schema(level).names))


def page_batches(source: PageSource, wanted: TableQuery) -> Iterator[pa.RecordBatch | TableDamage]:
    """Yield the rows and the damage of one page, in order."""
    form, level = wanted.schema, wanted.level
    for content, frames, opened in opened_chunks(source.file, source.part):
        decoded, rows = decoded_rows(source, wanted, level, content, frames, opened)
        if decoded.thrown:
            source = _ending_at(source, frames.number + decoded.thrown[0])
        yield completed(decoded.table, source, form, rows + frames.number)
        for n, damage in sorted(decoded.odd.items()):
            yield TableDamage(damage, int(frames.length[n]) + FRAME if n in decoded.thrown else 0)
        if decoded.cut is not None:
            yield from _rest(source, wanted, frames.base + int(frames.offset[decoded.cut]), frames.number + decoded.cut)
            return
    if not frames.whole:
        at, number = frames.base + frames.end, frames.number + len(frames.offset)
        goes_on = frames.unreadable is None and source.part.end is None and frames.base + content.size < _size(source)
        # what it is that stops the reader may lie beyond what was read at once
        if opened.layout() is Layout.OLD or goes_on:
            yield from _rest(source, wanted, at, number)
        elif frames.unreadable is not None or content.size > frames.end:
            stopped = end_of_records(opened.buf, frames.end, number, frames.unreadable)
            if stopped is not None:
                yield TableDamage(stopped._replace(offset=at), content.size - frames.end)


def _ending_at(source: PageSource, number: int) -> PageSource:
    """Return the source with the broker's reading ending at record ``number``, if it does not end before."""
    if source.rule is None or source.rule.end is not None:
        return source
    return replace(source, rule=source.rule.ending_at(number))


def _size(source: PageSource) -> int:
    """Return the bytes of a page when it was listed."""
    file = source.file
    return file.stat().st_size if isinstance(file, Path) else file.size


def decoded_rows(
    source: PageSource, wanted: TableQuery, level: Detail, content: PageBytes, frames: PageFrames, opened: Page
) -> tuple[PageColumns, Ints]:
    """Return the wanted rows of a chunk, up to ``level``, and the index of each row's record."""
    layout = opened.layout()
    chosen = _by_headers(source, wanted, content, frames, layout)
    decoded = decode_page(content, source.page, level, frames, layout, chosen)
    rows = np.arange(decoded.table.num_rows) if chosen is None else chosen[: decoded.table.num_rows]
    mask = np.ones(len(rows), bool)
    if isinstance(source.origin, PageOrigin):
        note_schedules(source.origin, content, opened, frames)
        set_apart(source.origin, frames, mask)
    away = list(decoded.thrown if wanted.where is None else decoded.odd)
    mask[np.searchsorted(rows, away)] = False
    if wanted.where is not None:
        mask &= _matches(wanted.where, content, frames, decoded)
    if mask.all():
        return decoded, rows
    return replace(decoded, table=decoded.table.filter(pa.array(mask))), rows[mask]


def _by_headers(
    source: PageSource, wanted: TableQuery, content: PageBytes, frames: PageFrames, layout: Layout | None
) -> Ints | None:
    """Return the rows that are wanted by their headers, or None for all."""
    if wanted.headers is None or wanted.where is not None:
        return None
    decoded = decode_page(content, source.page, Detail.HEADERS, frames, layout)
    if decoded.odd or decoded.cut is not None:
        return None
    columns = {name: decoded.table.column(n) for n, name in enumerate(decoded.table.schema.names)}
    columns |= _as_read_by(source.edition, columns)
    mask = wanted.headers(pa.record_batch(columns))
    if frames.places is not None:  # of these the place in their page is not known before it is read by itself
        mask[decoded.irregular] = True
    return np.flatnonzero(mask)


def _rest(source: PageSource, wanted: TableQuery, at: int, number: int) -> Iterator[pa.RecordBatch | TableDamage]:
    """Yield the rows and damage of a page from the record ``number`` at ``at`` on, decoded one by one."""
    form = schema(wanted.level)
    with open_page(source.file) as opened:
        for route in opened.handed_out(at, number):
            if isinstance(route, Damage):
                yield TableDamage(route, 0)
                source = _ending_at(source, route.number)
                continue
            row, damage = handed_out_row(opened, route, source.page, wanted.level)
            if damage is not None:
                yield TableDamage(damage, 0)
            record = opened.understood(route)
            if wanted.where is None or (
                not isinstance(record, OddRecord) and wanted.where.matches(source_of(record.message))
            ):
                batch = pa.RecordBatch.from_pylist([row], schema=form)
                yield completed(batch, source, wanted.schema, np.array([route[0]]))
        if opened.damage is not None and opened.size > opened.bytes_read:
            yield TableDamage(opened.damage, opened.size - opened.bytes_read)


def without_outstanding(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows with ``outstanding`` null, for a store whose outstanding messages are not known."""
    at = batch.schema.get_field_index("outstanding")
    return batch if at < 0 else batch.set_column(at, batch.schema.field(at), pa.nulls(batch.num_rows, LONGS))


def _matches(where: Selector, content: PageBytes, frames: PageFrames, decoded: PageColumns) -> Mask:
    """Return which of the records the selector matches."""
    batch = decoded.table
    mask = np.ones(len(frames.offset), bool)
    table = batch if "properties" in batch.schema.names else None
    select(content, frames, where, table, of_reference(decoded, len(mask)), mask)
    return mask[: batch.num_rows]


def completed(batch: pa.RecordBatch, source: PageSource, form: pa.Schema, number: Ints) -> pa.RecordBatch:
    """Add the columns of the store and the journal. ``number``: of the records, as rule and origin number them."""
    rows, wanted = batch.num_rows, frozenset(form.names)
    columns = {name: batch.column(n) for n, name in enumerate(batch.schema.names)}
    if "protocol" in columns:
        columns |= _as_read_by(source.edition, columns)
    columns["store"] = pa.repeat(pa.scalar(utf8_name(source.store), STRING), rows)
    columns["store_address"] = pa.repeat(pa.scalar(source.address, STRING), rows)
    columns["acked_by"] = columns["outstanding"] = pa.nulls(rows, LONGS)
    if source.rule is not None and wanted & STATE_COLUMNS:
        tx = np.asarray(columns["tx"])
        columns["acked_by"], columns["outstanding"] = acked_columns(source.rule, number, tx, columns["queues"])
    if VALUE_FIELD.name in wanted:
        columns[VALUE_FIELD.name] = _values(columns["type"], columns["body"])
    if source.origin is not None:
        columns |= origin_table(source.origin, source.rule, number, columns, form)
    return pa.record_batch([columns[name] for name in form.names], schema=form)


def _as_read_by(edition: Edition, columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Return the columns that a reader of the edition fills before it parses the sections, with its own values."""
    standard = pc.and_(pc.equal(columns["protocol"], _AMQP), pc.invert(columns["large"]))
    if not pc.any(standard).as_py():
        return {}
    return {
        name: pc.if_else(standard, pa.scalar(value, columns[name].type), columns[name])
        for name, value in unscanned(edition).items()
        if name in columns
    }


def _values(kind: pa.Array, body: pa.Array) -> pa.StringArray:
    """Return bodies of map and stream messages as JSON, null where a body does not hold what its type says."""
    out: list[str | None] = [None] * len(kind)
    types = kind.to_pylist()
    for n, type_ in enumerate(types):
        if type_ in (MAP, STREAM) and body[n].is_valid:
            out[n] = _value_json(type_, body[n].as_py())
    return pa.array(out, STRING)


def _value_json(kind: int, body: bytes) -> str | None:
    try:
        value = (
            property_map_json(last_wins(map_of(body)))
            if kind == MAP
            else [typed_json(item) for item in stream_of(body)]
        )
    except Undecodable:
        return None
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
