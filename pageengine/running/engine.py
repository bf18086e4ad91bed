"""Engine: operations in, the broker's decisions out.

    engine = Engine(settings, profile_of(Edition.ARTEMIS_2_56), header)
    for operation in operations:
        result = engine.apply(operation)

Source: docs/spec/trace-format.md 1.2 and 2. What an operation waits for is what the recorded outcomes of real brokers
waited for: everything that runs in the background comes to rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from pageengine.broker.broker import StoreRefused
from pageengine.broker.late_messages import aged
from pageengine.clients.run import Run
from pageengine.model.failure import OperationFailed
from pageengine.model.outcome import (
    FAILED,
    OK,
    PAGED,
    ClientDecision,
    Decision,
    OperationResult,
    OutcomeEnd,
    OutcomeHeader,
    PageFiled,
    RecordFiled,
    StateChange,
)
from pageengine.model.page import WrittenPage
from pageengine.paging.store import AddressStore
from pageengine.running.configured import configure
from pageengine.running.invariants import InvariantCheck
from pageengine.running.state import StateView, hidden
from pageengine.running.steps import STEPS
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings
from pageengine.trace.operations import Operation, Send, TraceHeader

SEND = "send"


class Engine(Run):
    """Engine that applies operations one at a time. ``check``: tests the invariants of spec 5 after each."""

    def __init__(self, settings: EngineSettings, profile: Profile, header: TraceHeader, *, check: bool = False) -> None:
        super().__init__(settings, profile, header)
        self.watch = InvariantCheck() if check else None
        self.view = StateView()
        self.operations = 0
        configure(self)
        self.broker.schedule.settle()

    def start(self) -> OutcomeHeader:
        """Return the first line of the outcome."""
        return OutcomeHeader(self.profile.release, "engine", self.header.name, self.state().as_json())

    def state(self) -> StateChange:
        """Return the complete state of the broker."""
        return self.view.everything(self.broker)

    def apply(self, op: Operation) -> OperationResult:
        """Apply one operation and run until the broker rests; what came of it and what it changed.

        Raises InvariantBroken if the engine was made to check.
        """
        self.broker.now = op.t
        if op.t >= self.broker.earliest_due:
            self.broker.release_due()
        if not self.operations:
            self.began = op.t
        if type(op) is Send:
            result = OperationResult(op.i, SEND, self._send(op))
        else:
            result = OperationResult(op.i, op.op, Decision(OK))
            try:
                STEPS[type(op)](self, op, result)
            except OperationFailed as failed:
                result.verdict = Decision(FAILED, error=failed.error)
                result.detail = failed.detail
            except StoreRefused:
                result.verdict = Decision(FAILED, error="IllegalStateException")
        broker = self.broker
        if broker.expiring:
            for queue in broker.queues.values():
                if queue.consumers:
                    broker.schedule.touch(queue)
        broker.schedule.settle()
        if broker.late:
            broker.late = aged(broker.late, op, op.t)
        if self.releases:
            self._releases(op.i, result)
        if self.wire_sessions:
            self._clients(op, result)
        result.state = self._changes() if self.parts_changed else self.view.change(broker)
        self.operations += 1
        if self.watch is not None:
            self.watch.look(self, op, result)
        return result

    def _changes(self) -> StateChange:
        if self.show_everything:
            self.view = StateView()
        self.show_everything = self.parts_changed = False
        return self.view.change_of_all(self.broker)

    def _releases(self, i: int, result: OperationResult) -> None:
        own = [release for release in self.releases if release.i == i]
        if own:
            result.verdict = own[0].verdict
        result.released = (
            sorted((release for release in self.releases if release.i != i), key=lambda release: release.i) or None
        )
        self.releases.clear()

    def _clients(self, op: Operation, result: OperationResult) -> None:
        """Let clients of other protocols than core go on, and add what they see (docs/spec/trace-format.md 2.1)."""
        own = result.verdict
        if type(op) is not Send:
            for session in self.wire_sessions.values():
                session.go_on()
            if self.releases:
                result.released = [*(result.released or ()), *self.releases]
                self.releases.clear()
            own = ClientDecision(own.r, error=own.error)
        if isinstance(own, ClientDecision):
            result.verdict = own
            seen = self.wire_sessions.get(op.session) if type(op) is Send else None
            for session in self.wire_sessions.values():
                session.shows(own, credit=seen is None or session is seen)

    def finish(self, *, pages: bool = True) -> OutcomeEnd:
        """Return the last line: the complete state and, with ``pages``, the records in the pages."""
        files = {address: list(of_store) for address, of_store in self.page_files()} if pages else {}
        return OutcomeEnd(True, self.operations, self.unfinished_sends(), files, self.state().as_json())

    def page_files(self) -> Iterator[tuple[str, Iterator[PageFiled]]]:
        """Yield the addresses that have pages, and an iterator over the page files of each."""
        for store in self.broker.stores.values():
            if store.pages and not hidden(store.address):
                yield store.address, self._pages(store)

    def _pages(self, store: AddressStore) -> Iterator[PageFiled]:
        names = {queue.id: queue.name for queue in self.broker.queues.values()}
        for number in sorted(store.pages):
            page = store.pages[number]
            yield PageFiled(number, page.bytes, list(self._filed(page, names)))

    def _filed(self, page: WrittenPage, names: dict[int, str]) -> Iterator[RecordFiled]:
        numbered = bool(self.header.seq_property)
        for record in page.records:
            queues = [names.get(id, "?") for id in record.queues]
            yield RecordFiled(record.message.seq if numbered else None, record.size, record.tx >= 0, queues)

    def _send(self, op: Send) -> Decision:
        session = self.sessions.get(op.session) or self.session(op.session)
        broker = self.broker
        try:
            store = broker.stores.get(op.address) or broker.store(op.address)
            written = store.records_written if store is not None else 0
            verdict = session.send(op)
        except StoreRefused:
            return Decision(FAILED, error="IllegalStateException", reached_broker=True)
        if verdict.r == PAGED and store is not None and store.current is not None and store.records_written > written:
            verdict.page = store.current.number
            verdict.nr = store.current.count - 1
        return verdict
