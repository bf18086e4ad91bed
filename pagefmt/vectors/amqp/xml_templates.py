"""Standard AMQP messages of one structure as XML; ``pagefmt.exchange`` is the reference.

The reference writes one of the messages with marks in the place of values that differ from message to message. What
stands between the marks is the same in all, and each mark is replaced by a column. Messages with anything else that
differs (annotations, kinds of values, content types) are left to the reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Bytes, Ints, ranked
from pagefmt.codec.messages.amqp_message import AmqpMessage
from pagefmt.codec.messages.amqp_sections import DATA, PROPERTY_FIELDS, VALUE
from pagefmt.codec.messages.amqp_values import NO_BYTES
from pagefmt.codec.messages.core_fields import BYTES, TEXT
from pagefmt.codec.messages.properties import double_of
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.codec.pages.record import FRAME, decode_record
from pagefmt.codec.wire import Undecodable
from pagefmt.exchange.core_form import amqp_bodies, core_form, form_of_sections, jms_id, name_digest, type_of_bodies
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
from pagefmt.vectors.amqp import values, walk
from pagefmt.vectors.amqp.maps import known_keys
from pagefmt.vectors.amqp.parts import AmqpParts, amqp_parts
from pagefmt.vectors.amqp.structure import Structure, ValueColumn, structure
from pagefmt.vectors.amqp.walk import ABSENT
from pagefmt.vectors.arrays.fragments import Cell, Part, Pool, base64, url_safe
from pagefmt.vectors.arrays.strings import distinct, offsets_and_bytes, slices, text_of_utf8, utf16_of_ascii
from pagefmt.vectors.core.batch import Batch, queue_lists
from pagefmt.vectors.core.parts import uuid_characters
from pagefmt.vectors.pages.gather import PageBytes

# What stands in front of a core message's text: that there is one, and its bytes.
_STRING_HEAD: Final = np.dtype([("mark", "u1"), ("size", ">i4")])
_LONGEST: Final = (1 << 31) - 1
_FEWEST: Final = 16  # messages that are worth a batch
_MARK: Final = "\ue000"  # a character of private use opens and closes a mark
_TEXT_FIELDS: Final = frozenset(
    ("message_id", "subject", "reply_to", "correlation_id", "group_id", "reply_to_group_id")
)
_TIMES: Final = ("creation_time", "absolute_expiry_time")
# Kinds of whole numbers with their constructors.
_WHOLE: Final = {
    kind: codes
    for kind, *codes in (
        (ValueKind.BOOLEAN, 0x41, 0x42, 0x56),
        (ValueKind.BYTE, 0x51),
        (ValueKind.SHORT, 0x61),
        (ValueKind.INT, 0x54, 0x71),
        (ValueKind.LONG, 0x55, 0x81),
        (ValueKind.UBYTE, 0x50),
        (ValueKind.USHORT, 0x60),
        (ValueKind.UINT, 0x43, 0x52, 0x70),
        (ValueKind.ULONG, 0x44, 0x53, 0x80),
    )
}
_BODIES: Final = {DATA: walk.DATA, VALUE: walk.AMQP_VALUE}
_MARKS: Final = re.compile(f"{_MARK}([0-9]+){_MARK}")
# Below these numbers a core property of the same width holds an unsigned value.
_NARROW: Final = {ValueKind.UBYTE: 1 << 7, ValueKind.USHORT: 1 << 15, ValueKind.UINT: 1 << 31}


class _UnlikeStructure(Exception):
    """The messages differ in something that no mark stands for."""


def rows_by_structure(page: PageBytes, payload: Ints, length: Ints) -> Iterator[Ints]:
    """Yield the places of messages with the same sections, annotations, extra properties and names, kinds of values.

    Messages of a structure that few messages of the page have are left out.
    """
    parts = amqp_parts(page, payload, length)
    parts.regular &= parts.has_address
    places = walk.sections(page, parts, np.flatnonzero(parts.regular))
    keys = [_shapes(page, parts, places), *_constant_parts(page, parts, places)]
    order = np.lexsort(keys)
    turns = [key[order][1:] != key[order][:-1] for key in keys]
    for rows in np.split(order, np.flatnonzero(np.logical_or.reduce(turns)) + 1):
        if len(rows) >= _FEWEST and parts.regular[rows[0]]:
            yield rows


def _constant_parts(page: PageBytes, parts: AmqpParts, places: walk.SectionPositions) -> Iterator[Ints]:
    """Yield which of the different ones each message has: the sections in front of the properties, extra properties."""
    first = parts.encoded_at + parts.encoded_size
    for kind in (walk.PROPS, walk.APPLICATION, walk.DATA, walk.SEQUENCE, walk.AMQP_VALUE):
        first = np.where(places.at[kind] == ABSENT, first, np.minimum(first, places.at[kind]))
    for at, end in ((parts.encoded_at, first), (parts.extra_at, parts.extra_end)):
        yield np.asarray(distinct(page, at * parts.regular, (end - at) * parts.regular).indices)


def _shapes(page: PageBytes, parts: AmqpParts, places: walk.SectionPositions) -> npt.NDArray[np.uint64]:
    """Return a hash of the sections, fields, names and kinds of values of each message; 0 where it is not regular.

    Equal hashes of different messages do no harm: ``amqp_texts`` compares each message with the first one.
    """
    fields = walk.list_fields(page, places.at[walk.PROPS], walk.FIELDS[walk.PROPS], parts.regular)
    pairs = walk.map_pairs(page, places.at[walk.APPLICATION], parts.regular)
    names = np.asarray(values.raw_keys(page, pairs, parts.regular).indices)
    bodies = {walk.DATA, walk.SEQUENCE, walk.AMQP_VALUE}
    hashes = np.zeros(len(parts.regular), np.uint64)
    for kind, at in enumerate(places.at):
        code = _constructors(page, at)
        hashes = _mixed(hashes, values.TYPE_OF[code] if kind in bodies else code)
    for at in fields:
        hashes = _mixed(hashes, values.TYPE_OF[_constructors(page, at)])
    hashes = _mixed(_mixed(hashes, places.body_kinds), np.diff(pairs.offsets))
    place = np.arange(len(names)) - np.repeat(pairs.offsets[:-1], np.diff(pairs.offsets))
    entries = np.zeros(len(names), np.uint64)
    for numbers in (place, names, values.TYPE_OF[page.byte(pairs.value_at)]):
        entries = _mixed(entries, numbers)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)))
    hashes = _mixed(hashes, sums[pairs.offsets[1:]] - sums[pairs.offsets[:-1]])
    return np.where(parts.regular, hashes | np.uint64(1), np.uint64(0))


def _constructors(page: PageBytes, at: Ints) -> Bytes:
    """Return the constructor at each place, 0 where there is none."""
    return np.where(at == ABSENT, 0, page.byte(np.maximum(at, 0)))


def _mixed(hashes: npt.NDArray[np.uint64], more: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return hashes with a further number in each."""
    mixed = (hashes ^ np.asarray(more).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def amqp_texts(batch: Batch, elements: list[str], which: Ints) -> pa.BinaryArray | None:
    """Return the elements of messages of ``rows_by_structure``, or None if some are not regular.

    ``which`` is the index into ``elements`` of the queues' elements for each record of the chunk.
    """
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
    except (_UnlikeStructure, Undecodable, UnicodeDecodeError):
        batch.regular[:] = False
        return None
    return pool.joined(len(batch.row), lines) if batch.regular.all() else None


class _MarkedMessage:
    """The first message of a batch, with marks for which there are cells."""

    def __init__(self, batch: Batch, parts: AmqpParts, built: Structure, pool: Pool) -> None:
        self.page, self.regular, self.built, self.pool = batch.page, batch.regular, built, pool
        self.cells: list[Sequence[Part]] = []
        self.kinds: dict[int, ValueKind] = {}
        self.user_ids: str | None = None
        at, length = int(batch.payload[0]) - 5, int(batch.length[0])
        sample = decode_record(bytes(memoryview(self.page.buffer)[at : at + length + FRAME]), 0, length).message
        if built.only is None or not isinstance(sample, AmqpMessage) or sample.sections().late:
            raise _UnlikeStructure
        self.sections = sample.sections()
        if len(self.sections.body) != 1 or self.sections.footer is not None:
            raise _UnlikeStructure
        self.real = core_form(sample)
        marked = replace(self.sections, property_fields=self.fields(), application_properties=self.application())
        self.form = form_of_sections(sample, marked)
        self.attributes(parts)

    def mark(self, *parts: Part) -> str:
        """Return a text that stands for the parts."""
        self.cells.append(parts)
        return f"{_MARK}{len(self.cells) - 1}{_MARK}"

    def fields(self) -> dict[str, TypedValue] | None:
        """Return the properties section with marks."""
        original = self.sections.property_fields
        marked = dict(original or {})
        for n, name in enumerate(PROPERTY_FIELDS) if original is not None else ():
            column = self.built.field(walk.PROPS, n)
            if (column.code != ABSENT) != (name in marked) or bool((column.at == ABSENT).any()) != (name not in marked):
                raise _UnlikeStructure
            if name in marked and name not in (*_TIMES, "to") and column.same is None:
                marked[name] = self.field(name, column, marked[name])
        return marked if original is not None else None

    def field(self, name: str, column: ValueColumn, value: TypedValue) -> TypedValue:
        """Return a mark for a field of text."""
        if name not in _TEXT_FIELDS or value.kind is not ValueKind.STRING:
            raise _UnlikeStructure
        raw = self.raw(column)
        if name == "message_id":  # as a core message has it, from which its user id is made
            raw = self.jms_ids(raw)
            uuids = np.frombuffer(b"".join(map(name_digest, raw.to_pylist())), np.uint8).reshape(-1, 20)[:, :16].copy()
            uuids[:, 6], uuids[:, 8] = uuids[:, 6] & 0x0F | 0x50, uuids[:, 8] & 0x3F | 0x80
            texts = pa.Array.from_buffers(pa.binary(36), len(raw), [None, pa.py_buffer(uuid_characters(uuids))])
            self.user_ids = self.mark(self.pool.add(texts.cast(pa.binary())))
            return value._replace(value="ID:" + self.mark(self.texts(pc.binary_slice(raw, 3, _LONGEST))))
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
        texts, bad = text_of_utf8(raw)
        self.regular[bad] = False
        texts = pc.fill_null(texts, "")
        self.regular &= ~np.asarray(pc.equal(texts, NULL_TEXT))
        unusual = np.flatnonzero(np.asarray(pc.match_substring_regex(texts, NOT_PLAIN.pattern)))
        if not len(unusual):
            return self.pool.add(texts)
        mask = np.zeros(len(texts), bool)
        mask[unusual] = True
        escaped = texts.take(pa.array(unusual)).to_pylist()
        self.regular[unusual[[UNFIT.search(text) is not None for text in escaped]]] = False
        return self.pool.add(pc.replace_with_mask(texts, pa.array(mask), pa.array(map(xml_text, escaped), pa.string())))

    def jms_ids(self, raw: pa.BinaryArray) -> pa.BinaryArray:
        """Return message ids as core clients see them; what is no UTF-8 clears ``regular``."""
        as_they_are = pc.and_not(pc.starts_with(raw, b"ID:"), pc.starts_with(raw, b"ID:AMQP_"))
        if pc.all(as_they_are).as_py():
            return raw
        texts, bad = text_of_utf8(raw)
        self.regular[bad] = False
        ids = (jms_id(TypedValue(ValueKind.STRING, text or "")).encode() for text in texts.to_pylist())
        return pa.array(ids, pa.binary())

    def application(self) -> TypedValue | None:
        """Return the application properties with marks."""
        section, entries = self.sections.application_properties, self.built.entries(walk.APPLICATION)
        if section is None or not entries:
            return section
        if known_keys(entries[0::2]) is None or section.kind is not ValueKind.MAP:
            raise _UnlikeStructure
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
            texts = self.pool.texts(value_text(double_of(pattern & ((1 << 64) - 1))) for pattern in bits.tolist())
            return self.typed(value, texts[which])
        if value.kind is ValueKind.BYTES:
            code, start, size = walk.widths(self.page, column.at)
            self.regular &= values.IS_BINARY[code]
            return self.typed(value, self.pool.base64(self.page, start, size, url_safe))
        if value.kind not in _WHOLE:
            raise _UnlikeStructure
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
        stored = parts.expiration
        form.user_id = form.user_id if self.user_ids is None else self.user_ids
        form.id = self.number(parts.id)
        form.expiration = self.number(times.get("absolute_expiry_time", stored))
        if "creation_time" in times:
            form.timestamp = self.number(times["creation_time"])

    def number(self, numbers: Ints) -> Any:
        """Return a mark in the place of a number."""
        return self.mark(self.pool.numbers(numbers))

    def body(self) -> list[pa.BinaryArray]:
        """Return the bodies in Base64; one of another type than the first clears ``regular``."""
        (section,) = self.sections.body
        kind = section.value.kind
        if kind not in (ValueKind.STRING, ValueKind.BYTES) or section.descriptor not in _BODIES:
            raise _UnlikeStructure
        column = self.built.section(_BODIES[section.descriptor])
        code, start, size = walk.widths(self.page, column.at)
        self.regular &= (values.IS_STRING if kind is ValueKind.STRING else values.IS_BINARY)[code]
        if not self.regular.all():
            raise Undecodable(0, "a body is of another kind")
        core_type = type_of_bodies(section, self.sections)
        if core_type == BYTES:
            return base64(self.page, start, size, url_safe)
        raw = slices(self.page, start, size)
        texts = utf16_of_ascii(raw) if core_type == TEXT else None
        if texts is not None:
            heads = np.empty(len(size), _STRING_HEAD)
            heads["mark"], heads["size"] = 1, 2 * size
            marked = pa.Array.from_buffers(pa.binary(_STRING_HEAD.itemsize), len(size), [None, pa.py_buffer(heads)])
            return _base64_of(pc.binary_join_element_wise(marked.cast(pa.binary()), texts, b""))
        contents: list[Any] = raw.to_pylist()
        if kind is ValueKind.STRING:
            contents = [content.decode("utf-8", "surrogatepass") for content in contents]
        types, bodies = zip(*amqp_bodies(section, self.sections, contents), strict=True)
        self.regular &= np.array(types) == self.real.type
        return _base64_of(pa.array(bodies, pa.binary()))

    def parts(self, queues: Cell) -> list[Part]:
        """Return the parts of the elements, each of all messages."""
        self.form.body = b""
        text, lost = message_text(XmlMessage(self.form, ()))
        correlation = self.real.properties.get("JMSCorrelationID")
        bytes_ = correlation is not None and correlation.kind is ValueKind.BYTES
        if lost or self.real.lost or bytes_ or text.count(_MARK) != len(_MARKS.findall(text)) * 2:
            raise _UnlikeStructure
        text = text.replace("<queues>\n", f"<queues>\n{self.mark(queues)}")
        text = text.replace("<![CDATA[]]>", f"<![CDATA[{self.mark(*self.body())}]]>")
        first, *tail = _MARKS.split(text)
        parts: list[Part] = [self.pool.constant(first)]
        for n, behind in zip(map(int, tail[::2]), tail[1::2], strict=True):
            if n in self.kinds:
                behind = property_frame("", self.kinds[n])[1] + behind.partition("\n")[2]
            parts += [*self.cells[n], self.pool.constant(behind)]
        return parts


def _base64_of(values: pa.BinaryArray) -> list[pa.BinaryArray]:
    offsets, content = offsets_and_bytes(values)
    at = offsets.astype(np.int64)
    return base64(PageBytes(content.tobytes()), at[:-1], np.diff(at), url_safe)
