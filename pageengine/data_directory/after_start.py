"""State of an address in a broker that has just started: page files that remain, memory that its messages take.

Source: docs/spec/paging-engine.md 1.3, 1.4, 3.5 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from pageengine.broker.copies import LARGE_HEADER, SMALLEST_BUFFER
from pageengine.model.sizes import header_bytes
from pageengine.paging.next_send import AddressMemory, PagesAtStart
from pagefmt.codec.messages.amqp_message import AmqpMessage
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.outstanding.message_location import REPLACED

if TYPE_CHECKING:
    from pageengine.settings.profiles import Profile
    from pagefmt.codec.messages.core_message import HeaderBlock
    from pagefmt.codec.messages.persisted import Message
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.outstanding.journal_parts import JournalParts

USER_ID: Final = 16
PROPERTIES_COUNT: Final = 5  # bytes in front of the first property
LARGE_AMQP: Final = 704


def pages_after_start(files: int, waiting: int, newest: bool, size: int, most: int) -> PagesAtStart:
    """Return what is left once the broker has removed the pages that every queue is done with.

    ``waiting`` of the ``files`` hold a message that waits for a queue, or nobody knows; ``newest``: the last one does.
    ``size``: bytes of all of them. ``most``: messages in pages of the queue that has most there.

    An empty page stays as it is; pages with messages that nobody waits for end page mode, and all of them go.
    """
    if not waiting:
        return PagesAtStart(0 if size else files)
    return PagesAtStart(waiting + (not newest), True, most)


def pages_of_store(files: int, waiting: Sequence[bool], size: int, most: int) -> PagesAtStart:
    """Return what ``pages_after_start`` does; ``waiting`` is for each file if messages wait in it, the newest last."""
    return pages_after_start(files, sum(waiting), bool(waiting) and waiting[-1], size, most)


def memory_after_start(
    parts: JournalParts, queues: Mapping[int, QueueBinding], profile: Profile
) -> dict[str, AddressMemory]:
    """Return what an address holds in memory once all messages are read; the journal's bodies are read for it.

    Messages of prepared transactions count: a broker books them at the start. Messages that cannot be decoded do not.
    """
    references = parts.messages.references
    stays = ~references.acked & (references.scheduled != REPLACED)
    numbers, counts = np.unique(references.message[stays], return_counts=True)
    scheduled = np.isin(numbers, references.message[stays & (references.scheduled != 0)])
    references_of: dict[int, tuple[int, bool]] = dict(
        zip(numbers.tolist(), zip(counts.tolist(), scheduled.tolist(), strict=True), strict=True)
    )
    size: Counter[str] = Counter()
    messages: Counter[str] = Counter()
    for number, message in parts.decoded(numbers):
        if message.address is None:
            continue
        times, late = references_of[number]
        size[message.address] += estimate(message, profile, decoded=late or profile.reloads_decoded)
        messages[message.address] += 1
        if not profile.references_booked_on_queue:
            size[message.address] += times * profile.reference_bytes
    if profile.references_booked_on_queue:
        ids, queue_counts = np.unique(references.queue[stays], return_counts=True)
        for queue, times in zip(ids.tolist(), queue_counts.tolist(), strict=True):
            if queue in queues:
                size[queues[queue].address] += times * profile.reference_bytes
    return {address: AddressMemory(bytes, messages[address]) for address, bytes in size.items()}


def estimate(message: Message, profile: Profile, *, decoded: bool) -> int:
    """Return a broker's estimate (bytes) of a message read from the journal. ``decoded``: with its properties."""
    if isinstance(message, CoreLargeMessage):
        return profile.large_offset + LARGE_HEADER + 2 * _header_size(message.header)
    if isinstance(message, OldCoreMessage):
        encoded = 8 + len(message.body) + _header_size(message.header)
        buffer = max(SMALLEST_BUFFER, 1 << (encoded - 1).bit_length())
        return profile.message_offset + buffer + _decoded_properties(message.header)
    if isinstance(message, CoreMessage):
        encoded = 4 + len(message.body) + _header_size(message.header)
        return profile.message_offset + encoded + (_decoded_properties(message.header) if decoded else 0)
    if isinstance(message, AmqpMessage):
        return profile.message_offset + len(message.encoded)
    return LARGE_AMQP + message.extra.size


def _header_size(header: HeaderBlock) -> int:
    """Return the bytes of a header block, including its properties."""
    properties = len(header.properties_bytes)
    fixed = header_bytes(header.address or "", properties - PROPERTIES_COUNT, 1)
    return fixed - (4 if header.address is None else 0) + (USER_ID if header.user_bytes is not None else 0)


def _decoded_properties(header: HeaderBlock) -> int:
    """Return the bytes that decoded properties take in addition to their encoding; 0 without properties."""
    size = len(header.properties_bytes) - PROPERTIES_COUNT
    return size + 8 * len(header.properties_block().entries) if size > 0 else 0
