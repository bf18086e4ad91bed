"""The engine: operations in, what the broker decided out.

    engine = Engine(settings, profile_of(Edition.ARTEMIS_2_56), header)
    for operation in operations:
        result = engine.apply(operation)

Source: spec/trace-format.md 1.2 and 2. What an operation waits for is what the recorded outcomes of real brokers
waited for: everything that runs in the background comes to rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pageengine.broker.broker import Broker, StoreRefused
from pageengine.broker.late_messages import aged
from pageengine.broker.managing import purge
from pageengine.broker.transaction import Transaction
from pageengine.clients.session import Session
from pageengine.model.failure import Failed
from pageengine.model.outcome import (
    FAILED,
    OK,
    PAGED,
    OperationResult,
    OutcomeEnd,
    OutcomeHeader,
    PageFiled,
    RecordFiled,
    Released,
    Verdict,
)  # fmt: skip
from pageengine.model.page import Page
from pageengine.paging.store import AddressStore
from pageengine.queues.consumer import Consumer
from pageengine.running.configured import configure
from pageengine.running.disks import WatchedDisks
from pageengine.running.invariants import Watch
from pageengine.running.state import StateView, hidden
from pageengine.running.steps import STEPS
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings
from pageengine.trace.operations import Operation, Protocol, Send, SessionKind, TraceHeader


class Engine:
    """Applies operations one at a time. ``check``: tests the invariants of spec 5 after each."""

    def __init__(self, settings: EngineSettings, profile: Profile, header: TraceHeader, *, check: bool = False) -> None:
        self.settings = settings
        self.profile = profile
        self.header = header
        self.watch = Watch() if check else None
        self.broker = Broker(settings, profile, header.start_ns or 0)
        self.sessions: dict[str, Session] = {}
        self.kinds: dict[str, tuple[SessionKind, Protocol]] = {}
        self.consumers: dict[str, Consumer] = {}
        self.branches: dict[str, Transaction] = {}
        self.disks = WatchedDisks(settings, profile)
        self.view = StateView()
        self.releases: list[Released] = []
        self.operations = 0
        self.parts_changed = False
        configure(self)
        self.broker.settle()

    def start(self) -> OutcomeHeader:
        """First line of the outcome."""
        return OutcomeHeader(self.profile.release, self.header.name, self.view.everything(self.broker))

    def apply(self, op: Operation) -> OperationResult:
        """One operation, to rest, and what changed by it."""
        broker = self.broker
        broker.now = op.t
        result = OperationResult(op.i, op.op, Verdict(OK))
        if type(op) is Send:
            self._send(op, result)
        else:
            try:
                STEPS[type(op)](self, op, result)
            except Failed as failed:
                result.verdict = Verdict(FAILED, error=failed.error)
                result.detail = failed.detail
            except StoreRefused:
                result.verdict = Verdict(FAILED, error="IllegalStateException")
            broker = self.broker
        if broker.expiring:
            for queue in broker.queues.values():
                if queue.consumers:
                    broker.touch(queue)
        broker.settle()
        if broker.late:
            broker.late = aged(broker.late, op, op.t)
        if self.releases:
            self._releases(op.i, result)
        result.state = self._changes()
        self.operations += 1
        if self.watch is not None:
            self.watch.look(self, op, result)
        return result

    def change_settings(self, match: str, values: dict[str, str]) -> None:
        """An address-setting changed at run time; every store feels it at once (spec 2.4)."""
        source = self.settings.address_settings.changed(match, values)
        self.settings = self.broker.settings = replace(self.settings, address_settings=source)
        for store in self.broker.stores.values():
            store.apply_settings(source.effective(store.address))
            store.check_released()
        self.parts_changed = True

    def _changes(self) -> dict[str, dict[str, bool | int | list[int] | None] | None]:
        if self.parts_changed:
            self.parts_changed = False
            return self.view.change_of_all(self.broker)
        return self.view.change(self.broker)

    def _releases(self, i: int, result: OperationResult) -> None:
        releases, self.releases = self.releases, []
        own = [one for one in releases if one.i == i]
        if own:
            result.verdict = own[0].verdict
        result.released = sorted((one for one in releases if one.i != i), key=lambda one: one.i) or None

    def finish(self, *, pages: bool = True) -> OutcomeEnd:
        """Last line: the complete state and, unless nobody wants to see them, the records in the pages."""
        never = sorted(
            waiting.i if isinstance(waiting, Send) else waiting.op.i
            for session in self.sessions.values()
            for waiting in session.pending
        )
        files = {
            store.address: self._pages(store)
            for store in self.broker.stores.values()
            if pages and store.pages and not hidden(store.address)
        }
        return OutcomeEnd(self.operations, tuple(never), files, self.view.everything(self.broker))

    def _pages(self, store: AddressStore) -> tuple[PageFiled, ...]:
        names = {queue.id: queue.name for queue in self.broker.queues.values()}
        return tuple(
            PageFiled(page.number, page.bytes, tuple(self._filed(page, names)))
            for page in (store.pages[number] for number in sorted(store.pages))
        )

    def _filed(self, page: Page, names: dict[int, str]) -> Iterator[RecordFiled]:
        named = bool(self.header.seq_property)
        for one in page.records:
            queues = tuple(names.get(id, "?") for id in one.queues)
            yield RecordFiled(one.message.seq if named else None, one.size, one.tx >= 0, queues)

    # clients

    def session(self, name: str) -> Session:
        found = self.sessions.get(name)
        if found is None:
            kind, protocol = self.kinds.get(name, (SessionKind.AUTO, Protocol.CORE))
            found = self.sessions[name] = Session(self, name, kind, protocol)
        return found

    def consumer(self, name: str) -> Consumer:
        found = self.consumers.get(name)
        if found is None:
            raise Failed("IllegalStateException", f'no such consumer: "{name}"')
        if found.closed:
            raise Failed("OBJECT_CLOSED")
        return found

    def _send(self, op: Send, result: OperationResult) -> None:
        session = self.session(op.session)
        try:
            store = self.broker.store(op.address)
            before = position(store)
            verdict = session.send(op)
        except StoreRefused:
            result.verdict = Verdict(FAILED, error="IllegalStateException", reached_broker=True)
            return
        result.verdict = verdict
        if verdict.r == PAGED and store is not None:
            now = position(store)
            if now != before and now[1] > 0:
                verdict.page = now[0]
                verdict.nr = now[1] - 1

    def released(self, op: Send, verdict: Verdict) -> None:
        self.releases.append(Released(op.i, verdict))

    def close_consumer(self, consumer: Consumer) -> None:
        """Unacknowledged messages go back to where they were (spec/trace-format.md 1.2)."""
        consumer.closed = True
        queue = consumer.queue
        refs = consumer.cancel()
        if consumer in queue.consumers:
            queue.consumers.remove(consumer)
        queue.dispatch.forget(consumer)
        consumer.session.consumers.pop(consumer.name, None)
        self.broker.give_back(refs, ignore_delay=True)
        self.broker.touch(queue)
        if not queue.consumers and queue.purge_on_no_consumers:
            purge(self.broker, queue, None)


def position(store: AddressStore | None) -> tuple[int, int]:
    if store is None or store.current is None:
        return (-1, -1)
    return (store.current.number, store.current.count)
