"""What one page, and one queue in a store, still hold: records, bytes, pages."""

from __future__ import annotations

from array import array
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from pagefmt.codec.pages.frames import NO_BYTES, Damage
from pagefmt.codec.pages.record import FRAME
from pagefmt.codec.pages.routes import Route
from pagefmt.directory.bindings import QueueBinding
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.compact_positions import CompactPositions


class PageLoad(NamedTuple):
    """One page: ``records`` readable ones in ``read`` of ``size`` bytes, of which ``live_bytes`` have to stay.

    ``held_by``: ids of the queues that still need it, as far as it can be read, ascending. ``ack_states``: how many
    (record, queue) pairs are in each state. ``damage``: what reading stopped at. ``transactions``: the lowest and the
    highest page transaction of the records.
    """

    page: int
    size: int
    records: int
    read: int
    live_records: int
    live_bytes: int
    held_by: tuple[int, ...]
    ack_states: dict[AckState, int]
    damage: Damage | None
    transactions: tuple[int, int] | None = None

    @property
    def readable(self) -> bool:
        """Return whether any of the page can be read."""
        return self.damage is None or self.damage.kind not in NO_BYTES

    @property
    def holders(self) -> tuple[int, ...] | None:
        """Return the queues that need the page, empty if all queues are done with it.

        None if that is unknown: the page cannot be read, or is damaged and no queue waits for its readable messages.
        """
        return self.held_by if self.readable and (self.held_by or self.damage is None) else None


def spanned(numbers: Collection[int]) -> tuple[int, int] | None:
    """Return the lowest and the highest number, or None if there are none."""
    return (min(numbers), max(numbers)) if numbers else None


@dataclass(slots=True)
class QueueLoad:
    """One queue in one store: ``messages`` of ``bytes`` on disk are outstanding; what is in doubt counts apart.

    ``first`` and ``last``: (page, number) of the first and last outstanding one, ``begins``: offset of the first one in
    its page. ``pages``: how many pages hold
    something for it, in doubt included; ``held_bytes``: the size of those files, ``held_alone``: of those that nobody
    else needs. ``large``: ids of the outstanding ones with a body that is a file. ``positions``: of all of it, if they
    were asked for; ``numbers``: those of a page that is being read.
    """

    id: int
    binding: QueueBinding | None
    messages: int = 0
    bytes: int = 0
    in_doubt_sends: int = 0
    in_doubt_acks: int = 0
    pages: int = 0
    held_bytes: int = 0
    held_alone: int = 0
    first: tuple[int, int] | None = None
    last: tuple[int, int] | None = None
    begins: int = 0
    large: array[int] = field(default_factory=lambda: array("q"))
    positions: CompactPositions = field(default_factory=CompactPositions)
    numbers: array[int] = field(default_factory=lambda: array("i"))

    @property
    def name(self) -> str:
        """Return the queue's name, or its id if it has no binding."""
        return self.binding.name if self.binding else f"queue {self.id}"

    @property
    def in_doubt(self) -> int:
        """Return the number of sends and acknowledgements that prepared transactions hold back."""
        return self.in_doubt_sends + self.in_doubt_acks

    def take(self, ack_state: AckState, page: int, route: Route, keep: bool) -> None:
        """Count one record that is in this state for the queue."""
        match ack_state:
            case AckState.OUTSTANDING:
                number, offset, length = route[:3]
                if route[4]:
                    self.large.append(route[5])
                self.messages += 1
                self.bytes += length + FRAME
                if self.first is None:
                    self.first, self.begins = (page, number), offset
                self.last = (page, number)
                if keep:
                    self.numbers.append(number)
            case AckState.IN_DOUBT_SEND:
                self.in_doubt_sends += 1
            case AckState.IN_DOUBT_ACK:
                self.in_doubt_acks += 1

    def add(self, page: PageLoad, more: QueueLoad) -> None:
        """Add the load of one more page, which follows all earlier ones."""
        self.messages += more.messages
        self.bytes += more.bytes
        self.in_doubt_sends += more.in_doubt_sends
        self.in_doubt_acks += more.in_doubt_acks
        if self.first is None:
            self.first, self.begins = more.first, more.begins
        self.last = more.last or self.last
        self.large += more.large
        if more.numbers:
            self.positions.add(page.page, more.numbers)
        self.pages += 1
        self.held_bytes += page.size
        if len(page.held_by) == 1:
            self.held_alone += page.size
