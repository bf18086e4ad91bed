"""The messages of a history in the order in which a trace needs them, from journal files and from pages on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pageengine.history_import.sent_message import SentMessage, sent_message
from pagefmt.arrays import Ints
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import PageRecord
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.history.copies import decoded_messages
from pagefmt.history.history import History
from pagefmt.history.paged import DiskPage
from pagefmt.journal.record_types import RecordType
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage, select_messages


class _InPage(NamedTuple):
    """The place of a message in a page on the disk: the index of the page, and that of the message in it."""

    page: int
    at: int


class MessagesInOrder:
    """Messages that are asked for in a known order, each once, so that several are decoded together."""

    def __init__(self, source: PastSends, numbers: Ints) -> None:
        self._source = source
        self._held = source.decoded(numbers[source.row(numbers) >= 0])
        self._next: tuple[int, Message] | None = next(self._held, None)

    def get(self, number: int) -> SentMessage | None:
        """Return a message, None if it cannot be read."""
        if self._source.row(number) < 0:
            return self._source.in_page(number)
        if self._next is None or self._next[0] != number:
            return None
        # described before the next one is decoded: the properties of one message are remembered
        described = sent_message(self._next[1], self._source.bodies)
        self._next = next(self._held, None)
        return described


class PastSends:
    """The messages of a history. ``owner``: the message of each reference. ``bodies``: of large messages."""

    def __init__(self, history: History, place: DataLocation, bodies: LargeMessages) -> None:
        self.history, self.bodies = history, bodies
        self.owner = history.messages.owner
        self._pages: dict[str, PageFile] = {
            f"{store.name}/{page.name}": page
            for store in (stores(place) if place.paging is not None else ())
            for page in store.pages
        }
        self._opened: dict[str, tuple[str, list[Message | None]]] = {}

    def row(self, number: Ints | int) -> Ints:
        """Return the row of the record of messages, -1 for those that only a page has."""
        return self.history.messages.row[number]

    def in_order(self, numbers: Ints) -> MessagesInOrder:
        """Return a reader of these messages, in this order."""
        return MessagesInOrder(self, numbers)

    def decoded(self, numbers: Ints) -> Iterator[tuple[int, Message]]:
        """Yield those of the messages that a file has and that are understood."""
        return decoded_messages(self.history.messages, numbers)

    def one(self, number: int) -> SentMessage | None:
        """Return a message by itself, None if it cannot be read."""
        if self.row(number) < 0:
            return self.in_page(number)
        for _, message in self.decoded(np.array([number])):
            return sent_message(message, self.bodies)
        return None

    def in_page(self, number: int) -> SentMessage | None:
        """Return a message that only a page has, None if it cannot be read. One page of each store is kept decoded."""
        place = self._places.get(int(self.history.messages.ids[number]))
        if place is None:
            return None
        file = self._disk_pages[place.page].file
        store = file.partition("/")[0]
        opened = self._opened.get(store)
        if opened is None or opened[0] != file:
            opened = self._opened[store] = (file, self._records(file))
        message = opened[1][place.at] if place.at < len(opened[1]) else None
        return None if message is None else sent_message(message, self.bodies)

    def _records(self, file: str) -> list[Message | None]:
        page = self._pages.get(file)
        records: list[Message | None] = []
        for selected in select_messages(page, None, MessageFilter()) if page is not None else ():
            if isinstance(selected, SelectedMessage):
                record = selected.record
                records.append(record.message if isinstance(record, PageRecord) else None)
        return records

    @cached_property
    def _disk_pages(self) -> list[DiskPage]:
        return list(self.history.disk_pages())

    @cached_property
    def _places(self) -> dict[int, _InPage]:
        alone = self.history.messages.ids[self.history.messages.row < 0]
        return {
            int(page.ids[index]): _InPage(n, index)
            for n, page in enumerate(self._disk_pages)
            for index in np.flatnonzero(np.isin(page.ids, alone)).tolist()
        }

    def is_expired(self, number: int) -> bool:
        """Return whether the broker expired the message in one of its queues."""
        return number in self._expired

    @cached_property
    def _expired(self) -> set[int]:
        copies = self.history.copies
        return set(self.owner[copies.reference[copies.is_expired]].tolist())

    def large_core_sizes(self) -> Iterator[int]:
        """Yield the sizes of the bodies of large core messages."""
        messages, columns = self.history.messages, self.history.records.columns
        held = np.flatnonzero(messages.row >= 0)
        large = held[columns.types.at(messages.row[held]) == RecordType.ADD_LARGE_MESSAGE]
        for _, message in self.decoded(large):
            stored = sent_message(message, self.bodies)
            if stored is not None and stored.lacks is None:
                yield stored.size

    def address_of_queue(self, queue: int) -> str | None:
        """Return the address of a queue without a binding: that of its first message."""
        mine = np.flatnonzero(self.history.messages.queue == queue)
        message = self.one(int(self.owner[mine[0]])) if len(mine) else None
        return None if message is None else message.address
