"""What recovery of a broker's directories would do, in messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from pagefmt.editions import Edition
from pagefmt.recovery.queues import NameSource


class DamagedPart(StrEnum):
    """What of a broker's directories a step is about."""

    PAGES = "pages"
    JOURNAL = "journal"
    BINDINGS = "bindings"
    LARGE = "large-messages"


class MessageRange(NamedTuple):
    """So many messages at least, and at most; ``most`` None: nobody knows."""

    fewest: int = 0
    most: int | None = 0

    def __add__(self, other: object) -> MessageRange:
        assert isinstance(other, MessageRange)
        most = None if self.most is None or other.most is None else self.most + other.most
        return MessageRange(self.fewest + other.fewest, most)


NONE = MessageRange()


@dataclass(frozen=True, slots=True)
class RecoveryStep:
    """One damage, and what becomes of it. ``lost``, ``again`` (delivered, though they were acknowledged), ``unsure``
    (delivered or withheld, and nobody knows whether that is right). ``command``: that does this alone, if one does.

    ``mends``: something is written otherwise than it was. ``nameless``: why the ids of some are not known.
    """

    part: DamagedPart
    file: str
    what: str
    action: str
    lost: MessageRange = NONE
    again: MessageRange = NONE
    unsure: MessageRange = NONE
    mends: bool = True
    command: str | None = None
    nameless: str | None = None


@dataclass(frozen=True, slots=True)
class QueuePlan:
    """What a broker started on the result has for a queue: messages of journal and pages, ``in_doubt`` apart.

    ``name_from``: ``BINDINGS`` where nothing was made up. ``routing_known`` False: it is a guess.
    """

    address: str
    name: str
    id: int
    routing: str | None
    journal: int
    pages: int
    in_doubt: int
    name_from: NameSource
    routing_known: bool = True

    @property
    def messages(self) -> int:
        """Of journal and pages."""
        return self.journal + self.pages


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """``steps`` in the order of the parts; empty: nothing is damaged. ``passed_over``: queue ids that messages name and
    that get no queue, with the reason. ``aside``: large-message files that no record names. ``unreadable``: those that
    the system does not give, and that a new directory does not have."""

    edition: Edition
    roots: dict[str, Path]
    steps: tuple[RecoveryStep, ...]
    queues: tuple[QueuePlan, ...]
    passed_over: dict[int, str]
    aside: tuple[str, ...]
    unreadable: tuple[str, ...] = ()

    @property
    def mends(self) -> bool:
        """There is something to do."""
        return any(step.mends for step in self.steps)

    @property
    def lost(self) -> MessageRange:
        """Messages."""
        return sum((step.lost for step in self.steps), NONE)

    @property
    def again(self) -> MessageRange:
        """Messages that are delivered although they were acknowledged."""
        return sum((step.again for step in self.steps), NONE)

    @property
    def unsure(self) -> MessageRange:
        """Messages of which nobody knows whether they should be delivered."""
        return sum((step.unsure for step in self.steps), NONE)
