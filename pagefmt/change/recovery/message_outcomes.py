"""Ids of messages that are, or may be, lost or delivered again, in a temporary file: there may be millions of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from struct import Struct
from tempfile import SpooledTemporaryFile
from typing import Final, NamedTuple

from pagefmt.outstanding.ack_state import AckState

_ENTRY: Final = Struct("<qqi")
_AT_ONCE: Final = 1 << 12
_IN_MEMORY: Final = 1 << 20

# called with message id, queue id, and the message's state for that queue
NamesOfPages = Callable[[int, int, AckState], object]


class RecoveryOutcome(StrEnum):
    """What becomes of a message."""

    LOST = "lost"
    AGAIN = "again"
    UNSURE = "unsure"


class MessageOutcome(NamedTuple):
    """The outcome of one message for one queue. ``queue``: None if unknown. ``file``: the damaged file.

    ``sure`` False: it may have this outcome. More messages may be listed than have it, because it is unknown which do.
    """

    outcome: RecoveryOutcome
    message: int
    queue: int | None
    file: str
    sure: bool
    why: str


class MessageOutcomes:
    """All outcomes of messages with a known id. ``counts``: their number by kind."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed by __exit__)
        self._reasons: dict[tuple[RecoveryOutcome, str, bool, str, bool], int] = {}
        self.counts: Counter[RecoveryOutcome] = Counter()

    def __enter__(self) -> MessageOutcomes:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(
        self,
        outcome: RecoveryOutcome,
        file: str,
        why: str,
        pairs: Iterable[tuple[int, int | None]],
        *,
        sure: bool = False,
    ) -> None:
        """Add an outcome for pairs of message id and queue id; None if the queue is unknown."""
        for message, queue in pairs:
            reason = self._reasons.setdefault((outcome, file, sure, why, queue is None), len(self._reasons))
            self._file.write(_ENTRY.pack(message, queue or 0, reason))
            self.counts[outcome] += 1

    def __iter__(self) -> Iterator[MessageOutcome]:
        """Yield the outcomes in the order in which they were added."""
        reasons = list(self._reasons)
        self._file.seek(0)
        while entries := self._file.read(_ENTRY.size * _AT_ONCE):
            for message, queue, reason in _ENTRY.iter_unpack(entries):
                outcome, file, sure, why, unknown = reasons[reason]
                yield MessageOutcome(outcome, message, None if unknown else queue, file, sure, why)
