"""A trace out of a history: what clients did, as far as a broker's journal tells it (docs/spec/trace-format.md 3.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from pageengine.history_import.events import EventKind, RecordedTraffic, traffic_of
from pageengine.history_import.past_sends import PastSends
from pageengine.history_import.sent_message import SentMessage
from pageengine.trace import operations as ops
from pageengine.trace.operations import NS_PER_MS, ClientProtocol, Operation, SessionKind, TraceHeader
from pageengine.trace.writing import write_trace
from pagefmt.arrays import Ints
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.directory.bindings import QueueBinding
from pagefmt.directory.locate import DataLocation
from pagefmt.history.history import History
from pagefmt.journal.record_types import RecordType

NEVER_IN_JOURNALS: Final = (
    "bodies (only their sizes count)",
    "messages that are not durable and were not paged",
    "messages of queues that are not durable",
    "sends that were refused, dropped or blocked",
    "deliveries, browsers, windows and selectors of consumers (each acknowledgement became a receive)",
    "the times of acknowledgements (they lie between those of sends)",
    "settings, and restarts of the broker",
)
_DEFAULT_MIN_LARGE: Final = 102400  # bytes, of the core client
_LENGTH_FIELD: Final = 4  # bytes before a body that count for what is large
_MOST_RECEIVED: Final = 1000  # messages in one operation
_AT_ONCE: Final = 4096  # events whose columns become lists together


@dataclass(slots=True)
class HistoryImport:
    """Counts of what was made. ``unknown``: what could not be known, and how often.

    ``source``: ``history`` with a retention folder, else ``journal``. ``left_out``: sends that the history shows and
    the trace lacks.
    """

    source: str
    operations: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    left_out: int = 0


def import_history(
    history: History,
    place: DataLocation,
    large: LargeMessages,
    trace: Path,
    *,
    name: str,
    source: str,
    advance: Callable[[int], None] = lambda _events: None,
) -> HistoryImport:
    """Write the trace that a history amounts to.

    Args:
        history: The history.
        place: The directories of the broker that it was loaded from.
        large: Bodies of large messages, in the history or in the directory.
        trace: File to write.
        name: Name of the trace.
        source: What it comes from, for the header.
        advance: Takes the number of events done, a thousand or so at a time.

    Raises:
        PageEngineError: The trace cannot be written.
        NotReadable: A file cannot be read again.
    """
    report = HistoryImport(source)
    stored = PastSends(history, place, large)
    traffic = traffic_of(history)
    building = _Building(history, traffic, stored, report)
    header = TraceHeader(
        name,
        start_ns=building.start_ns,
        source=source,
        seq_property="",
        producer_window=1,
        min_large_message_size=_min_large(history, stored),
        unknown=NEVER_IN_JOURNALS,
    )
    write_trace(trace, header, building.operations(advance))
    return report


def event_count(history: History) -> int:
    """Return about how many events an import of a history goes through."""
    return len(history.messages.ids) + len(history.messages.queue)


def _min_large(history: History, stored: PastSends) -> int:
    """Return from which size on the clients sent large messages: the usual one if that explains what is stored."""
    columns, rows = history.records.columns, history.messages.row
    held = rows[rows >= 0]
    small = held[columns.types.at(held) != RecordType.ADD_LARGE_MESSAGE]
    largest = int(columns.sizes.at(small).max(initial=0))
    smallest = min((size for size in stored.large_core_sizes()), default=None)
    limit = max(_DEFAULT_MIN_LARGE, largest)
    return limit if smallest is None else max(min(limit, smallest + _LENGTH_FIELD - 1), 1)


class _Building:
    """Operations out of events, one after the other."""

    def __init__(self, history: History, traffic: RecordedTraffic, stored: PastSends, report: HistoryImport) -> None:
        self.history, self.traffic, self.stored, self.report = history, traffic, stored, report
        self.clock = _Clock(history)
        sends = traffic.events.subject[traffic.events.kind == EventKind.SEND]
        self.messages = stored.in_order(sends)
        self._seq_of: dict[int, int] = {}  # by the number of a message
        self._queue_names = {queue.name for queue in history.queues.queues.values()}
        self._queues: dict[int, QueueBinding] = dict(history.queues.queues)
        self._names: dict[int, str] = {number: queue.name for number, queue in self._queues.items()}
        self._consumed: set[int] = set()
        self._sessions: dict[str, SessionKind] = {}
        self._in: dict[int, str] = {}  # session by transaction
        self._free: dict[SessionKind, list[str]] = {SessionKind.LOCAL: [], SessionKind.XA: []}
        self._ready: list[Operation] = []
        # of protocols that a trace has no transactions of, by transaction
        self._until_commit: dict[int, list[tuple[int, SentMessage]]] = {}
        self._received: tuple[int, list[int]] | None = None
        self._i = self._next_seq = 0
        for what, times in (
            ("message that an acknowledgement in pages was of (assumed: the oldest)", traffic.assumed),
            ("when a message that is gone was acknowledged (assumed: at once)", traffic.without_time),
            ("message that a last-value or ring queue replaced (a replay does so, too)", traffic.replaced),
            ("acknowledgement of a message that no file has", len(history.messages.unmatched.queue) - traffic.assumed),
        ):
            if times > 0:
                report.unknown[what] += times
        self.start_ns = self.clock.start(stored, sends)

    def operations(self, advance: Callable[[int], None]) -> Iterator[Operation]:
        """Yield the operations, numbered and in order; the report is complete after the last one."""
        steps = {
            EventKind.DELETE_QUEUE: self._delete_queue,
            EventKind.CREATE_QUEUE: self._create_queue,
            EventKind.SEND: self._send,
            EventKind.PREPARE: self._prepare,
            EventKind.ACKNOWLEDGE: self._acknowledge,
            EventKind.COMMIT: self._commit,
            EventKind.ROLLBACK: self._roll_back,
        }
        events = self.traffic.events
        for start in range(0, len(events.kind), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            kinds, subjects = events.kind[some].tolist(), events.subject[some].tolist()
            for kind, subject, file in zip(kinds, subjects, self.clock.files_of(events.row[some]), strict=True):
                self.clock.reach(file)
                steps[kind](subject)
                yield from self._ready
                self._ready.clear()
            advance(len(kinds))
        self._flush()
        yield from self._ready

    def _add(self, operation: Operation) -> None:
        self._flush()
        self._emit(operation)

    def _emit(self, operation: Operation) -> None:
        operation.t, operation.i = self.clock.t, self._i
        self._i += 1
        self.report.operations[operation.op] += 1
        self._ready.append(operation)

    def _flush(self) -> None:
        """Emit the receive that is still pending."""
        if self._received is not None:
            queue, seqs = self._received
            self._received = None
            self._emit(ops.Receive(self._names[queue], len(seqs), ops.ReceiveAck.EACH, tuple(seqs)))

    def _create_queue(self, queue: int) -> None:
        binding = self._queues.get(queue)
        if binding is None:
            self._names[queue] = str(queue)
            self.report.unknown["name and settings of a queue (no binding)"] += 1
            address = self.stored.address_of_queue(queue)
            self._add(ops.CreateQueue(str(queue), address or "", note="no binding"))
            return
        most = binding.fields.get("max_consumers")
        self._add(
            ops.CreateQueue(
                binding.name,
                binding.address,
                ops.RoutingType.MULTICAST if binding.routing == "MULTICAST" else ops.RoutingType.ANYCAST,
                binding.filter or None,
                max_consumers=int(most) if most is not None else -1,
                purge_on_no_consumers=binding.flag("purge_on_no_consumers"),
                exclusive=binding.flag("exclusive"),
            )
        )

    def _delete_queue(self, queue: int) -> None:
        self._consumed.discard(queue)
        self._add(ops.DeleteQueue(self._names[queue]))

    def _send(self, number: int) -> None:
        message = self.messages.get(number)
        if message is None:
            self.report.left_out += 1
            self.report.unknown["send of a message that cannot be read"] += 1
            return
        original = self._diverted_from(message)
        if original is not None:
            self.report.unknown["copy by a divert (a replay under a configuration with the divert makes it)"] += 1
            self._seq_of[number] = self._seq(original)
            return
        self.clock.hint(message.timestamp)
        transaction = int(self.traffic.transactions.of_message[number])
        if transaction >= 0 and message.protocol is not ClientProtocol.CORE:
            self._until_commit.setdefault(transaction, []).append((number, message))
        else:
            session = self._session_of(transaction) if transaction >= 0 else self._plain_session(message)
            self._add_send(number, message, session)

    def _add_send(self, number: int, message: SentMessage, session: str) -> None:
        if message.lacks is not None:
            self.report.unknown[message.lacks] += 1
        self._add(self._as_send(number, self._seq(number), session, message))

    def _seq(self, number: int) -> int:
        """Return the number of a message in the trace. That of a divert's original may be wanted before its send."""
        seq = self._seq_of.get(number)
        if seq is None:
            seq = self._seq_of[number] = self._next_seq
            self._next_seq += 1
        return seq

    def _diverted_from(self, message: SentMessage) -> int | None:
        """Return the number of the original of a copy that a divert made; None: it is none, or the original is gone.

        Other copies name the queue of their original.
        """
        origin = message.origin
        if origin is None or origin.queue is None or origin.queue in self._queue_names:
            return None
        ids = self.history.messages.ids
        at = int(np.searchsorted(ids, origin.message))
        return at if at < len(ids) and ids[at] == origin.message else None

    def _as_send(self, number: int, seq: int, session: str, message: SentMessage) -> ops.Send:
        expire_ms = 0
        if message.expiration and not self.stored.is_expired(number):
            expire_ms = max(message.expiration - self.clock.now // NS_PER_MS, 1)
        return ops.Send(
            message.address,
            seq,
            session,
            size=message.size,
            durable=message.durable,
            priority=message.priority,
            expire_ms=expire_ms,
            props=message.props,
        )

    def _plain_session(self, message: SentMessage) -> str:
        """Return the session of an address and protocol outside of transactions, opened if that is needed."""
        name = f"{message.protocol.value}:{message.address}"
        if name not in self._sessions:
            self._sessions[name] = SessionKind.AUTO
            if message.protocol is not ClientProtocol.CORE:
                self._add(ops.OpenSession(name, SessionKind.AUTO, message.protocol, message.client))
        return name

    def _session_of(self, transaction: int) -> str:
        """Return the session that a transaction runs in; those whose transactions have ended are used again."""
        session = self._in.get(transaction)
        if session is not None:
            return session
        kind = SessionKind.XA if self.traffic.transactions.is_branch[transaction] else SessionKind.LOCAL
        free = self._free[kind]
        if free:
            session = free.pop()
        else:
            session = f"{kind.value}-{sum(other is kind for other in self._sessions.values()) + 1}"
            self._sessions[session] = kind
            self._add(ops.OpenSession(session, kind))
        self._in[transaction] = session
        if kind is SessionKind.XA:
            self._add(ops.Begin(session, _xid(transaction)))
        return session

    def _prepare(self, transaction: int) -> None:
        session = self._in.get(transaction)
        if session is not None:
            self._add(ops.Prepare(session, _xid(transaction)))

    def _commit(self, transaction: int) -> None:
        for number, message in self._until_commit.pop(transaction, ()):
            self.report.unknown["send in a transaction of another protocol than core (sent at the commit)"] += 1
            self._add_send(number, message, self._plain_session(message))
        self._end(transaction, ops.Commit)

    def _roll_back(self, transaction: int) -> None:
        sends = len(self._until_commit.pop(transaction, ()))
        if sends:
            self.report.unknown["send of another protocol than core that was rolled back (not sent)"] += sends
        self._end(transaction, ops.Rollback)

    def _end(self, transaction: int, kind: type[ops.Commit | ops.Rollback]) -> None:
        session = self._in.pop(transaction, None)
        if session is not None:
            branch = self._sessions[session] is SessionKind.XA
            self._add(kind(session, _xid(transaction) if branch else None))
            self._free[self._sessions[session]].append(session)

    def _acknowledge(self, reference: int) -> None:
        messages = self.history.messages
        queue = int(messages.queue[reference])
        seq = self._seq_of.get(int(self.stored.owner[reference]))
        if seq is None:
            return
        if queue not in self._consumed:
            self._consumed.add(queue)
            self._add(ops.OpenConsumer(self._names[queue], self._names[queue]))
        if self._received is not None and (self._received[0] != queue or len(self._received[1]) == _MOST_RECEIVED):
            self._flush()
        if self._received is None:
            self._received = (queue, [])
        self._received[1].append(seq)


def _xid(transaction: int) -> str:
    return f"branch-{transaction}"


class _Clock:
    """The time of the trace: that of the messages' own timestamps, within the times of the files with the records.

    It never goes back. ``now`` is in ns since 1970, ``t`` in ns since the first operation.
    """

    def __init__(self, history: History) -> None:
        self._records = history.records
        self._bounds = [(_ns(bracket.not_before), _ns(bracket.not_after)) for bracket in history.records.brackets]
        self._begins = np.array(history.records.columns.begins, np.int64)
        self._latest: int | None = None
        self._start: int | None = None
        self.now = 0

    def start(self, stored: PastSends, sends: Ints) -> int | None:
        """Set and return the time at which the trace begins: the first that is known, None if none is."""
        messages = stored.in_order(sends)
        for number in sends.tolist():
            message = messages.get(number)
            self.reach(self.files_of(stored.row(np.array([number])))[0])
            if message is not None:
                self.hint(message.timestamp)
            if self.now:
                self._start = self.now
                break
        return self._start

    @property
    def t(self) -> int:
        """Return the time since the first operation in ns."""
        return max(self.now - (self._start or 0), 0)

    def files_of(self, rows: Ints) -> list[int]:
        """Return the index of the file of each row, -1 for a row of -1."""
        files: list[int] = (np.searchsorted(self._begins, rows, "right") - 1).tolist()
        return files

    def reach(self, file: int) -> None:
        """Take the bounds of a file, -1 for none."""
        self._latest = None
        if file >= 0:
            earliest, self._latest = self._bounds[file]
            if earliest is not None:
                self.now = max(self.now, earliest)

    def hint(self, timestamp: int) -> None:
        """Take the timestamp of a message, in ms, 0 for none."""
        if timestamp > 0:
            wanted = timestamp * NS_PER_MS
            self.now = max(self.now, wanted if self._latest is None else min(wanted, self._latest))


def _ns(moment: object) -> int | None:
    timestamp = getattr(moment, "timestamp", None)
    return None if timestamp is None else int(timestamp() * 1000) * NS_PER_MS
