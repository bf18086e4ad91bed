"""Parts of JSON lines that core and AMQP messages share: position, queues, acknowledgements."""

from __future__ import annotations

from binascii import hexlify
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask, flat
from pagefmt.describe.message_json import MESSAGE_KEYS, MessageOptions
from pagefmt.describe.values_json import Quote
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.message_location import JournalPlaces, MessageOrigin, QueueEntry
from pagefmt.vectors.arrays.fragments import Cell, Codes, Even, Part, Pool, Runs, listed
from pagefmt.vectors.core.batch import Batch
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import PageFrames
from pagefmt.vectors.routes.acked_columns import acked_by


@dataclass(frozen=True, slots=True)
class LineSource:
    """Everything that is constant for the lines of a page."""

    store: str
    address: str | None
    page: int
    rule: PageRule | None
    wanted: MessageOptions
    quote: Quote
    origin: MessageOrigin | None = None


# Up to so many distinct texts become constants of the pool.
_FEW = 16


def keyed(pool: Pool, values: Mapping[str, Sequence[Part | str]]) -> list[Part]:
    """Return the keys of every message with their values, in order. A text is the same for all lines."""
    parts = [part for key in MESSAGE_KEYS for part in (f',"{key}":', *values[key])]
    return [pool.constant(part) if isinstance(part, str) else part for part in parts]


def plain_values(pool: Pool, facts: Mapping[str, Ints | Mask]) -> dict[str, Sequence[Part | str]]:
    """Return numbers and flags as JSON has them."""
    return {key: [_plain(pool, values)] for key, values in facts.items()}


def _plain(pool: Pool, values: Ints | Mask) -> Cell:
    if values.dtype == bool:
        return pool.flags(values.astype(bool, copy=False))
    return pool.numbers(values.astype(np.int64, copy=False))


def frame_parts(
    pool: Pool, batch: Batch, frames: PageFrames, source: LineSource, tx: Ints, queues: pa.ListArray
) -> list[Part]:
    """Return the parts of each line from the opening brace to the queues."""
    number = batch.row + frames.number
    if source.origin is not None and (places := source.origin.places(number)) is not None:
        return [*_in_journal(pool, places, source.quote), *_routing(pool, tx, queues)]
    address = "null" if source.address is None else source.quote(source.address)
    head = f'{{"store":{source.quote(source.store)},"store_address":{address},"page":'
    page: Part = pool.constant(str(source.page))
    offset = frames.offset[batch.row] + frames.base
    if (at := frames.places) is not None:
        page = pool.numbers(at.numbers[at.owner[batch.row]])
        number, offset = at.number[batch.row], at.offset[batch.row]
    return [
        pool.constant(head),
        page,
        pool.constant(',"number":'),
        pool.numbers(number),
        pool.constant(',"offset":'),
        pool.numbers(offset),
        pool.constant(',"length":'),
        pool.numbers(batch.length),
        *_routing(pool, tx, queues),
    ]


def _routing(pool: Pool, tx: Ints, queues: pa.ListArray) -> list[Part]:
    return [
        pool.constant(',"tx":'),
        pool.numbers(tx),
        pool.constant(',"queues":['),
        _numbers_listed(pool, queues),
        pool.constant("]"),
    ]


def _in_journal(pool: Pool, places: JournalPlaces, quote: Quote) -> list[Part]:
    addresses = ["null" if address is None else quote(address) for address in places.addresses]
    return [
        pool.constant('{"store":null,"store_address":'),
        pool.texts(addresses)[places.which],
        pool.constant(',"page":null,"number":null,"offset":'),
        pool.numbers(places.offset),
        pool.constant(',"length":'),
        pool.numbers(places.length),
    ]


def state_parts(pool: Pool, source: LineSource, number: Ints, tx: Ints, queues: pa.ListArray) -> list[Part]:
    """Return the parts with acknowledgements if the journal is known, and with the message's location if asked for."""
    parts: list[Part] = []
    if source.rule is not None:
        done = acked_by(source.rule, number, queues)
        parts += [pool.constant(',"acked_by":['), _numbers_listed(pool, done), pool.constant("]")]
    if source.origin is not None:
        files, which = source.origin.files(number)
        entries = source.origin.entries(source.rule, number, tx, *flat(queues))
        texts = [entry_text(entry, source.quote) for entry in entries.distinct]
        parts += [
            pool.constant(f',"where":"{source.origin.where}","file":'),
            pool.texts(map(source.quote, files))[which],
            *_times(pool, source, number),
            pool.constant(',"queues_state":{'),
            listed(pool, entries.offsets, [pool.texts(texts)[entries.which]]),
            pool.constant("}"),
        ]
    return parts


def _times(pool: Pool, source: LineSource, number: Ints) -> list[Part]:
    """Return the part that says when messages of a history were sent."""
    times = None if source.origin is None else source.origin.times(number)
    if times is None:
        return []
    texts = [
        f',"not_before":{"null" if earliest is None else source.quote(earliest)}'
        f',"not_after":{"null" if latest is None else source.quote(latest)}'
        for earliest, latest in times.brackets
    ]
    return [pool.texts(texts)[times.which]]


def entry_text(entry: QueueEntry, quote: Quote) -> str:
    """Name and object of one queue in ``queues_state``."""
    state = "null" if entry.state is None else f'"{entry.state}"'
    scheduled = "null" if entry.scheduled is None else entry.scheduled
    why = "" if entry.why is None else f',"why":{quote(entry.why)}'
    text = f'"state":{state},"delivery_count":{entry.delivery_count},"scheduled":{scheduled}{why}'
    return f"{quote(entry.queue)}:{{{text}}}"


def _numbers_listed(pool: Pool, lists: pa.ListArray) -> Even | Runs:
    offsets = np.asarray(lists.offsets).astype(np.int64)
    values = np.asarray(lists.values)[offsets[0] : offsets[-1]]
    return listed(pool, offsets - offsets[0], [coded(pool, pa.array(values).dictionary_encode(), str)])


def digests(page: PageBytes, at: Ints, size: Ints, pool: Pool) -> Codes:
    """SHA-256 of pieces of the page, in hexadecimal."""
    raw = b"".join([sha256(piece).digest() for piece in page.views(at, size)])
    offsets = np.arange(0, 64 * len(at) + 1, 64, dtype=np.int32)
    return pool.add(
        pa.Array.from_buffers(pa.binary(), len(at), [None, pa.py_buffer(offsets), pa.py_buffer(hexlify(raw))])
    )


def coded(pool: Pool, values: pa.DictionaryArray, text: Callable[[Any], str]) -> Cell:
    """Return the texts of dictionary values, each distinct one rendered once; ``null`` for nulls."""
    texts = [*map(text, values.dictionary.to_pylist()), "null"]
    codes_of_values = np.array([*map(pool.constant, texts)], np.int32) if len(texts) <= _FEW else pool.texts(texts)
    indices = np.asarray(values.indices.fill_null(len(codes_of_values) - 1) if values.null_count else values.indices)
    codes: Codes = codes_of_values[indices]
    return codes
