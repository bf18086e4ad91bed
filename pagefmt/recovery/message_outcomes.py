"""Messages by id that are lost, delivered again, or may be, in a temporary file: there may be millions of them."""

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

NamesOfPages = Callable[[int, int, AckState], object]
"""Takes the message, the queue, and what becomes of it for that queue."""


class RecoveryOutcome(StrEnum):
    """What becomes of a message."""

    LOST = "lost"
    AGAIN = "again"
    UNSURE = "unsure"


class MessageOutcome(NamedTuple):
    """Of one message for one queue, by id; ``queue`` None: nobody knows for which. ``file``: what is damaged.

    ``sure`` False: it may be so. More may be named so than are: which of them it is, nobody knows.
    """

    outcome: RecoveryOutcome
    message: int
    queue: int | None
    file: str
    sure: bool
    why: str


class MessageOutcomes:
    """All that are known by id. ``counts``: how many there are of each kind."""

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
        """``pairs``: message and queue."""
        for message, queue in pairs:
            reason = self._reasons.setdefault((outcome, file, sure, why, queue is None), len(self._reasons))
            self._file.write(_ENTRY.pack(message, queue or 0, reason))
            self.counts[outcome] += 1

    def __iter__(self) -> Iterator[MessageOutcome]:
        """In the order in which they were added."""
        reasons = list(self._reasons)
        self._file.seek(0)
        while entries := self._file.read(_ENTRY.size * _AT_ONCE):
            for message, queue, reason in _ENTRY.iter_unpack(entries):
                outcome, file, sure, why, unknown = reasons[reason]
                yield MessageOutcome(outcome, message, None if unknown else queue, file, sure, why)
