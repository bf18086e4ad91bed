"""Columns for people beside those of the table: times, names of queues, one property, one field of AMQP.

sent, expires      timestamps in UTC, null where no calendar has them    expired      whether that is over
queue_names, acked_by_names, outstanding_names                          names in place of ids
correlation_id     of any protocol, as text                             file         name of the page file
broker             name of the broker                                   exported_at  when it was read
properties.NAME    one property as text                                 amqp.A.B     a field, or an entry of a map
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.codec.messages.message_ids import CORRELATION_ID_PROPERTIES
from pagefmt.codec.messages.values import ValueKind
from pagefmt.describe.arrow_schema import STRING
from pagefmt.describe.values_json import float_json, special_json
from pagefmt.errors import PageFmtError
from pagefmt.findings import did_you_mean
from pagefmt.storage.files import utf8_name
from pagefmt.table.table import TableQuery
from pagefmt.table.table_body import TableBody
from pagefmt.vectors import entries

TIME: Final = pa.timestamp("ms", "UTC")
NAMES: Final = pa.list_(STRING)
QUEUES: Final = pa.list_(pa.struct([pa.field("id", pa.int64()), pa.field("name", STRING)]))
# The columns of this module that a table has if no columns were chosen.
ADDED: Final = ("sent", "expires", "queue_names", "outstanding_names")
# 1 to 9999, in ms.
_YEARS: Final = (-62_135_596_800_000, 253_402_300_799_999)
_BODIES: Final = {"body_text": TableBody.TEXT, "body_value": TableBody.VALUE, "body": TableBody.BASE64}


class NoSuchColumn(PageFmtError):
    """A column that a table does not have."""


@dataclass(frozen=True, slots=True)
class RowsContext:
    """The names and times that rows are completed with.

    ``files``: names by page number; ``queues``: names by queue id; ``now``: ms since 1970.
    """

    files: Mapping[int, str]
    queues: Mapping[int, str]
    now: int
    broker: str = ""


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column under the name by which users choose it.

    ``needs``: columns of the table that it is made of.
    """

    type: pa.DataType
    needs: tuple[str, ...]
    made: Callable[[pa.RecordBatch, RowsContext], pa.Array]


def in_calendar(times: pa.TimestampArray) -> pa.TimestampArray:
    """Return the times (ms), null if outside the years 1 to 9999: a message may contain any number."""
    at = times.view(pa.int64())
    in_range = pc.and_(pc.greater_equal(at, _YEARS[0]), pc.less_equal(at, _YEARS[1]))
    return pc.if_else(in_range, times, pa.scalar(None, times.type))


def _time(name: str) -> NamedColumn:
    def made(batch: pa.RecordBatch, _: RowsContext) -> pa.Array:
        values = batch.column(name)
        return in_calendar(pc.if_else(pc.equal(values, 0), pa.scalar(None, pa.int64()), values).view(TIME))

    return NamedColumn(TIME, (name,), made)


def _by_queue(name: str, type_: pa.ListType, value: Callable[[int, str | None], object]) -> NamedColumn:
    """Return the column ``name`` with each queue id replaced by ``value`` of its id and name (None if unbound)."""

    def made(batch: pa.RecordBatch, context: RowsContext) -> pa.Array:
        lists = batch.column(name)
        ids = lists.values.dictionary_encode()
        names = {
            queue: utf8_name(bound) for queue in ids.dictionary.to_pylist() if (bound := context.queues.get(queue))
        }
        distinct = [value(queue, names.get(queue)) for queue in ids.dictionary.to_pylist()]
        values = pa.array(distinct, type_.value_type).take(ids.indices)
        null = lists.is_null() if lists.null_count else None
        # of rows in the midst of others the offsets are a slice, beside which Arrow takes no nulls
        offsets = pa.array(np.asarray(lists.offsets))
        return pa.ListArray.from_arrays(offsets, values, type=type_, mask=null)

    return NamedColumn(type_, (name,), made)


def _names(name: str) -> NamedColumn:
    return _by_queue(name, NAMES, lambda queue, bound: bound or f"queue {queue}")


def _queues(name: str) -> NamedColumn:
    return _by_queue(name, QUEUES, lambda queue, bound: {"id": queue, "name": bound})


def _expired(batch: pa.RecordBatch, context: RowsContext) -> pa.Array:
    expires = batch.column("expiration")
    return pc.and_(pc.not_equal(expires, 0), pc.greater_equal(pc.subtract(context.now, expires), 0))


def _file(batch: pa.RecordBatch, context: RowsContext) -> pa.Array:
    pages = batch.column("page").dictionary_encode()
    return pa.array([context.files[page] for page in pages.dictionary.to_pylist()], STRING).take(pages.indices)


def _broker(batch: pa.RecordBatch, context: RowsContext) -> pa.Array:
    return pa.repeat(pa.scalar(context.broker, STRING), batch.num_rows)


def _exported_at(batch: pa.RecordBatch, context: RowsContext) -> pa.Array:
    return pa.repeat(pa.scalar(context.now, TIME), batch.num_rows)


def _correlation_id(batch: pa.RecordBatch, context: RowsContext) -> pa.Array:
    stored = pc.struct_field(batch.column("amqp"), ["properties", "correlation_id"])
    others = (_property(name).made(batch, context) for name in CORRELATION_ID_PROPERTIES)
    return pc.coalesce(stored, *others)


def _property(name: str) -> NamedColumn:
    def made(batch: pa.RecordBatch, _: RowsContext) -> pa.Array:
        return _entry(batch.column("properties"), name)

    return NamedColumn(STRING, ("properties",), made)


