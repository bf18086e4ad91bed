"""What recovery of a broker's directories would do, in messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from pagefmt.change.recovery.queues import NameSource
from pagefmt.editions import Edition


class DamagedPart(StrEnum):
    """What of a broker's directories a step is about."""

    PAGES = "pages"
    JOURNAL = "journal"
    BINDINGS = "bindings"
    LARGE = "large-messages"


class MessageRange(NamedTuple):
    """A lowest and a highest possible number of messages; ``most`` is None if there is no upper bound."""

    fewest: int = 0
    most: int | None = 0

    def __add__(self, other: object) -> MessageRange:
        assert isinstance(other, MessageRange)
        most = None if self.most is None or other.most is None else self.most + other.most
        return MessageRange(self.fewest + other.fewest, most)


NONE = MessageRange()


@dataclass(frozen=True, slots=True)
class RecoveryStep:
    """One damage and what the recovery does about it.

    ``lost``: messages lost. ``again``: delivered although they were acknowledged. ``unsure``: delivered or withheld,
    possibly wrongly. ``command``: the command that does this step alone, if there is one. ``mends``: the step changes
    what is written. ``nameless``: why the ids of some messages are not known.
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
    """What a broker started on the result has for a queue: messages of journal and pages; ``in_doubt`` is separate.

    ``name_from``: the source of its name. ``routing_known`` False: the routing type is a guess.
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
        """Return the number of its messages in journal and pages."""
        return self.journal + self.pages


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """What a recovery writes, loses and leaves uncertain.

    ``steps`` are in the order of the parts; empty if nothing is damaged. ``passed_over``: queue ids that messages name
    and that get no queue, with the reason. ``aside``: large-message files that no record names. ``unreadable``:
    large-message files that the system cannot read; a new directory does not have them.
    """

    edition: Edition
    roots: dict[str, Path]
    steps: tuple[RecoveryStep, ...]
    queues: tuple[QueuePlan, ...]
    passed_over: dict[int, str]
    aside: tuple[str, ...]
    unreadable: tuple[str, ...] = ()

    @property
    def mends(self) -> bool:
        """Return whether there is anything to repair."""
        return any(step.mends for step in self.steps)

    @property
    def lost(self) -> MessageRange:
        """Return the range of the number of lost messages."""
        return sum((step.lost for step in self.steps), NONE)

    @property
    def again(self) -> MessageRange:
        """Return the range of the number of messages that are delivered although they were acknowledged."""
        return sum((step.again for step in self.steps), NONE)

    @property
    def unsure(self) -> MessageRange:
        """Return the range of the number of messages that may or may not have to be delivered."""
        return sum((step.unsure for step in self.steps), NONE)
