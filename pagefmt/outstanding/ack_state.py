"""What becomes of one page record for one queue: the rule of docs/spec/journal.md 7.2."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from enum import StrEnum
from typing import Final

from pagefmt.journal.message_journal import MessageJournal


class AckState(StrEnum):
    """What a broker that starts on this directory does with a record, for one of the queues that it names."""

    OUTSTANDING = "outstanding"
    DONE = "done"
    IGNORED = "ignored"  # its transaction is unknown: rolled back, never committed, or all of it was consumed
    IN_DOUBT_SEND = "in doubt (send)"  # of a prepared transaction: delivered once that is committed
    IN_DOUBT_ACK = "in doubt (acknowledge)"  # acknowledged in a prepared transaction: delivered if that is rolled back
    NO_QUEUE = "no queue"  # no binding of this address has the id: nobody will ever read it
    WITHHELD = "withheld"  # the broker stops reading the page before this record


# A record in one of these states for any queue has to stay.
LIVE: Final = frozenset({AckState.OUTSTANDING, AckState.IN_DOUBT_SEND, AckState.IN_DOUBT_ACK})

_NONE: Final[frozenset[int]] = frozenset()


class PageRule:
    """The rule for the records of one page. ``queues``: ids of the queues of its address, ``None`` if not known.

    Without bindings every queue id counts as a queue. ``live``: a broker is at work, and may yet commit a transaction
    that the journal does not know. ``end``: number of the first record that the broker does not read, because it
    cannot decode that one; None if it reads them all.
    """

    __slots__ = ("_journal", "_live", "_marks", "_page", "end", "queues")

    def __init__(
        self, journal: MessageJournal, queues: Collection[int] | None, page: int, *, live: bool = False
    ) -> None:
        self._journal = journal
        self._live = live
        self.queues = queues
        self._page = page
        self.end: int | None = None
        self._marks: dict[int, tuple[bool, frozenset[int], frozenset[int]]] = {}

    def ending_at(self, number: int) -> PageRule:
        """Return the same rule for a page that the broker stops reading at record ``number``."""
        ending = copy(self)
        ending.end = number
        return ending

    def ack_state(self, queue: int, number: int, tx: int) -> AckState:
        """Return the state of record ``number`` for a queue. ``tx``: its page transaction, negative for none."""
        if not self.bound(queue):
            return AckState.NO_QUEUE
        complete, acked, held = self.marks(queue)
        if complete or number in acked:
            return AckState.DONE
        if self.end is not None and number >= self.end:
            return AckState.WITHHELD
        if (unsent := self.unsent(tx)) is not None:
            return unsent
        return AckState.IN_DOUBT_ACK if number in held else AckState.OUTSTANDING

    def bound(self, queue: int) -> bool:
        """Return whether a queue of this address has the id."""
        return self.queues is None or queue in self.queues

    def unsent(self, tx: int) -> AckState | None:
        """Return the state that keeps a record of the transaction from delivery, or None."""
        if tx < 0:
            return None
        if tx in self._journal.page_transactions and tx not in self._journal.in_doubt_sends:
            return None
        return AckState.IN_DOUBT_SEND if self._live or tx in self._journal.in_doubt_sends else AckState.IGNORED

    def ack_states(self, number: int, tx: int, queues: Iterable[int]) -> list[tuple[int, AckState]]:
        """Return (queue id, state) for each distinct queue that the record names, in their order."""
        return [(queue, self.ack_state(queue, number, tx)) for queue in dict.fromkeys(queues)]

    def outstanding(self, number: int, tx: int, queues: Iterable[int]) -> tuple[int, ...]:
        """Return the queue ids to which the record is still to be delivered, in their order."""
        return tuple(queue for queue in queues if self.ack_state(queue, number, tx) is AckState.OUTSTANDING)

    def live(self, number: int, tx: int, queues: Iterable[int]) -> bool:
        """Return whether the record has to stay for one of the queues."""
        return any(self.ack_state(queue, number, tx) in LIVE for queue in queues)

    def acked_by(self, number: int, queues: Iterable[int]) -> tuple[int, ...]:
        """Return the queues with an ack record for the position or a page-complete record for the page, ascending."""
        return tuple(sorted({queue for queue in queues if (mark := self.marks(queue))[0] or number in mark[1]}))

    def complete(self, queue: int) -> bool:
        """Return whether the journal has a page-complete record."""
        return self.marks(queue)[0]

    def marks(self, queue: int) -> tuple[bool, frozenset[int], frozenset[int]]:
        """(page complete, acknowledged numbers, numbers acknowledged in prepared transactions) of a queue."""
        return self._marks.get(queue) or self._mark(queue)

    def marked(self, queue: int) -> bool:
        """Return whether the journal has records for the queue, of this page or another one."""
        journal = self._journal
        return any(queue in index for index in (journal.ack_index, journal.complete_index, journal.in_doubt_acks))

    def numbers(self, queue: int) -> tuple[bool, array[int], array[int]]:
        """Return what ``marks`` does, with the numbers ascending and bookmarks (-1) among them."""
        journal, page = self._journal, self._page
        complete = bool(journal.complete_index.numbers(queue, page))
        return complete, journal.ack_index.numbers(queue, page), journal.in_doubt_acks.numbers(queue, page)

    def _mark(self, queue: int) -> tuple[bool, frozenset[int], frozenset[int]]:
        complete, acked, held = self.numbers(queue)
        mark = (complete, frozenset(acked) if acked else _NONE, frozenset(held) if held else _NONE)
        self._marks[queue] = mark
        return mark


class PagesRule(PageRule):
    """The rule for the records of several pages of one store, numbered on from page to page.

    ``parts``: of each page its rule, the number of its first record, and that behind its last one.
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Sequence[tuple[PageRule, int, int]]) -> None:
        first_rule = parts[0][0]
        super().__init__(first_rule._journal, first_rule.queues, first_rule._page, live=first_rule._live)
        self._parts = parts

    def numbers(self, queue: int) -> tuple[bool, array[int], array[int]]:
        """Return the marks as for one page; every number of a complete page counts as acknowledged."""
        done, doubtful = array("i"), array("i")
        for rule, first, behind in self._parts:
            complete, acked, held = rule.numbers(queue)
            done.extend(range(first, behind) if complete else _shifted(acked, first, behind))
            doubtful.extend(_shifted(held, first, behind))
        return False, done, doubtful


def _shifted(numbers: array[int], first: int, behind: int) -> Iterable[int]:
    return (first + number for number in numbers if 0 <= number < behind - first)
