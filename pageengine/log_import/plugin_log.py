"""The logging plugin's lines in ``artemis.log`` (docs/spec/trace-format.md 3.2).

At DEBUG (codes 843...) sends, sessions, consumers and transactions are nearly complete. At INFO (841...) a send is a
message id only: its message is learned from a later line that prints it. 2.6 to 2.27 word some lines differently; each
pattern accepts both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pageengine.log_import.audit_messages import note_queues
from pageengine.log_import.messages import LoggedTransaction, find_message, find_transaction
from pageengine.log_import.records import LogRecord
from pageengine.log_import.traffic import FOREIGN_CONNECTION, KnownQueue, LogFacts, TraceBuilder
from pageengine.trace import operations as ops
from pageengine.trace.operations import RoutingType, SessionKind

SENT, SENT_DETAILS = 841009, 843009
MAIN = "main"
# Every pattern is held against the start of a text, or has bounded parts: no text makes one run away.
_SESSION_NAME = re.compile(r"[\w ]{0,60}name: (\S{1,400}), username: ")
_MIN_LARGE = re.compile(r"minLargeMessageSize: (-?\d+), ")
_AUTO_COMMIT = re.compile(r"autoCommitSends: (\w+), autoCommitAcks: (\w+), preAcknowledge: \w+, xa: (\w+)")
_SESSION_CREATED = re.compile(r"created session name: ([^,\s]+)")
_SESSION_CLOSED = re.compile(r"closed session with session name: ([^,\s]+)")
_CONSUMER_NUMBER = re.compile(r"[\w ]{0,60}ConsumerID: (\d+), ")
_CONSUMER_CREATED = re.compile(r"created consumer with ID: (\d+), with session name: (\S+)")
_CONSUMER_CLOSED = re.compile(r"closed consumer ID: (\d+), with\s+consumer Session: ([^,\s]+)")
_QUEUE = re.compile(r"QueueImpl\[name=(.{0,1000}?), postOffice=")
_QUEUE_DETAILS = re.compile(
    r"(?:id=[^,]{0,40}, )?name=(?P<name>.{0,1000}?), address=(?P<address>.{0,1000}?), routingType=(?P<routing>\w+), "
    r"filterString="
)
_SENT = re.compile(r"(?:sent message with ID|error sending message with ID): (\d+)(?:, session name: ([^,\s]+))?")
_SENT_SESSION = re.compile(r", session(?: name)?: ([^,\s(]+)(?: with tx:|, connection)")
_DELIVERED = re.compile(
    r"[\w ]{0,60}message ID: (\d+),? to consumer on address: (.{0,1000}?), queue: (.{0,1000}?), "
    r"consumer sessionID: (\S+), consumerID: (\d+)"
)
_ACKNOWLEDGED = re.compile(
    r"messageAcknowledged ID: (\d+), sessionID: (\S+), consumerID: (\S+), queue: (.{0,1000}?), tra"
)
_REASON = re.compile(r"ackReason: (\w+)")
_OLD_ACK = re.compile(r"acknowledged message ID: (\d+), .{0,2000}?QueueName: (.{0,1000}?),\s+with ackReason: (\w+)")


def survey(record: LogRecord, facts: LogFacts) -> None:
    """Note queues, and the messages that INFO lines name by id only, in the first pass."""
    code, text = record.code, record.text
    if code == 843000:
        match = _MIN_LARGE.search(text)
        if match is not None and not FOREIGN_CONNECTION.search(text):
            facts.min_large = int(match[1])
    elif code == 843006:
        _survey_queue(text, facts)
    elif code == 843011:
        note_queues(text, facts)
    elif code == 841007:
        name = _QUEUE.search(text)
        if name is not None:
            facts.queue(name[1], name[1]).created = True
    elif code == 841012:
        delivered = _DELIVERED.match(text)
        if delivered is not None:
            facts.delivered_from.setdefault(int(delivered[1]), delivered[2])
            queue = facts.queue(delivered[3], delivered[2])
            queue.address = delivered[2]
    elif code in (841013, 841014, SENT_DETAILS):
        message = find_message(text)
        if message is not None:
            facts.saw_large(message)
            if code == SENT_DETAILS:
                facts.described.add(message.id)
                match = _SENT_SESSION.search(text)
                session = match[1] if match is not None else MAIN
                facts.saw_client(session, message)
                if _sent_in(text) is None:
                    facts.alone.add(session)
            else:
                facts.messages.setdefault(message.id, message)


def _survey_queue(text: str, facts: LogFacts) -> None:
    match = _QUEUE_DETAILS.match(text, text.find("[") + 1)
    if match is None:
        return
    end = text.find(", durable=", match.end())
    selector = text[match.end() : end if end >= 0 else len(text)]
    facts.queues[match["name"]] = KnownQueue(
        match["name"],
        match["name"] if match["address"] == "null" else match["address"],
        RoutingType.MULTICAST if match["routing"] == "MULTICAST" else RoutingType.ANYCAST,
        None if selector == "null" else selector,
        not text.startswith(", durable=false", end),
    )


def _sent_in(text: str) -> LoggedTransaction | None:
    """Return the client's transaction that a message was sent in, or None."""
    transaction = find_transaction(text[max(text.find("]]@"), 0) :])
    return None if transaction is None or transaction.own else transaction