def _entry(maps: pa.MapArray, name: str) -> pa.Array:
    """Return one entry of each map as text, null where it is absent."""
    rows, values = entries(maps, name)
    texts: list[str | None] = [None] * len(maps)
    for row, value in zip(rows.tolist(), values.to_pylist(), strict=True):
        texts[row] = value_text(value)
    return pa.array(texts, STRING)


def value_text(value: Mapping[str, Any]) -> str | None:
    """Return a VALUE struct as text: numbers in full, bytes in hexadecimal."""
    match value["type"]:
        case ValueKind.BOOLEAN:
            return "true" if value["long"] else "false"
        case ValueKind.FLOAT:
            return str(float_json(value["double"]))
        case ValueKind.DOUBLE:
            number = value["double"]
            return repr(number) if np.isfinite(number) else special_json(number)
        case ValueKind.BYTES:
            return bytes(value["bytes"]).hex()
        case _:
            return next((str(value[name]) for name in ("string", "long", "json") if value[name] is not None), None)


def _amqp(path: str, schema: pa.Schema) -> NamedColumn | None:
    """Return the column of a field of the sections; after a map, the remaining path is the name of an entry."""
    type_: pa.DataType = schema.field("amqp").type
    fields: list[str] = []
    left = path
    while left and isinstance(type_, pa.StructType):
        name, _, left = left.partition(".")
        if type_.get_field_index(name) < 0:
            return None
        fields.append(name)
        type_ = type_.field(name).type
    if left and not isinstance(type_, pa.MapType):
        return None
    return NamedColumn(STRING if left else type_, ("amqp",), lambda batch, _: _amqp_values(batch, fields, left))


def _amqp_values(batch: pa.RecordBatch, fields: list[str], entry: str) -> pa.Array:
    values = pc.struct_field(batch.column("amqp"), fields)
    return _entry(values, entry) if entry else values


_MADE: Final = {
    "sent": _time("timestamp"),
    "expires": _time("expiration"),
    "expired": NamedColumn(pa.bool_(), ("expiration",), _expired),
    "queue_names": _names("queues"),
    "acked_by_names": _names("acked_by"),
    "outstanding_names": _names("outstanding"),
    "correlation_id": NamedColumn(STRING, ("amqp", "properties"), _correlation_id),
    "file": NamedColumn(STRING, ("page",), _file),
}
# Columns of tables of several brokers, in which queues have id and name.
OF_A_FLEET: Final = {
    "broker": NamedColumn(STRING, (), _broker),
    "exported_at": NamedColumn(TIME, (), _exported_at),
    "queues": _queues("queues"),
    "acked_by": _queues("acked_by"),
    "outstanding": _queues("outstanding"),
}


def _column(name: str, query: TableQuery, first: Mapping[str, NamedColumn]) -> NamedColumn:
    """Return the column of that name. Raise ``NoSuchColumn`` if there is none."""
    schema = query.schema
    if name in first and (name in schema.names or not first[name].needs):
        return first[name]
    if name in _MADE and name not in schema.names:
        return _MADE[name]
    if name in schema.names:
        return NamedColumn(schema.field(name).type, (name,), lambda batch, _: batch.column(name))
    head, _, path = name.partition(".")
    if head == "properties" and path:
        return _property(path)
    amqp = _amqp(path, schema) if head == "amqp" and path else None
    if amqp is None:
        choices = [*schema.names, *_MADE, "properties.NAME"]
        raise NoSuchColumn(
            f"{name}: a table has no such column; {did_you_mean(name, choices, 'choose from ' + ', '.join(choices))}"
        )
    return amqp


def body_for(names: Iterable[str], chosen: TableBody) -> TableBody:
    """Return the richest body form that one of the columns, or ``given``, needs."""
    wanted = [_BODIES[name] for name in names if name in _BODIES]
    return max([chosen, *wanted], key=list(TableBody).index)


@dataclass(frozen=True, slots=True)
class NamedTable:
    """The chosen columns of a table, in order. ``query`` reads what they are made of, and what ``also`` names."""

    names: tuple[str, ...]
    query: TableQuery
    columns: tuple[NamedColumn, ...]
    schema: pa.Schema

    @classmethod
    def of(
        cls,
        names: Iterable[str] | None,
        query: TableQuery,
        also: Iterable[str] = (),
        first: Mapping[str, NamedColumn] = MappingProxyType({}),
    ) -> NamedTable:
        """Return the table with these columns. Raise ``NoSuchColumn`` for an unknown name.

        ``names`` None: all columns of the query, and the ``ADDED`` ones. ``first``: columns that override those of the
        same name.
        """
        chosen = tuple(dict.fromkeys((*query.schema.names, *ADDED) if names is None else names))
        columns = tuple(_column(name, query, first) for name in chosen)
        needed = {column_ for column in columns for column_ in column.needs} | set(also)
        read_by = replace(query, columns=frozenset(needed or ("number",)))
        read = read_by.schema
        schema = pa.schema(
            [
                read.field(name).with_type(column_.type) if name in read.names else pa.field(name, column_.type)
                for name, column_ in zip(chosen, columns, strict=True)
            ]
        )
        return cls(chosen, read_by, columns, schema)

    def rows(self, batch: pa.RecordBatch, context: RowsContext) -> pa.RecordBatch:
        """Return the named columns for rows of the query."""
        arrays = [column.made(batch, context) for column in self.columns]
        return pa.record_batch(arrays, schema=self.schema)
