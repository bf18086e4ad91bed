"""Pages as bytes, many records at once.

Of records that differ only in id, number and body, one is encoded with care; the others are copies of it with their own
values filled in. Source: docs/spec/page-files.md 3, docs/spec/messages.md 2.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pageengine.data_directory.encoding import encoded_record
from pageengine.model.page import PagedMessage
from pageengine.model.sizes import RECORD_FRAME
from pageengine.trace.operations import MessageProperty, MessageType
from pagefmt.codec.messages.values import ValueKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pageengine.clients.run import Run
    from pageengine.model.page import WrittenPage

    Bytes = NDArray[np.uint8]
    Numbers = NDArray[np.int64]
    Places = NDArray[np.intp]

# Fewer similar records than this are encoded singly.
FEWEST = 8
# Flips bits in every byte of a number, so that the offsets of its bytes show in the encoding.
OTHER = 0x5A5A5A5A5A5A5A5A


@dataclass(frozen=True, slots=True)
class SimilarRecords:
    """Records that differ only in id, number and size of the body; ``ends`` is where each one ends in the page."""

    ids: Numbers
    seqs: Numbers
    sizes: Numbers
    ends: Numbers
    records: list[PagedMessage]


def encoded_page(run: Run, page: WrittenPage) -> Bytes:
    """Return the content of the page's file."""
    import numpy as np

    out = np.empty(page.bytes, np.uint8)
    end = 0
    loose: dict[Hashable, list[tuple[PagedMessage, int]]] = {}
    for paged in page.records:
        end += paged.size + RECORD_FRAME
        loose.setdefault(_likeness(run, paged), []).append((paged, end))
    for likeness, records in loose.items():
        if likeness is None or len(records) < FEWEST:
            _put(run, out, records)
        else:
            _put_similar(run, out, _similar_records([record for record, _ in records], [end for _, end in records]))
    return out


def _likeness(run: Run, record: PagedMessage) -> Hashable:
    """Return a key that is equal for records which differ only in id, number and body size; None: encode singly."""
    message, send = record.message, record.message.source
    if message.large or message.amqp is not None or message.address != send.address:
        return None
    if message.props[1 if run.header.seq_property else 0 :] != send.props:
        return None
    return (
        message.address,
        message.type,
        message.durable,
        message.priority,
        message.expiration,
        send.props,
        send.text,
        send.body,
        record.queues,
        record.tx,
    )


def _similar_records(records: list[PagedMessage], ends: list[int]) -> SimilarRecords:
    import numpy as np

    sends = [(record.message.id, record.message.source.seq, record.message.source.size) for record in records]
    ids, seqs, sizes = np.array(sends, np.int64).T
    return SimilarRecords(ids, seqs, sizes, np.array(ends, np.int64), records)


def _put(run: Run, out: Bytes, records: list[tuple[PagedMessage, int]]) -> None:
    import numpy as np

    for record, end in records:
        content = np.frombuffer(encoded_record(run, record), np.uint8)
        assert len(content) == record.size + RECORD_FRAME
        out[end - len(content) : end] = content


def _put_similar(run: Run, out: Bytes, records: SimilarRecords) -> None:
    import numpy as np

    layout = _layout(run, records)
    if layout is None:
        _put(run, out, [*zip(records.records, records.ends.tolist(), strict=True)])
        return
    for size in np.unique(records.sizes).tolist():
        at = np.flatnonzero(records.sizes == size)
        rows = _rows(run, records, layout, at, size)
        width = rows.shape[1]
        # a view with one item of the record's width at every byte offset (stride 1), so that one assignment
        # scatters all rows to their places; records do not overlap
        every: Any = np.ndarray((len(out) - width + 1,), f"V{width}", out, strides=(1,))
        every[records.ends[at] - width] = rows.view(f"V{width}").ravel()


@dataclass(frozen=True, slots=True)
class RecordTemplate:
    """Offsets in a record with a body of ``size`` bytes; ``body`` is -1 if all bodies are equal."""

    size: int
    ids: Places
    numbers: Places
    body: int

    def moved(self, places: Places, size: int) -> Places:
        """Return the offsets in a record that has a body of another size."""
        if self.body < 0:
            return places
        return places + (places > self.body) * (size - self.size)


def _layout(run: Run, records: SimilarRecords) -> RecordTemplate | None:
    """Return which bytes change with id, number and body, found by encoding variants; None if it is too complicated."""
    record = records.records[int(records.sizes.argmax())]
    message, send = record.message, record.message.source
    name = run.header.seq_property
    plain = encoded_record(run, record)

    def changed(attribute: str, value: object) -> Places:
        kept = getattr(message, attribute)
        setattr(message, attribute, value)
        offsets = _different(plain, encoded_record(run, record))
        setattr(message, attribute, kept)
        return offsets

    ids = changed("id", message.id ^ OTHER)
    number = (MessageProperty(name, ValueKind.LONG, send.seq ^ OTHER), *message.props[1:])
    numbers = changed("props", number if name else message.props)
    bodies = changed("source", replace(send, seq=send.seq + 1))
    generated = send.text is None and send.body is None and send.type is not MessageType.TEXT
    if len(ids) % 8 or len(numbers) != (8 if name else 0) or len(bodies) != (send.size if generated else 0):
        return None
    if not generated and len(set(records.sizes.tolist())) > 1:
        return None
    return RecordTemplate(send.size, ids, numbers, int(bodies[0]) if len(bodies) else -1)


def _different(left: bytes, right: bytes) -> Places:
    import numpy as np

    return np.flatnonzero(np.frombuffer(left, np.uint8) != np.frombuffer(right, np.uint8))


def _rows(run: Run, records: SimilarRecords, layout: RecordTemplate, at: Places, size: int) -> Bytes:
    """Return the encoded records at these indexes, one row each; all have a body of this size."""
    import numpy as np

    first = np.frombuffer(encoded_record(run, records.records[int(at[0])]), np.uint8)
    rows = np.tile(first, (len(at), 1))
    for places in layout.moved(layout.ids, size).reshape(-1, 8):
        rows[:, places] = _big_endian(records.ids[at])
    if len(layout.numbers):
        rows[:, layout.moved(layout.numbers, size)] = _big_endian(records.seqs[at])
    if layout.body >= 0:
        bodies = np.add.outer(np.arange(256), np.arange(size)).astype(np.uint8)
        rows[:, layout.body : layout.body + size] = bodies[records.seqs[at] & 0xFF]
    # the first was encoded with care: filling in its own values must leave it as it is
    assert np.array_equal(rows[0], first)
    return rows


def _big_endian(numbers: Numbers) -> Bytes:
    import numpy as np

    return numbers.astype(">i8").view(np.uint8).reshape(len(numbers), 8)
