"""Bodies of large messages, put together from the pieces that a broker with journal retention writes as events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.codec.messages.bodies import COMPRESSED
from pagefmt.codec.messages.large import LargeFile, LargeMessages
from pagefmt.describe.message_json import declared_size
from pagefmt.history.copies import decoded_messages
from pagefmt.history.messages import HistoryMessages
from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.files import NotAJournal
from pagefmt.journal.record_types import RecordType
from pagefmt.storage.files import NotReadable

_AT_ONCE: Final = 64  # pieces, of at most 10 KiB each


@dataclass(frozen=True, slots=True)
class PiecedBody(LargeFile):
    """A body in pieces. ``name`` and ``path``: of the file with the first one. ``rows``: of the pieces in order.

    ``whole``: the size that the message states (bytes), None if it states none.
    """

    columns: JournalColumns | None = None
    rows: tuple[int, ...] = ()
    whole: int | None = None

    def chunks(self, limit: int | None = None) -> Iterator[bytes]:
        """Yield at most ``limit`` bytes of the body in chunks. Raise ``NotReadable`` if pieces of it are missing."""
        if self.whole is not None and self.size != self.whole:
            why = f"only {self.size} of the {self.whole} bytes of its body are in the history"
            raise NotReadable(f"message {self.id}: {why}", why)
        assert self.columns is not None
        left = self.size if limit is None else limit
        for start in range(0, len(self.rows), _AT_ONCE):
            try:
                pieces = self.columns.bodies(self.rows[start : start + _AT_ONCE])
            except NotAJournal as err:
                raise NotReadable(str(err), str(err)) from err
            chunk = b"".join(pieces)[:left]
            left -= len(chunk)
            if chunk:
                yield chunk
            if not left:
                return


@dataclass(frozen=True)
class HistoryBodies(LargeMessages):
    """Bodies in a history, and for messages that still wait those in the large-messages directory (``live``)."""

    messages: HistoryMessages
    live: LargeMessages | None

    def find(self, message_id: int) -> LargeFile | None:
        """Return the body of a message, None if neither the history nor the directory has any of it.

        Raises ``NotReadable`` if this user may not look into the directory.
        """
        ids, rows = self._pieces
        first, behind = np.searchsorted(ids, message_id, "left"), np.searchsorted(ids, message_id, "right")
        if first == behind:
            return self.live.find(message_id) if self.live is not None else None
        columns, mine = self.messages.records.columns, rows[first:behind]
        size, file = columns.size_of(mine), columns.file_of(int(mine[0]))
        whole = self._stated_size(message_id)
        if whole is not None and size != whole and self.live is not None and (live := self.live.find(message_id)):
            return live
        return PiecedBody(file.name, file.path, message_id, size, 0, columns, tuple(mine.tolist()), whole)

    @cached_property
    def _pieces(self) -> tuple[Ints, Ints]:
        """Return the ids and rows of all pieces, by id, those of one id in their order."""
        records = self.messages.records
        rows = records.rows_of(RecordType.ADD_MESSAGE_BODY)
        rows = rows[records.is_event(rows)]
        ids = records.columns.ids.at(rows)
        order = np.argsort(ids, kind="stable")
        return ids[order], rows[order]

    def _stated_size(self, message_id: int) -> int | None:
        number = int(np.searchsorted(self.messages.ids, message_id))
        for _, message in decoded_messages(self.messages, np.array([number])):
            properties = message.properties()
            if properties.keys().isdisjoint(COMPRESSED):  # else the size before compression is stated
                return declared_size(message, properties)
        return None
