"""What a journal says about pages, as one number a page: a page whose number is another one has to be read again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.positions import scattered
from pagefmt.pages.gather import Ints

if TYPE_CHECKING:
    from pagefmt.journal.positions import Fingerprints


class JournalMarks:
    """Of one journal, which has a ``number`` of its own."""

    def __init__(self, journal: MessageJournal, number: int) -> None:
        self.number = number
        self._indexes = journal.ack_index, journal.complete_index, journal.in_doubt_acks
        known = np.array(sorted(journal.page_transactions.keys() | journal.in_doubt_sends), np.int64)
        words = scattered(known)
        words[np.isin(known, list(journal.in_doubt_sends))] *= np.uint64(3)
        self._transactions = known
        self._upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words, dtype=np.uint64)])

    def marks(self, pages: Ints, queues: Iterable[int]) -> Fingerprints:
        """Of acknowledgements of these queues."""
        marks = np.zeros(len(pages), np.uint64)
        for queue in queues:
            for kind, index in enumerate(self._indexes):
                if queue in index:
                    numbers, prints = index.fingerprints(queue)
                    which, at = where_equal(numbers, pages)
                    of_queue = scattered(np.array([queue], np.int64)) | np.uint64(1)
                    marks[at] += prints[which] * of_queue * np.uint64(2 * kind + 1)
        return marks

    def sent(self, low: Ints, high: Ints, live: bool) -> Fingerprints:
        """Of the page transactions from ``low`` to ``high``."""
        first = np.searchsorted(self._transactions, low)
        behind = np.searchsorted(self._transactions, high, side="right")
        found: Fingerprints = (self._upto[behind] - self._upto[first]) * (low <= high) + np.uint64(live) * (low <= high)
        return found


def where_equal(values: Ints, among: Ints) -> tuple[Ints, Ints]:
    """Which of the values are among those, which ascend, and where."""
    if not len(among):
        none = np.zeros(0, np.int64)
        return none, none
    at = np.searchsorted(among, values).clip(max=len(among) - 1)
    here = np.flatnonzero(among[at] == values)
    return here, at[here]