@dataclass(slots=True)
class PluginLog:
    """Second pass over the plugin's lines. ``details``: DEBUG lines are present."""

    traffic: TraceBuilder
    details: bool
    kinds: dict[str, SessionKind] = field(default_factory=dict)
    # Consumers about to be created, by number; several sessions may create some at once, and the line names no session.
    announced: dict[str, list[tuple[str, str | None, bool]]] = field(default_factory=dict)
    browsers: set[str] = field(default_factory=set)
    early: set[tuple[str, int]] = field(default_factory=set)
    early_acks: set[int] = field(default_factory=set)

    def record(self, record: LogRecord) -> None:
        """Add the operations of one log record."""
        handler = _HANDLERS.get(record.code)
        if handler is not None:
            handler(self, record.text)

    def _session_details(self, text: str) -> None:
        name, settings = _SESSION_NAME.match(text), _AUTO_COMMIT.search(text)
        if name is None or settings is None:
            return
        local = "false" in (settings[1], settings[2])
        self.kinds[name[1]] = (
            SessionKind.XA if settings[3] == "true" else SessionKind.LOCAL if local else SessionKind.AUTO
        )

    def _session_created(self, text: str) -> None:
        match = _SESSION_CREATED.match(text)
        if match is not None:
            self.traffic.session(match[1], self.kinds.pop(match[1], SessionKind.AUTO))

    def _session_closed(self, text: str) -> None:
        match = _SESSION_CLOSED.match(text)
        if match is not None:
            self.traffic.close_session(match[1])

    def _consumer_details(self, text: str) -> None:
        number, queue = _CONSUMER_NUMBER.match(text), _QUEUE.search(text)
        start, end = text.find("filterString: "), text.rfind(", browseOnly: ")
        if number is None or queue is None or not 0 <= start < end:
            return
        selector = text[start + len("filterString: ") : end]
        browse = text.startswith(", browseOnly: true", end)
        named = queue[1], None if selector == "null" else selector, browse
        self.announced.setdefault(number[1], []).append(named)

    def _consumer_created(self, text: str) -> None:
        match = _CONSUMER_CREATED.match(text)
        if match is None:
            return
        session, announced = match[2], self.announced.get(match[1])
        queue, selector, browse = announced.pop(0) if announced else ("", None, False)
        if browse:
            self.browsers.add(f"{session}/{match[1]}")
            self.traffic.add(ops.Browse, queue, selector, None, session)
        elif queue:
            self.traffic.open_consumer(f"{session}/{match[1]}", queue, session, selector)

    def _consumer_closed(self, text: str) -> None:
        match = _CONSUMER_CLOSED.match(text)
        if match is not None:
            name = f"{match[2]}/{match[1]}"
            self.browsers.discard(name)
            self.traffic.close_consumer(name)

    def _queue_created(self, text: str) -> None:
        match = _QUEUE.search(text)
        queue = self.traffic.facts.queues.get(match[1]) if match is not None else None
        if queue is not None:
            self.traffic.create_queue(queue)

    def _queue_destroyed(self, text: str) -> None:
        match = _QUEUE.search(text)
        if match is not None:
            self.traffic.add(ops.DeleteQueue, match[1])

    def _sent_details(self, text: str) -> None:
        message, session = find_message(text), _SENT_SESSION.search(text)
        if message is None or message.id in self.traffic.seqs:
            return
        name = session[1] if session is not None else MAIN
        transaction = _sent_in(text)
        if transaction is not None and self.traffic.sessions.get(name) is SessionKind.AUTO:
            transaction = None
        if transaction is not None:
            name = self.traffic.join(transaction, name)
        self.traffic.send(name, message, transaction)

    def _sent(self, text: str) -> None:
        match = _SENT.match(text)
        if match is None:
            return
        transaction = find_transaction(text)
        number = int(match[1])
        if number not in self.traffic.facts.described and number not in self.traffic.seqs:
            message = self.traffic.facts.messages.get(number)
            if message is None:
                self.traffic.leave_out_send("content of a send (its message is not logged)")
                return
            if transaction is not None:
                self.traffic.unknown["transaction of a send (replayed at its commit)"] += 1
            self.traffic.send(match[2] or MAIN, message)
        if transaction is not None:
            self.traffic.commit(transaction)

    def _delivered(self, text: str) -> None:
        match = _DELIVERED.match(text)
        if match is None:
            return
        number, queue, session, name = int(match[1]), match[3], match[4], f"{match[4]}/{match[5]}"
        if name not in self.browsers:
            self.traffic.once_sent(number, lambda: self._deliver_once(name, queue, session, number))

    def _deliver_once(self, name: str, queue: str, session: str, number: int) -> None:
        if (name, number) in self.early:
            self.early.discard((name, number))
            return
        self._deliver(name, queue, session, number)
        if number in self.early_acks:
            self.early_acks.discard(number)
            self.traffic.acknowledge(queue, number)

    def _deliver(self, name: str, queue: str, session: str, number: int) -> None:
        if name not in self.traffic.consumers:
            self.traffic.open_consumer(name, queue, session, None)
        self.traffic.deliver(name, number)

    def _ack_details(self, text: str) -> None:
        match = _ACKNOWLEDGED.match(text)
        reason = _REASON.search(text, match.end()) if match is not None else None
        if match is None or reason is None:
            return
        number, session, queue = int(match[1]), match[2], match[4]
        if reason[1] != "NORMAL" or session == "UNAVAILABLE":
            if reason[1] == "KILLED":
                self.traffic.unknown["removal by the broker itself (purge, deletion)"] += 1
            return
        name, transaction = f"{session}/{match[3]}", find_transaction(text)
        self.traffic.once_sent(number, lambda: self._acknowledge(name, queue, session, number, transaction))

    def _acknowledge(
        self, name: str, queue: str, session: str, number: int, transaction: LoggedTransaction | None
    ) -> None:
        if queue not in self.traffic.holders.get(number, {}):
            self._deliver(name, queue, session, number)
            self.early.add((name, number))
        if transaction is not None and not transaction.own:
            self.traffic.join(transaction, session)
        self.traffic.acknowledge(queue, number)

    def _acknowledged(self, text: str) -> None:
        old = _OLD_ACK.match(text)
        if old is not None:
            if old[3] == "NORMAL":
                self.traffic.acknowledge(old[2], int(old[1]))
            return
        transaction = find_transaction(text[text.rfind(", with transaction: ") :])
        if self.details:
            if transaction is not None:
                self.traffic.commit(transaction)
            return
        message = find_message(text)
        queue = self.traffic.queue_of(message.id) if message is not None else None
        if message is not None and queue is not None:
            self.traffic.acknowledge(queue, message.id)
        elif message is not None:
            self.early_acks.add(message.id)

    def _rolled_back(self, text: str) -> None:
        transaction = find_transaction(text)
        if transaction is not None:
            self.traffic.rollback(transaction)


_HANDLERS = {
    843000: PluginLog._session_details,
    841002: PluginLog._session_created,
    841003: PluginLog._session_closed,
    843004: PluginLog._consumer_details,
    841005: PluginLog._consumer_created,
    841006: PluginLog._consumer_closed,
    841007: PluginLog._queue_created,
    841008: PluginLog._queue_destroyed,
    SENT_DETAILS: PluginLog._sent_details,
    843016: PluginLog._sent_details,
    SENT: PluginLog._sent,
    841012: PluginLog._delivered,
    843014: PluginLog._ack_details,
    841014: PluginLog._acknowledged,
    843018: PluginLog._rolled_back,
}
CODES = frozenset(_HANDLERS) | {843006, 843011, 841013}
