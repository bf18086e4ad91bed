"""Counts, peaks and times of an address and of a queue in a replay."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from pageengine.model.outcome import AddressFigures, QueueFigures
from pageengine.replay.page_holding import HeldPages
from pageengine.replay.series import Series

FRESH = 100_000


@dataclass(frozen=True)
class Moment:
    """Event: a limit was reached or page mode entered; with time, operation, place and what."""

    t: int
    i: int
    where: str
    what: str


@dataclass
class Span:
    """Condition over time.

    ``times`` is how often it began, ``total`` nanoseconds in all, ``since`` when it began to hold (None: it does not)
    and ``first`` its first beginning.
    """

    times: int = 0
    total: int = 0
    since: int | None = None
    first: Moment | None = None

    def switch(self, on: bool, t: int, began: Moment | None = None) -> None:
        """Begin or end the condition at ``t``; ``began`` describes its beginning."""
        if on and self.since is None:
            self.since = t
            self.times += 1
            self.first = self.first or began
        elif not on and self.since is not None:
            self.total += t - self.since
            self.since = None

    def until(self, t: int) -> int:
        """Return the nanoseconds up to ``t``."""
        return self.total + (t - self.since if self.since is not None else 0)


@dataclass
class Peak:
    """Largest value, with the time and operation at which it was reached first."""

    value: int = 0
    t: int = 0
    i: int = 0

    def see(self, value: int, t: int, i: int) -> None:
        """Record a value at time ``t``, by operation ``i``, if it is the highest."""
        if value > self.value:
            self.value, self.t, self.i = value, t, i


@dataclass
class AddressRecord:
    """Record of one address. ``sends``: counts by outcome; ``why``: reasons of drops and errors of refusals.

    ``taken_while_full``: messages that went to memory although a limit was reached.
    """

    name: str
    series: Series = field(default_factory=Series)
    sends: Counter[str] = field(default_factory=Counter)
    why: Counter[str] = field(default_factory=Counter)
    now: AddressFigures = field(default_factory=AddressFigures)
    page_bytes: dict[int, int] = field(default_factory=dict)
    memory: Peak = field(default_factory=Peak)
    messages: Peak = field(default_factory=Peak)
    disk: Peak = field(default_factory=Peak)
    pages: Peak = field(default_factory=Peak)
    paging: Span = field(default_factory=Span)
    full: Span = field(default_factory=Span)
    page_full: Span = field(default_factory=Span)
    blocked: Span = field(default_factory=Span)
    taken_while_full: int = 0
    blocked_now: int = 0
    blocked_ns: int = 0
    released: int = 0
    abandoned: int = 0
    disk_bytes: int = 0
    # Pages of the messages that were paged last and that no queue counts yet (it does at once, or at commit).
    fresh_pages: deque[int] = field(default_factory=lambda: deque(maxlen=FRESH))
    # The page being written when a queue's count last grew.
    counted_page: int = 0
    answers: int = 0
    answers_ns: int = 0
    longest_answer: int = 0
    # When the timer writes the page and answers the sends that wait for it; the first of them starts it.
    answered_at: int = -(2**62)

    def block(self, change: int, t: int, i: int) -> None:
        """Record that ``change`` more producers wait."""
        self.blocked_now += change
        self.blocked.switch(self.blocked_now > 0, t)
        self.series.see("blocked", i, t, self.blocked_now)

    def use_memory(self, size: int, t: int, i: int) -> None:
        """Record that messages take ``size`` bytes of memory."""
        if size > self.memory.value:
            self.memory.see(size, t, i)
        self.series.see("memory", i, t, size)

    def use_disk(self, change: int, t: int, i: int) -> None:
        """Record that page files grew or shrank by ``change`` bytes."""
        self.disk_bytes += change
        if self.disk_bytes > self.disk.value:
            self.disk.see(self.disk_bytes, t, i)
        self.series.see("disk", i, t, self.disk_bytes)


@dataclass
class QueueRecord:
    """Record of one queue: its peaks and its present state."""

    name: str
    address: str
    messages: Peak = field(default_factory=Peak)
    paged: Peak = field(default_factory=Peak)
    now: QueueFigures = field(default_factory=QueueFigures)
    held: HeldPages | None = None


@dataclass(frozen=True)
class CrashRecord:
    """Cost of a crash: messages by address, in the words of ``CrashLoss``, and its other remarks."""

    t: int
    i: int
    messages: dict[str, Counter[str]]
    answered: int
    incomplete: bool


@dataclass(frozen=True)
class AnswerTimer:
    """Longest wait in ns for the answer to a send that goes to a page; ``durable_only``: others do not wait."""

    timeout: int
    durable_only: bool


@dataclass
class BlockedSend:
    """Send that waits for its broker."""

    t: int
    address: str


def pages_of(record: AddressRecord, grown: int) -> list[int]:
    """Return the pages of messages that a queue counts all at once.

    The outcome does not name those of released sends: they are spread over the pages begun in the meantime.
    """
    if len(record.fresh_pages) >= grown:
        return [*record.fresh_pages][-grown:]
    last = record.now.cur or 0
    first = min(record.counted_page or last, last)
    return [first + n * (last - first + 1) // grown for n in range(grown)]
