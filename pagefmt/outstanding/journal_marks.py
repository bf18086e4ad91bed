"""What a journal says about pages, as one number a page: a page whose number is another one has to be read again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.positions import scattered

if TYPE_CHECKING:
    from pagefmt.journal.positions import Fingerprints


class JournalMarks:
    """Of one journal, which has a ``number`` of its own."""

    def __init__(self, journal: MessageJournal, number: int) -> None:
        self.number = number
        self._indexes = journal.ack_index, journal.complete_index, journal.in_doubt_acks
        transactions = np.array(sorted(journal.page_transactions.keys() | journal.in_doubt_sends), np.int64)
        words = scattered(transactions)
        words[np.isin(transactions, list(journal.in_doubt_sends))] *= np.uint64(3)
        self._transactions = transactions
        self._upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words, dtype=np.uint64)])

    def marks(self, pages: Ints, queues: Iterable[int]) -> Fingerprints:
        """Return a fingerprint of these queues' acknowledgements for each page."""
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
        """Return a fingerprint of the page transactions from ``low`` to ``high`` for each page."""
        # ``_upto`` has prefix sums of the fingerprints, so a range costs two look-ups.
        first = np.searchsorted(self._transactions, low)
        behind = np.searchsorted(self._transactions, high, side="right")
        prints: Fingerprints = (self._upto[behind] - self._upto[first]) * (low <= high) + np.uint64(live) * (
            low <= high
        )
        return prints


def where_equal(values: Ints, among: Ints) -> tuple[Ints, Ints]:
    """Return the indices of the values that occur in ``among``, which ascends, and where they occur."""
    if not len(among):
        none = np.zeros(0, np.int64)
        return none, none
    at = np.searchsorted(among, values).clip(max=len(among) - 1)
    matching = np.flatnonzero(among[at] == values)
    return matching, at[matching]
