"""The base and resource audit logs: consumers, sessions, and operators' actions (docs/spec/trace-format.md 3.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pageengine.log_import.audit_messages import MessageAudit
from pageengine.log_import.records import LogRecord
from pageengine.log_import.traffic import FOREIGN_CONNECTION, LogFacts, TraceBuilder
from pageengine.trace import operations as ops

CONSUMER, SESSION, BLOCK, UNBLOCK, PURGE = 601265, 601267, 601754, 601755, 601196
_CONSUMER = re.compile(
    r"User (?P<user>.+?) is creating a core consumer on target resource ServerSessionImpl\(name=(?P<session>[^,)]*)"
    r".* with parameters: \[(?P<id>\d+), (?P<queue>[^,]*), (?P<filter>.*), -?\d+, (?P<browse>true|false), "
    r"(?:true|false), \S+\]$",
    re.DOTALL,
)
_SESSION = re.compile(r" with parameters: \[[^,]+, .{0,1000}?, \*{4}, (\d+), ")
_ADDRESS = re.compile(r"Address \[name=(.{0,1000}?), ")
_QUEUE = re.compile(r"QueueImpl\[name=(.{0,1000}?), postOffice=")
_PARAMETERS = re.compile(r" with parameters: \[\d+, (.*)\]$", re.DOTALL)
_PAUSE = re.compile(r"User .+? is (pausing|resuming)\b")


def survey(record: LogRecord, facts: LogFacts) -> None:
    """Note the clients' limit for large messages, in the first pass."""
    if record.code == SESSION:
        session = _SESSION.search(record.text)
        if session is not None and not FOREIGN_CONNECTION.search(record.text):
            facts.min_large = int(session[1])


@dataclass(slots=True)
class ActionAudit:
    """Second pass over the action logs. ``messages`` gets the consumers if traffic comes from the message audit log."""

    traffic: TraceBuilder
    messages: MessageAudit | None

    def record(self, record: LogRecord) -> None:
        """Add the operations of one log record."""
        if record.code == CONSUMER:
            if self.messages is not None:
                self._consumer(record.text, self.messages)
        elif record.code == PURGE:
            self._purge(record.text)
        elif record.code in (BLOCK, UNBLOCK):
            address = _ADDRESS.search(record.text)
            if address is not None:
                self.traffic.add(ops.BlockAddress if record.code == BLOCK else ops.UnblockAddress, address[1])
        else:
            self._pause(record.text)

    def _consumer(self, text: str, messages: MessageAudit) -> None:
        match = _CONSUMER.match(text)
        if match is None:
            self.traffic.unknown["a consumer that cannot be read"] += 1
            return
        user, queue, session = match["user"], match["queue"], match["session"]
        selector = None if match["filter"] == "null" else match["filter"]
        if match["browse"] == "true":
            self.traffic.add(ops.Browse, queue, selector, None, session)
            messages.consumers[user, queue] = None
        else:
            name = f"{session}/{match['id']}"
            messages.consumers[user, queue] = self.traffic.open_consumer(name, queue, session, selector)

    def _purge(self, text: str) -> None:
        queue, parameters = _QUEUE.search(text), _PARAMETERS.search(text)
        if queue is not None:
            selector = parameters[1] if parameters and parameters[1] != "null" else None
            self.traffic.add(ops.Purge, queue[1], selector)

    def _pause(self, text: str) -> None:
        action = _PAUSE.match(text)
        queue = _QUEUE.search(text) if action is not None else None
        if action is not None and queue is not None:
            self.traffic.add(ops.PauseQueue if action[1] == "pausing" else ops.ResumeQueue, queue[1])
