"""The message audit log, ``org.apache.activemq.audit.message`` (docs/spec/trace-format.md 3.1).

It has sends, deliveries and acknowledgements with user and message, but neither sessions nor consumers: a consumer is a
user and a queue, a session is a user, and what happened in a transaction of a consumer is replayed at the time it took
effect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pageengine.log_import.messages import LoggedTransaction, find_message, find_transaction
from pageengine.log_import.records import LogRecord
from pageengine.log_import.traffic import LogFacts, LoggedConsumer, TraceBuilder

SENT, CONSUMING, ACKNOWLEDGED, SENT_IN_TRANSACTION, ROLLED_BACK = 601500, 601501, 601502, 601760, 601761
CODES = frozenset({SENT, CONSUMING, ACKNOWLEDGED, 601759, SENT_IN_TRANSACTION, ROLLED_BACK})
INTERNAL = "system@internal"
UNREADABLE = "a send that cannot be read"
_SENT = re.compile(r"User (.+?) (?:sent|is sending) a message ")
_OLD_SENT = re.compile(r"User .+? is sending a core message on target resource")
_ADDED = re.compile(r"User (.+?) added a message send for: ")
_CONSUMING = re.compile(r"User (.+?) is consuming a message from ([^:]*?)(: |$)")
_ACKNOWLEDGED = re.compile(r"User (.+?) acknowledged message from (.*?): ")
QUEUE_LINE = re.compile(
    r"- queueID=\d+ address:(.{0,1000}?) name:(.{0,1000}?) filter:(?:null|FilterImpl \[sfilterString=(.*)\])$"
)


def survey(record: LogRecord, facts: LogFacts) -> None:
    """Note queues and the size of the smallest large message, in the first pass."""
    if record.code == SENT:
        note_queues(record.text, facts)
    elif record.code == CONSUMING:
        delivery = _CONSUMING.match(record.text)
        message = find_message(record.text) if delivery else None
        if delivery and message is not None:
            facts.queue(delivery[2], message.address)
    if record.code in (SENT, SENT_IN_TRANSACTION):
        message = find_message(record.text)
        user = (_SENT if record.code == SENT else _ADDED).match(record.text)
        if message is not None:
            facts.described.add(message.id)
            facts.saw_large(message)
            if user is not None:
                facts.saw_client(user[1], message)


def note_queues(text: str, facts: LogFacts) -> None:
    """Note the queues listed in a routing context, which is printed on several lines."""
    durable = True
    for line in text.split("\n"):
        if line.startswith("***** "):
            durable = not line.startswith("***** non durable")
            continue
        match = QUEUE_LINE.match(line)
        if match is not None:
            queue = facts.queue(match[2], match[1])
            queue.durable, queue.filter = durable, match[3]


@dataclass(slots=True)
class MessageAudit:
    """Second pass over the message audit log.

    ``consumers``: the newest consumer of a user on a queue, None while it is a browser.
    """

    traffic: TraceBuilder
    consumers: dict[tuple[str, str], LoggedConsumer | None] = field(default_factory=dict)

    def record(self, record: LogRecord) -> None:
        """Add the operations of one log record."""
        if record.code == SENT:
            self._sent(record.text)
        elif record.code == SENT_IN_TRANSACTION:
            self._sent_in_transaction(record.text)
        elif record.code == ROLLED_BACK:
            transaction = find_transaction(record.text)
            if transaction is not None:
                self.traffic.rollback(transaction)
        elif record.code == CONSUMING:
            self._consuming(record.text)
        elif record.code == ACKNOWLEDGED:
            self._acknowledged(record.text)

    def _sent(self, text: str) -> None:
        user, message = _SENT.match(text), find_message(text)
        if user is None or message is None:
            kind = (
                "content of a send (this edition logs none)" if _OLD_SENT.match(text) else "a send that cannot be read"
            )
            self.traffic.leave_out_send(kind)
            return
        transaction = find_transaction(text[text.rfind(", transaction: ") :])
        if message.id not in self.traffic.seqs:
            self.traffic.send(user[1], message)
        if transaction is not None:
            self.traffic.commit(transaction)

    def _sent_in_transaction(self, text: str) -> None:
        user, message = _ADDED.match(text), find_message(text)
        transaction = find_transaction(text[text.rfind(" to transaction: ") :])
        if user is None or message is None or transaction is None:
            self.traffic.leave_out_send(UNREADABLE)
            return
        session = self.traffic.join(transaction, self._free_session(user[1], transaction))
        self.traffic.send(session, message, transaction)

    def _free_session(self, user: str, transaction: LoggedTransaction) -> str:
        """Return a session of this user without an open transaction, because the log does not name it."""
        busy, n = set(self.traffic.transactions.values()), 1
        while (name := f"{user}/{'xa' if transaction.xid else 'tx'}{n}") in busy:
            n += 1
        if user in self.traffic.facts.clients:
            self.traffic.facts.clients[name] = self.traffic.facts.clients[user]
        return name

    def _consuming(self, text: str) -> None:
        match = _CONSUMING.match(text)
        message = find_message(text)
        if match is None or message is None:
            self.traffic.unknown["message of a delivery (this edition logs none)"] += 1
            return
        user, queue = match[1], match[2]
        if user == INTERNAL:
            return
        consumer = self.consumers.get((user, queue))
        if consumer is None and (user, queue) in self.consumers:
            return
        if consumer is None or consumer.name not in self.traffic.consumers:
            name = consumer.name if consumer is not None else f"{user}/{queue}"
            consumer = self.traffic.open_consumer(name, queue, f"c-{name}", None)
            self.consumers[user, queue] = consumer
        name = consumer.name
        self.traffic.once_sent(message.id, lambda: self.traffic.deliver(name, message.id))

    def _acknowledged(self, text: str) -> None:
        match, message = _ACKNOWLEDGED.match(text), find_message(text)
        if match is None or message is None:
            return
        if match[1] == INTERNAL:
            self.traffic.unknown["removal by the broker itself (expiry, purge, deletion)"] += 1
            return
        transaction = find_transaction(text[text.rfind(", transaction: ") :])
        if transaction is not None and not transaction.own:
            self.traffic.unknown["transaction of an acknowledgement (replayed when it took effect)"] += 1
        queue = match[2]
        self.traffic.once_sent(message.id, lambda: self.traffic.acknowledge(queue, message.id))
