"""Figures, series over time and events of an outcome, collected line by line in bounded memory.

Works on any outcome beside its trace, the engine's or a real broker's. The same lines give the same recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pageengine.replay.page_holding import HeldPages, HoldWatch, PageHold
from pageengine.replay.records import AddressRecord, BlockedSend, Moment, QueueRecord, Span, pages_of
from pageengine.trace.items import Item
from pageengine.trace.operations import CreateQueue, OpenConsumer, Receive, Send

MOMENTS = 200
LIMITS = {"full": "full", "page_full": "page limit", "blocked_by_operator": "blocked by operator"}
BROKER = "broker"


@dataclass(slots=True)
class Recording:
    """Feed it with ``see``, in order; it is complete after ``finish``. Times are the trace's, in nanoseconds."""

    name: str
    addresses: dict[str, AddressRecord] = field(default_factory=dict)
    queues: dict[str, QueueRecord] = field(default_factory=dict)
    broker: AddressRecord = field(default_factory=lambda: AddressRecord(BROKER))
    disk_full: Span = field(default_factory=Span)
    moments: list[Moment] = field(default_factory=list)
    more_moments: int = 0
    operations: int = 0
    results: Counter[str] = field(default_factory=Counter)
    start: int | None = None
    end: int = 0
    holds: list[PageHold] = field(default_factory=list)
    starved: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By consumer and queue: receives that returned nothing although the queue had undelivered messages."""
    _queue_of: dict[str, str] = field(default_factory=dict)
    _address_of: dict[str, str] = field(default_factory=dict)
    _waiting: dict[int, BlockedSend] = field(default_factory=dict)
    _counted: list[AddressRecord] = field(default_factory=list)
    watches: dict[str, HoldWatch] = field(default_factory=dict)

    def begin(self, header: Mapping[str, Any], address_of: Mapping[str, str] | None = None) -> None:
        """The outcome's header line; ``address_of``: address by queue, of queues that the configuration makes."""
        self._address_of.update(address_of or {})
        self._state(header.get("state") or {}, 0, 0)

    def see(self, item: Item, line: Mapping[str, Any]) -> None:
        """One operation of the trace and its line of the outcome."""
        t, i = item.t, item.i
        if self.start is None:
            self.start = t
        self.end = t
        self.operations += 1
        r = line["r"]
        if isinstance(item, Send):
            self._sent(item, r, line)
        else:
            self.results[r] += 1
            if isinstance(item, CreateQueue):
                self._address_of[item.queue] = item.address
            elif isinstance(item, OpenConsumer):
                self._queue_of[item.consumer] = item.queue
            elif isinstance(item, Receive):
                self._received(item, line)
        for one in line.get("released", ()):
            self._went_on(one["i"], t, str(one.get("r")))
        for number in line.get("abandoned", ()):
            self._went_on(number, t, None)
        if line.get("state"):
            self._state(line["state"], t, i)

    def finish(self, line: Mapping[str, Any] | None) -> None:
        """The end line, None where the outcome stops early."""
        if line is not None and line.get("state"):
            self._state(line["state"], self.end, self.operations)
        for waiting in self._waiting.values():
            self.address(waiting.address).blocked_ns += self.end - waiting.t
        for watch in self.watches.values():
            self.holds += watch.finish(self.end)
        self.holds.sort(key=lambda hold: (hold.start - hold.end, hold.queue))

    @property
    def timed(self) -> bool:
        """Whether the trace has times; otherwise the axis is the operation number."""
        return self.end > (self.start or 0)

    @property
    def bounds(self) -> tuple[int, int]:
        """First and last point of the axis."""
        return (self.start or 0, self.end) if self.timed else (0, max(self.operations - 1, 1))

    def address(self, name: str) -> AddressRecord:
        """The record of an address, made if need be."""
        found = self.addresses.get(name)
        if found is None:
            found = self.addresses[name] = AddressRecord(name)
        return found

    def _sent(self, send: Send, r: str, line: Mapping[str, Any]) -> None:
        record = self.address(send.address)
        record.sends[r] += 1
        self.broker.sends[r] += 1
        if r == "paged":
            record.fresh_pages.append(line.get("page") or 0)
            return
        if r == "queued":
            return
        record.why[line.get("why") or line.get("error") or line.get("status") or r] += 1
        if r == "blocked":
            self._waiting[send.i] = BlockedSend(send.t, send.address)
            self._blocked(record, 1, send.t, send.i)
        elif r == "dropped" or r == "failed":
            for one in (record, self.broker):
                one.series.see(r, send.i, send.t, 1)
            if record.sends[r] == 1:
                what = "dropped" if r == "dropped" else "refused"
                self._moment(send.t, send.i, send.address, f"first message {what}")

    def _blocked(self, record: AddressRecord, change: int, t: int, i: int) -> None:
        record.block(change, t, i)
        self.broker.block(change, t, i)
        if change > 0 and record.sends["blocked"] == 1:
            self._moment(t, i, record.name, "first producer blocked")

    def _went_on(self, number: int, t: int, r: str | None) -> None:
        """A blocked send ended with the result ``r``, or with the broker (None)."""
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

    def _received(self, receive: Receive, line: Mapping[str, Any]) -> None:
        queue = self.queues.get(self._queue_of.get(receive.consumer, ""))
        if queue is None or line["r"] != "ok" or line.get("got") or queue.state.get("paused"):
            return
        if queue.state.get("n", 0) > queue.state.get("delivering", 0):
            self.starved[receive.consumer, queue.name] += 1

    def _state(self, changes: Mapping[str, Any], t: int, i: int) -> None:
        for part, fields in changes.items():
            if part == "g":
                self._global(fields, t, i)
            elif part.startswith("a:"):
                self._address(self.address(part[2:]), fields or {}, fields is None, t, i)
        moved: dict[str, None] = {}
        for part, fields in changes.items():
            if part.startswith("q:"):
                self._queue(part[2:], fields, t, i, moved)
        for address in moved:
            record = self.address(address)
            self.watches[address].look(t, record.state.get("pages") or 0)
        for record in self._counted:
            record.fresh_pages.clear()
            record.counted_page = record.state.get("cur") or 0
        self._counted.clear()

    def _address(self, record: AddressRecord, fields: Mapping[str, Any], gone: bool, t: int, i: int) -> None:
        state = record.state
        if gone:
            state.clear()
            fields = {"paging": False, "full": False, "page_full": False, "size": 0, "elements": 0, "files": []}
        state.update(fields)
        if "size" in fields:
            record.use_memory(fields["size"], t, i)
        if "elements" in fields:
            record.messages.see(fields["elements"], t, i)
        if "pages" in fields:
            record.pages.see(fields["pages"], t, i)
        if "files" in fields or "cur_bytes" in fields or "cur" in fields:
            self._disk(record, fields, t, i)
        if "paging" in fields:
            self._paging(record, bool(fields["paging"]), t, i)
        for name, span in (("full", record.full), ("page_full", record.page_full)):
            if name in fields:
                if fields[name] and span.since is None:
                    self._moment(t, i, record.name, LIMITS[name])
                span.switch(bool(fields[name]), t)
        if fields.get("blocked_by_operator"):
            self._moment(t, i, record.name, LIMITS["blocked_by_operator"])

    def _disk(self, record: AddressRecord, fields: Mapping[str, Any], t: int, i: int) -> None:
        """Bytes in page files. The outcome has the size of the current page; a finished page keeps its last size."""
        sizes, change = record.page_bytes, 0
        if "files" in fields:
            sizes = record.page_bytes = {page: sizes.get(page, 0) for page in fields["files"] or ()}
            change = sum(sizes.values()) - record.disk_bytes
        current = record.state.get("cur")
        if current in sizes:
            now = record.state.get("cur_bytes") or 0
            change += now - sizes[current]
            sizes[current] = now
        if change:
            record.use_disk(change, t, i)
            self.broker.use_disk(change, t, i)

    def _paging(self, record: AddressRecord, on: bool, t: int, i: int) -> None:
        if on and record.paging.since is None:
            self._moment(t, i, record.name, "page mode")
        record.paging.switch(on, t)
        record.series.see("paging", i, t, int(on))

    def _global(self, fields: Mapping[str, Any] | None, t: int, i: int) -> None:
        for name, value in (fields or {}).items():
            self.broker.state[name] = value
            if name == "size":
                self.broker.use_memory(value, t, i)
            elif name == "full":
                if value and self.broker.full.since is None:
                    self._moment(t, i, BROKER, "global limit or full disk")
                self.broker.full.switch(bool(value), t)
            elif name == "disk_full":
                if value and self.disk_full.since is None:
                    self._moment(t, i, BROKER, "disk full")
                self.disk_full.switch(bool(value), t)
                self.broker.series.see("disk_full", i, t, int(bool(value)))

    def _queue(self, name: str, fields: Mapping[str, Any] | None, t: int, i: int, moved: dict[str, None]) -> None:
        """Changes of a queue; ``moved`` gets its address when its messages now lie on other pages."""
        record = self.queues.get(name)
        if record is None:
            record = self.queues[name] = QueueRecord(name, self._address_of.get(name, name))
        if fields is None:
            record.state.clear()
            fields = {"paged_n": 0}
        record.state.update(fields)
        if "n" in fields:
            record.messages.see(fields["n"], t, i)
        if "paged_n" in fields:
            record.paged.see(fields["paged_n"], t, i)
            if self._holding(record, fields["paged_n"]):
                moved[record.address] = None

    def _holding(self, queue: QueueRecord, paged: int) -> bool:
        watch = self.watches.get(queue.address)
        if watch is None:
            watch = self.watches[queue.address] = HoldWatch(queue.address)
        held = watch.held.get(queue.name)
        if held is None:
            held = watch.held[queue.name] = HeldPages()
        record = self.address(queue.address)
        grown = paged - held.messages
        if grown > 0:
            self._counted.append(record)
        if grown <= 1:
            return held.change(paged, record.state.get("cur") or 0)
        moved = False
        for n, page in enumerate(pages_of(record, grown), held.messages + 1):
            moved |= held.change(n, page)
        return moved

    def _moment(self, t: int, i: int, where: str, what: str) -> None:
        if len(self.moments) < MOMENTS:
            self.moments.append(Moment(t, i, where, what))
        else:
            self.more_moments += 1
