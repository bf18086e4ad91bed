"""Figures, series over time and events of an outcome, collected line by line in bounded memory.

Works on any outcome beside its trace, the engine's or a real broker's. The same lines give the same recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pageengine.model.outcome import (
    BLOCKED,
    CLOSED,
    DROPPED,
    FAILED,
    OK,
    PAGED,
    QUEUED,
    AddressFigures,
    BrokerFigures,
    CrashLoss,
    Decision,
    OperationResult,
    QueueFigures,
    StateChange,
    became,
)
from pageengine.replay.page_holding import HeldPages, HoldWatch, PageHold
from pageengine.replay.records import (
    AddressRecord,
    AnswerTimer,
    BlockedSend,
    CrashRecord,
    Moment,
    QueueRecord,
    Span,
    pages_of,
)
from pageengine.trace.items import Item
from pageengine.trace.operations import Ack, CreateQueue, DiskSpaceChange, OpenConsumer, Receive, Send

MOMENTS = 200
# What may happen to a queue's messages in a crash.
LOSSES = ("lost", "perhaps_lost", "again", "perhaps_again")
BROKER = "broker"
# The reason of a message that was refused together with its producer's connection.
CONNECTION_DROPPED = "connection_dropped"
NOT_SEEN = AddressFigures()
GONE = AddressFigures(paging=False, full=False, page_full=False, size=0, elements=0, files=[], pages=0)
EMPTY = QueueFigures(paged_n=0)


@dataclass
class Recording:
    """Recording of an outcome: call ``see`` in order; it is complete after ``finish``. Times are the trace's, in ns.

    ``unknown``: what the trace cannot have, because its source does not say it.
    """

    name: str
    unknown: tuple[str, ...] = ()
    addresses: dict[str, AddressRecord] = field(default_factory=dict)
    queues: dict[str, QueueRecord] = field(default_factory=dict)
    broker: AddressRecord = field(default_factory=lambda: AddressRecord(BROKER))
    disk_full: Span = field(default_factory=Span)
    # The first operation that reports a disk with no byte left.
    no_space: int | None = None
    moments: list[Moment] = field(default_factory=list)
    more_moments: int = 0
    operations: int = 0
    results: Counter[str] = field(default_factory=Counter)
    start: int | None = None
    end: int = 0
    holds: list[PageHold] = field(default_factory=list)
    crashes: list[CrashRecord] = field(default_factory=list)
    # None if unknown, as for an outcome without its configuration.
    answers: AnswerTimer | None = None
    # Receives that returned nothing although the queue had undelivered messages, by consumer and queue.
    starved: Counter[tuple[str, str]] = field(default_factory=Counter)
    # Acknowledgements that failed, by queue (by consumer if its queue is unknown).
    failed_acks: Counter[str] = field(default_factory=Counter)
    _queue_of: dict[str, str] = field(default_factory=dict)
    _address_of: dict[str, str] = field(default_factory=dict)
    _waiting: dict[int, BlockedSend] = field(default_factory=dict)
    _counted: list[AddressRecord] = field(default_factory=list)
    _messages: int = 0
    _pages: int = 0
    watches: dict[str, HoldWatch] = field(default_factory=dict)

    def begin(self, state: StateChange, address_of: Mapping[str, str] | None = None) -> None:
        """Record the initial state; ``address_of`` maps queues that the configuration creates to addresses."""
        self._address_of.update(address_of or {})
        self._state(state, 0, 0)

    def see(self, item: Item, result: OperationResult) -> None:
        """Record one operation of the trace and its result."""
        t, i = item.t, item.i
        if self.start is None:
            self.start = t
        self.end = t
        self.operations += 1
        if type(item) is Send:
            self._sent(item, result.verdict)
        else:
            r = result.verdict.r
            self.results[r] += 1
            if isinstance(item, CreateQueue):
                self._address_of[item.queue] = item.address
            elif isinstance(item, OpenConsumer):
                self._queue_of[item.consumer] = item.queue
            elif isinstance(item, DiskSpaceChange):
                if item.usable == 0 and self.no_space is None:
                    self.no_space = i
                    self._moment(t, i, BROKER, "no space on the disk")
            elif isinstance(item, Ack) and r == FAILED:
                self.failed_acks[self._queue_of.get(item.consumer, item.consumer)] += 1
            elif isinstance(item, Receive) and r == OK and not result.got:
                self._starved(item)
        if result.released:
            for release in result.released:
                self._went_on(release.i, t, became(release.verdict))
        if result.abandoned:
            for number in result.abandoned:
                self._went_on(number, t, None)
        if result.loss is not None:
            self._crashed(result.loss, t, i)
        if result.state is not None:
            self._state(result.state, t, i)

    def _crashed(self, loss: CrashLoss, t: int, i: int) -> None:
        messages: dict[str, Counter[str]] = {}
        for name in LOSSES:
            by_queue: dict[str, list[int]] = getattr(loss, name)
            for queue, seqs in by_queue.items():
                address = self._address_of.get(queue, queue)
                messages.setdefault(address, Counter())[name] += len(seqs)
        self.crashes.append(CrashRecord(t, i, messages, len(loss.answered), loss.incomplete))
        self._moment(t, i, BROKER, "crash")

    def finish(self, state: StateChange | None) -> None:
        """Record the complete state at the end; None if the outcome ends early."""
        if state is not None:
            self._state(state, self.end, self.operations)
        for record in self.addresses.values():
            self.broker.sends.update({r: n for r, n in record.sends.items() if not r.startswith("released")})
        for waiting in self._waiting.values():
            self.address(waiting.address).blocked_ns += self.end - waiting.t
        for watch in self.watches.values():
            self.holds += watch.finish(self.end)
        self.holds.sort(key=lambda hold: (hold.start - hold.end, hold.queue))

    @property
    def timed(self) -> bool:
        """Return whether the trace has times; otherwise the axis is the operation number."""
        return self.end > (self.start or 0)

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the first and the last point of the axis."""
        return (self.start or 0, self.end) if self.timed else (0, max(self.operations - 1, 1))

    def address(self, name: str) -> AddressRecord:
        """Return the record of an address, created if missing."""
        record = self.addresses.get(name)
        if record is None:
            record = self.addresses[name] = AddressRecord(name)
        return record

    def _sent(self, send: Send, verdict: Decision) -> None:
        r = verdict.r if type(verdict) is Decision else became(verdict)
        record = self.addresses.get(send.address) or self.address(send.address)
        record.sends[r] += 1
        if r == PAGED:
            if type(verdict) is Decision:
                record.fresh_pages.append(verdict.page or 0)
            timer, t = self.answers, send.t
            if timer is not None and (send.durable or not timer.durable_only):
                if t >= record.answered_at:
                    record.answered_at = t + timer.timeout
                    record.longest_answer = timer.timeout
                record.answers += 1
                record.answers_ns += record.answered_at - t
            return
        if r == QUEUED:
            record.taken_while_full += record.full.since is not None
            return
        reason = CONNECTION_DROPPED if verdict.r == CLOSED else verdict.why or verdict.error or verdict.status or r
        if r == FAILED and verdict.r != CLOSED and verdict.reached_broker:
            if self.disk_full.since is not None:
                reason = "DISK_FULL"
            elif record.page_full.since is not None:
                reason = "PAGE_LIMIT"  # the error that the client gets is the same as for a full address
        record.why[reason] += 1
        if r == BLOCKED:
            self._waiting[send.i] = BlockedSend(send.t, send.address)
            self._blocked(record, 1, send.t, send.i)
        elif r in (DROPPED, FAILED):
            for counting in (record, self.broker):
                counting.series.add(r, send.i, send.t, 1)
            if record.sends[r] == 1:
                what = "dropped" if r == DROPPED else "refused"
                self._moment(send.t, send.i, send.address, f"first message {what}")

    def _blocked(self, record: AddressRecord, change: int, t: int, i: int) -> None:
        record.block(change, t, i)
        self.broker.block(change, t, i)
        if change > 0 and record.sends["blocked"] == 1:
            self._moment(t, i, record.name, "first producer blocked")

    def _went_on(self, number: int, t: int, r: str | None) -> None:
        """Note that a blocked send ended with the result ``r``, or with the broker (None)."""
        waiting = self._waiting.pop(number, None)
        if waiting is None:
            return
        record = self.address(waiting.address)
        record.blocked_ns += t - waiting.t
        if r is None:
            record.abandoned += 1
        else:
            record.released += 1
            record.sends[f"released {r}"] += 1
        self._blocked(record, -1, t, self.operations - 1)

    def _starved(self, receive: Receive) -> None:
        queue = self.queues.get(self._queue_of.get(receive.consumer, ""))
        if queue is not None and not queue.now.paused and (queue.now.n or 0) > (queue.now.delivering or 0):
            self.starved[receive.consumer, queue.name] += 1

    def _state(self, state: StateChange, t: int, i: int) -> None:
        for address, before, now in state.addresses:
            self._address(self.addresses.get(address) or self.address(address), before, now, t, i)
        broker = self.broker
        if self._messages > broker.messages.value:
            broker.messages.see(self._messages, t, i)
        if self._pages > broker.pages.value:
            broker.pages.see(self._pages, t, i)
        if state.broker is not None:
            self._global(*state.broker, t, i)
        if not state.queues:
            return
        moved: dict[str, None] = {}
        for name, _, figures in state.queues:
            self._queue(name, figures, t, i, moved)
        for name in moved:
            record = self.address(name)
            self.watches[name].look(t, record.now.pages or 0)
        if self._counted:
            for record in self._counted:
                record.fresh_pages.clear()
                record.counted_page = record.now.cur or 0
            self._counted.clear()

    def _address(
        self, record: AddressRecord, before: AddressFigures | None, now: AddressFigures | None, t: int, i: int
    ) -> None:
        if before is None or now is None:
            before = NOT_SEEN
        was, record.now = record.now, now or GONE
        now = record.now
        size, count = now.size, now.elements
        self._messages += (count or 0) - (was.elements or 0)
        self._pages += (now.pages or 0) - (was.pages or 0)
        if size is not None and size != before.size:
            record.use_memory(size, t, i)
        if count is not None and count > record.messages.value:
            record.messages.see(count, t, i)
        if now.pages is not None and now.pages > record.pages.value:
            record.pages.see(now.pages, t, i)
        if now.cur_bytes != before.cur_bytes or now.cur != before.cur or now.files is not before.files:
            self._disk(record, before.files, now, t, i)
        if now.paging != before.paging:
            self._paging(record, bool(now.paging), t, i)
        if now.full != before.full:
            self._limit(record, record.full, "full", bool(now.full), t, i)
        if now.page_full != before.page_full:
            self._limit(record, record.page_full, "page limit", bool(now.page_full), t, i)
        if now.blocked_by_operator and not before.blocked_by_operator:
            self._moment(t, i, record.name, "blocked by operator")

    def _limit(self, record: AddressRecord, span: Span, what: str, on: bool, t: int, i: int) -> None:
        span.switch(on, t, self._moment(t, i, record.name, what) if on and span.since is None else None)

    def _disk(self, record: AddressRecord, files: list[int] | None, now: AddressFigures, t: int, i: int) -> None:
        """Record the bytes in page files.

        The outcome has the size of the current page; a finished page keeps its last size.
        """
        sizes, change = record.page_bytes, 0
        if now.files is not files:
            sizes = record.page_bytes = {page: sizes.get(page, 0) for page in now.files or ()}
            change = sum(sizes.values()) - record.disk_bytes
        current = now.cur
        if current in sizes:
            written = now.cur_bytes or 0
            change += written - sizes[current]
            sizes[current] = written
        if change:
            record.use_disk(change, t, i)
            self.broker.use_disk(change, t, i)

    def _paging(self, record: AddressRecord, on: bool, t: int, i: int) -> None:
        self._limit(record, record.paging, "page mode", on, t, i)
        record.series.see("paging", i, t, int(on))

    def _global(self, before: BrokerFigures | None, now: BrokerFigures, t: int, i: int) -> None:
        if now.size is not None and (before is None or now.size != before.size):
            self.broker.use_memory(now.size, t, i)
        if before is None or now.full != before.full:
            self._limit(self.broker, self.broker.full, "global limit or full disk", bool(now.full), t, i)
        if before is None or now.disk_full != before.disk_full:
            self._limit(self.broker, self.disk_full, "disk full", bool(now.disk_full), t, i)
            self.broker.series.see("disk_full", i, t, int(bool(now.disk_full)))

    def _queue(self, name: str, now: QueueFigures | None, t: int, i: int, moved: dict[str, None]) -> None:
        """Record changes of a queue; add its address to ``moved`` if its messages now lie on other pages."""
        record = self.queues.get(name)
        if record is None:
            record = self.queues[name] = QueueRecord(name, self._address_of.get(name, name))
        record.now = now = now or EMPTY
        if now.n is not None and now.n > record.messages.value:
            record.messages.see(now.n, t, i)
        paged = now.paged_n
        if paged is not None:
            if paged > record.paged.value:
                record.paged.see(paged, t, i)
            held = record.held
            if (held is None or paged != held.messages) and self._holding(record, paged):
                moved[record.address] = None

    def _holding(self, queue: QueueRecord, paged: int) -> bool:
        held = queue.held
        if held is None:
            watch = self.watches.get(queue.address)
            if watch is None:
                watch = self.watches[queue.address] = HoldWatch(queue.address)
            held = queue.held = watch.held[queue.name] = HeldPages()
        record = self.addresses.get(queue.address) or self.address(queue.address)
        grown = paged - held.messages
        if grown > 0:
            self._counted.append(record)
        if grown <= 1:
            return held.change(paged, record.now.cur or 0)
        moved = False
        for n, page in enumerate(pages_of(record, grown), held.messages + 1):
            moved |= held.change(n, page)
        return moved

    def _moment(self, t: int, i: int, where: str, what: str) -> Moment:
        moment = Moment(t, i, where, what)
        if len(self.moments) < MOMENTS:
            self.moments.append(moment)
        else:
            self.more_moments += 1
        return moment
