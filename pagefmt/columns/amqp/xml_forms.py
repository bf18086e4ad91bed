"""Standard AMQP messages of one structure as XML; ``pagefmt.exchange`` is the reference.

The reference writes one of the messages with marks in the place of values that differ from message to message. What
stands between the marks is the same in all, and each mark is replaced by a column. Messages with anything else that
differs (annotations, kinds of values, content types) are left to the reference.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.bytes.wire import Undecodable
from pagefmt.columns.amqp import values, walk
from pagefmt.columns.amqp.maps import known_keys
from pagefmt.columns.amqp.parts import AmqpParts, amqp_parts
from pagefmt.columns.amqp.structure import Structure, ValueColumn, structure
from pagefmt.columns.amqp.walk import ABSENT
from pagefmt.columns.arrays.fragments import Cell, Part, Pool
from pagefmt.columns.arrays.strings import few, slices, text_of_utf8
from pagefmt.columns.core.batch import Batch, queue_lists
from pagefmt.exchange.core_form import amqp_bodies, core_form, form_of_sections, message_ids
from pagefmt.exchange.xml_writing import (
    NOT_PLAIN,
    NULL_TEXT,
    UNFIT,
    XmlMessage,
    message_text,
    property_frame,
    value_text,
    xml_text,
)
from pagefmt.messages.amqp_message import AmqpMessage
from pagefmt.messages.amqp_sections import DATA, PROPERTY_FIELDS, VALUE
from pagefmt.messages.amqp_values import NO_BYTES
from pagefmt.messages.persisters import AMQP_V3
from pagefmt.messages.properties import double_of
from pagefmt.messages.values import TypedValue, ValueKind
from pagefmt.pages.gather import Ints, PageBytes, ranked
from pagefmt.pages.record import FRAME, decode_record

_MOST_GROUPS: Final = 8  # combinations of annotations and extra properties that are worth a batch each
_MARK: Final = "\ue000"  # a character of private use opens and closes a mark
_TEXT_FIELDS: Final = frozenset(
    ("message_id", "subject", "reply_to", "correlation_id", "group_id", "reply_to_group_id")
)
_TIMES: Final = ("creation_time", "absolute_expiry_time")
_WHOLE: Final = {
    kind: codes
    for kind, *codes in (
        (ValueKind.BOOLEAN, 0x41, 0x42, 0x56), (ValueKind.BYTE, 0x51), (ValueKind.SHORT, 0x61),
        (ValueKind.INT, 0x54, 0x71), (ValueKind.LONG, 0x55, 0x81), (ValueKind.UBYTE, 0x50), (ValueKind.USHORT, 0x60),
        (ValueKind.UINT, 0x43, 0x52, 0x70), (ValueKind.ULONG, 0x44, 0x53, 0x80),
    )
}  # fmt: skip
"""Kinds of whole numbers with their constructors."""
_BODIES: Final = {DATA: walk.DATA, VALUE: walk.AMQP_VALUE}
_MARKS: Final = re.compile(f"{_MARK}([0-9]+){_MARK}")
_NARROW: Final = {ValueKind.UBYTE: 1 << 7, ValueKind.USHORT: 1 << 15, ValueKind.UINT: 1 << 31}
"""Below these numbers a core property of the same width holds an unsigned value."""


class _NotAlike(Exception):
    """The messages differ in something that no mark stands for."""


def alike_rows(page: PageBytes, payload: Ints, length: Ints) -> Iterator[Ints]:
    """Yield places of messages that have the same structure, annotations and extra properties."""
    parts = amqp_parts(page, payload, length)
    parts.regular &= parts.has_address
    built = structure(page, parts)
    for plan in built.plans:
        rows = np.arange(len(payload)) if plan.rows is None else plan.rows
        at, extra = parts.encoded_at[rows], parts.extra_at[rows]
        head = few(page, at, _application_start(built, rows, parts) - at)
        more = few(page, extra, parts.extra_end[rows] - extra)
        if head is None or more is None or len(head[0]) * len(more[0]) > _MOST_GROUPS:
            continue
        group = ranked(head[1].astype(np.int64) * len(more[0]) + more[1])[1]
        for n in range(int(group.max()) + 1):
            yield rows[group == n]


def _application_start(built: Structure, rows: Ints, parts: AmqpParts) -> Ints:
    """Return where the first section begins that messages have for themselves."""
    kinds = (walk.PROPS, walk.APPLICATION, walk.DATA, walk.SEQUENCE, walk.AMQP_VALUE)
    first = parts.encoded_at[rows] + parts.encoded_size[rows]
    for kind in kinds:
        at = built.section(kind).at[rows]
        first = np.where(at == ABSENT, first, np.minimum(first, at))
    return first


def amqp_texts(batch: Batch, elements: list[str], which: Ints) -> pa.BinaryArray | None:
    """Return the elements of messages of ``alike_rows``; None where some are not regular. ``which`` of ``elements``
    stands for the queues of each record of the chunk."""
    page, parts = batch.page, amqp_parts(batch.page, batch.payload, batch.length)
    batch.regular &= parts.regular & parts.has_address
    parts.regular = batch.regular
    built = structure(page, parts)
    queue_lists(batch, parts.parts_end)
    if not batch.regular.all():
        return None
    pool = Pool()
    try:
        marked = _MarkedMessage(batch, parts, built, pool)
        lines = marked.parts(pool.texts(elements)[which[batch.row]])
    except (_NotAlike, Undecodable, UnicodeDecodeError):
        batch.regular[:] = False
        return None
    return pool.joined(len(batch.row), lines) if batch.regular.all() else None


class _MarkedMessage:
    """The first message of a batch, with marks for which there are cells."""

    def __init__(self, batch: Batch, parts: AmqpParts, built: Structure, pool: Pool) -> None:
        self.page, self.regular, self.built, self.pool = batch.page, batch.regular, built, pool
        self.cells: list[Cell] = []
        self.kinds: dict[int, ValueKind] = {}
        self.user_ids: str | None = None
        at, length = int(batch.payload[0]) - 5, int(batch.length[0])
        sample = decode_record(bytes(memoryview(self.page.buffer)[at : at + length + FRAME]), 0, length).message
        if built.only is None or not isinstance(sample, AmqpMessage) or sample.sections().late:
            raise _NotAlike
        self.sections = sample.sections()
        if len(self.sections.body) != 1 or self.sections.footer is not None:
            raise _NotAlike
        self.real = core_form(sample)
        marked = replace(self.sections, property_fields=self.fields(), application_properties=self.application())
        self.form = form_of_sections(sample, marked)
        self.attributes(parts)

    def mark(self, cell: Cell) -> str:
        """Return a text that stands for a cell."""
        self.cells.append(cell)
        return f"{_MARK}{len(self.cells) - 1}{_MARK}"

    def fields(self) -> dict[str, TypedValue] | None:
        """Return the properties section with marks."""
        known = self.sections.property_fields
        found = dict(known or {})
        for n, name in enumerate(PROPERTY_FIELDS) if known is not None else ():
            column = self.built.field(walk.PROPS, n)
            if (column.code != ABSENT) != (name in found) or bool((column.at == ABSENT).any()) != (name not in found):
                raise _NotAlike
            if name in found and name not in (*_TIMES, "to") and column.same is None:
                found[name] = self.field(name, column, found[name])
        return found if known is not None else None

    def field(self, name: str, column: ValueColumn, value: TypedValue) -> TypedValue:
        """Return a mark for a field of text."""
        if name not in _TEXT_FIELDS or value.kind is not ValueKind.STRING:
            raise _NotAlike
        raw = self.raw(column)
        if name == "message_id":  # as a core message has it, from which its user id is made
            forms = [self.identified(n, each) for n, each in enumerate(raw.to_pylist())]
            self.user_ids = self.mark(self.pool.texts(user for _, user in forms))
            return value._replace(value="ID:" + self.mark(self.pool.texts(xml_text(text)[3:] for text, _ in forms)))
        if name == "correlation_id":
            self.regular &= ~np.asarray(pc.starts_with(raw, b"ID:"))
        return value._replace(value=self.mark(self.texts(raw)))

    def raw(self, column: ValueColumn) -> pa.BinaryArray:
        """Return the bytes of strings; others clear ``regular``."""
        code, start, size = walk.widths(self.page, column.at)
        self.regular &= values.IS_STRING[code]
        return slices(self.page, start, size)

    def texts(self, raw: pa.BinaryArray) -> Cell:
        """Return strings as they stand in attributes; what the document does not hold clears ``regular``."""
        found, bad = text_of_utf8(raw)
        self.regular[bad] = False
        found = pc.fill_null(found, "")
        self.regular &= ~np.asarray(pc.equal(found, NULL_TEXT))
        unusual = np.flatnonzero(np.asarray(pc.match_substring_regex(found, NOT_PLAIN.pattern)))
        if not len(unusual):
            return self.pool.add(found)
        mask = np.zeros(len(found), bool)
        mask[unusual] = True
        escaped = found.take(pa.array(unusual)).to_pylist()
        self.regular[unusual[[UNFIT.search(each) is not None for each in escaped]]] = False
        return self.pool.add(pc.replace_with_mask(found, pa.array(mask), pa.array(map(xml_text, escaped), pa.string())))

    def identified(self, row: int, raw: bytes) -> tuple[str, str]:
        """Return the id of a message as core clients see it, and the user id that is made of it."""
        try:
            found = message_ids(TypedValue(ValueKind.STRING, raw.decode()))
        except UnicodeDecodeError:
            found = ("ID:", "")
            self.regular[row] = False
        self.regular[row] &= UNFIT.search(found[0]) is None
        return found

    def application(self) -> TypedValue | None:
        """Return the application properties with marks."""
        section, entries = self.sections.application_properties, self.built.entries(walk.APPLICATION)
        if section is None or not entries:
            return section
        if known_keys(entries[0::2]) is None or section.kind is not ValueKind.MAP:
            raise _NotAlike
        pairs = zip(section.value, entries[1::2], strict=True)
        return section._replace(value=tuple((key, self.value(column, value)) for (key, value), column in pairs))

    def value(self, column: ValueColumn, value: TypedValue) -> TypedValue:
        """Return a mark for an application property."""
        if column.same is not None or column.code in NO_BYTES:
            return value
        if value.kind is ValueKind.STRING:
            return value._replace(value=self.mark(self.texts(self.raw(column))))
        if value.kind is ValueKind.DOUBLE:
            self.regular &= self.page.byte(column.at) == 0x82
            bits, which = ranked(self.page.i64(column.at + 1))
            texts = self.pool.texts(value_text(double_of(each & ((1 << 64) - 1))) for each in bits.tolist())
            return self.typed(value, texts[which])
        if value.kind is ValueKind.BYTES:
            code, start, size = walk.widths(self.page, column.at)
            self.regular &= values.IS_BINARY[code]
            contents = slices(self.page, start, size).to_pylist()
            return self.typed(value, self.pool.add(pa.array(map(urlsafe_b64encode, contents), pa.binary())))
        if value.kind not in _WHOLE:
            raise _NotAlike
        numbers, _ = values.integers(self.page, column, self.regular, kinds=tuple(_WHOLE[value.kind]))
        if (limit := _NARROW.get(value.kind)) is not None:
            self.regular &= (numbers < limit) == (value.value < limit)
        flags = value.kind is ValueKind.BOOLEAN
        return self.typed(value, self.pool.flags(numbers != 0) if flags else self.pool.numbers(numbers))

    def typed(self, value: TypedValue, cell: Cell) -> TypedValue:
        """Return a mark for a value that is no text; in the document it has the kind of the first message's."""
        self.kinds[len(self.cells)] = self.real.fitting("", value).kind
        return TypedValue(ValueKind.STRING, self.mark(cell))

    def attributes(self, parts: AmqpParts) -> None:
        """Put marks for what stands in attributes of the message."""
        form, times = self.form, {}
        for name in _TIMES:
            if name in self.sections.properties:
                column = self.built.field(walk.PROPS, PROPERTY_FIELDS.index(name))
                times[name], _ = values.integers(self.page, column, self.regular, kinds=values.TIMESTAMPS)
        stored = np.where(parts.persister == AMQP_V3, parts.expiration, 0)
        form.user_id = form.user_id if self.user_ids is None else self.user_ids
        form.id = self.number(parts.id)
        form.expiration = self.number(times.get("absolute_expiry_time", stored))
        if "creation_time" in times:
            form.timestamp = self.number(times["creation_time"])

    def number(self, numbers: Ints) -> Any:
        """Return a mark in the place of a number."""
        return self.mark(self.pool.numbers(numbers))

    def body(self) -> Cell:
        """Return the bodies in Base64; one of another type than the first clears ``regular``."""
        (section,) = self.sections.body
        kind = section.value.kind
        if kind not in (ValueKind.STRING, ValueKind.BYTES) or section.descriptor not in _BODIES:
            raise _NotAlike
        column = self.built.section(_BODIES[section.descriptor])
        code, start, size = walk.widths(self.page, column.at)
        self.regular &= (values.IS_STRING if kind is ValueKind.STRING else values.IS_BINARY)[code]
        if not self.regular.all():
            raise Undecodable(0, "a body is of another kind")
        contents: list[Any] = slices(self.page, start, size).to_pylist()
        if kind is ValueKind.STRING:
            contents = [each.decode("utf-8", "surrogatepass") for each in contents]
        encoded = []
        for n, (type_, body) in enumerate(amqp_bodies(section, self.sections, contents)):
            self.regular[n] &= type_ == self.real.type
            encoded.append(urlsafe_b64encode(body))
        return self.pool.add(pa.array(encoded, pa.binary()))

    def parts(self, queues: Cell) -> list[Part]:
        """Return the parts of the elements, each of all messages."""
        self.form.body = b""
        text, lost = message_text(XmlMessage(self.form, ()))
        correlation = self.real.properties.get("JMSCorrelationID")
        bytes_ = correlation is not None and correlation.kind is ValueKind.BYTES
        if lost or self.real.lost or bytes_ or text.count(_MARK) != len(_MARKS.findall(text)) * 2:
            raise _NotAlike
        text = text.replace("<queues>\n", f"<queues>\n{self.mark(queues)}")
        text = text.replace("<![CDATA[]]>", f"<![CDATA[{self.mark(self.body())}]]>")
        first, *rest = _MARKS.split(text)
        found: list[Part] = [self.pool.constant(first)]
        for n, behind in zip(map(int, rest[::2]), rest[1::2], strict=True):
            if n in self.kinds:
                behind = property_frame("", self.kinds[n])[1] + behind.partition("\n")[2]
            found += [self.cells[n], self.pool.constant(behind)]
        return found
