"""Decisions of the broker: results of operations and their JSON (docs/spec/trace-format.md 2).

The engine creates these; an outcome writer prints ``as_json()`` of each on a line of its own.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field, to_builtins

OUTCOME_VERSION = 1

OK = "ok"
QUEUED = "queued"
PAGED = "paged"
HANDLED = "handled"
DROPPED = "dropped"
UNROUTED = "unrouted"
FAILED = "failed"
BLOCKED = "blocked"
UNSUPPORTED = "unsupported"
ACCEPTED = "accepted"
SENT = "sent"
REFUSED = "refused"
CLOSED = "closed"
NOT_ROUTED = "none"
MALFORMED = "malformed"

# Keys of operations other than sends.
BESIDES = ("got", "redelivered", "count", "vote", "accepted", "abandoned", "detail")

FieldValue = bool | int | list[int]
# Fields of one address, queue or of the broker as a whole; None if the field no longer exists.
Part = dict[str, FieldValue | None]
# Changed parts by ``a:ADDRESS``, ``q:QUEUE`` and ``g``; None if the part no longer exists.
State = dict[str, Part | None]


class AddressFigures(Struct):
    """Figures of an address in an outcome; sizes in bytes. None: there is no such field now."""

    paging: bool | None = None
    full: bool | None = None
    page_full: bool | None = None
    size: int | None = None
    elements: int | None = None
    pages: int | None = None
    files: list[int] | None = None
    first: int | None = None
    cur: int | None = None
    cur_n: int | None = None
    cur_bytes: int | None = None
    blocked_by_operator: bool | None = None
    blocking: bool | None = None
    waiting: int | None = None
    rejecting: bool | None = None


class QueueFigures(Struct):
    """Figures of a queue in an outcome; sizes in bytes. None: there is no such field now."""

    n: int | None = None
    delivering: int | None = None
    mem_n: int | None = None
    mem_bytes: int | None = None
    paged_n: int | None = None
    paged_bytes: int | None = None
    consumers: int | None = None
    added: int | None = None
    acked: int | None = None
    expired: int | None = None
    killed: int | None = None
    paused: bool | None = None


class BrokerFigures(Struct):
    """Figures of the broker as a whole in an outcome; bytes and messages under the global limit."""

    size: int | None = None
    elements: int | None = None
    full: bool | None = None
    disk_full: bool | None = None
    connections: int | None = None


class StateChange(Struct):
    """Changes: (name, before, now) of each address and queue, and (before, now) of the broker.

    ``before`` None: it was not known; ``now`` None: it no longer exists.
    """

    addresses: list[tuple[str, AddressFigures | None, AddressFigures | None]]
    queues: list[tuple[str, QueueFigures | None, QueueFigures | None]]
    broker: tuple[BrokerFigures | None, BrokerFigures] | None = None

    def as_json(self) -> State:
        """Return the changed fields by part: ``a:ADDRESS``, ``q:QUEUE`` and ``g``."""
        state = {f"a:{name}": _changed(before, now) for name, before, now in self.addresses}
        for name, was, is_now in self.queues:
            state[f"q:{name}"] = _changed(was, is_now)
        if self.broker is not None:
            state["g"] = _changed(*self.broker)
        return state


def _changed(before: Struct | None, now: Struct | None) -> Part | None:
    if now is None:
        return None
    fields = ((name, getattr(before, name, None), getattr(now, name)) for name in now.__struct_fields__)
    return {name: value for name, old, value in fields if value != old}


class OutcomeLine(Struct):
    """First or last line of an outcome: its fields are the keys."""

    def as_json(self) -> dict[str, Any]:
        """Return the line as a JSON object."""
        line: dict[str, Any] = to_builtins(self)
        return line


class Decision(Struct, omit_defaults=True):
    """The broker's decision on a send: in its own line, or later, when an operation released a blocked one."""

    r: str
    page: int | None = None
    nr: int | None = None
    why: str | None = None
    status: str | None = None
    error: str | None = None
    reached_broker: bool | None = None
    silent: bool = False
    mem: int | None = None
    enc: int | None = None
    large: bool = False


class ClientDecision(Decision, omit_defaults=True):
    """Decision as a client of another protocol than core sees it (docs/spec/trace-format.md 2.1).

    ``r`` is the client's view, ``broker`` the outcome of the message: that of a core send, or ``none``.
    """

    broker: str | None = None
    credit: int | None = None
    credit_after: int | None = None
    drain_asked: bool = False
    drained: int = 0
    frame: str | None = None
    on_wire: bool | None = None
    behind: int | None = None
    reconnected: bool = False


def became(verdict: Decision) -> str:
    """Return the outcome of a message in the words for core sends, whichever protocol its client speaks."""
    if isinstance(verdict, ClientDecision) and verdict.r != BLOCKED:
        if verdict.broker is not None and verdict.broker != NOT_ROUTED:
            return verdict.broker
        return FAILED if verdict.r in (REFUSED, CLOSED) else verdict.r
    return verdict.r


class Released(Struct):
    """Earlier blocked send, number ``i``, that ended with this operation."""

    i: int
    verdict: Decision


class CrashLoss(Struct, omit_defaults=True):
    """Losses by a crash, by queue the ``seq`` of messages (docs/spec/trace-format.md 2).

    ``answered``: durable ones among them whose sender had its answer. ``incomplete``: there may be more.
    """

    lost: dict[str, list[int]] = field(default_factory=dict)
    perhaps_lost: dict[str, list[int]] = field(default_factory=dict)
    again: dict[str, list[int]] = field(default_factory=dict)
    perhaps_again: dict[str, list[int]] = field(default_factory=dict)
    answered: list[int] = field(default_factory=list)
    incomplete: bool = False


class OperationResult(Struct):
    """Line of an outcome. ``op`` is None for a line that was not an operation at all (malformed)."""

    i: int
    op: str | None
    verdict: Decision
    got: list[int] | None = None
    redelivered: list[int] | None = None
    count: int | None = None
    vote: str | None = None
    accepted: bool | None = None
    released: list[Released] | None = None
    abandoned: list[int] | None = None
    loss: CrashLoss | None = None
    detail: str | None = None
    state: StateChange | None = None

    @property
    def r(self) -> str:
        """Return the outcome of the operation in one word."""
        return self.verdict.r

    def as_json(self) -> dict[str, Any]:
        """Return the operation's line as a JSON object."""
        line = {"i": self.i, "op": self.op, **to_builtins(self.verdict)}
        if self.op != "send":
            for name in BESIDES:
                value = getattr(self, name)
                if value is not None:
                    line[name] = value
        if self.loss is not None:
            line["loss"] = to_builtins(self.loss)
        if self.released:
            line["released"] = [{"i": release.i, **to_builtins(release.verdict)} for release in self.released]
        state = self.state.as_json() if self.state is not None else None
        if state:
            line["state"] = state
        return line


def unsupported(i: int, op: str) -> OperationResult:
    """Return the result of an operation whose name this version does not know: it is not applied."""
    return OperationResult(i, op, Decision(UNSUPPORTED))


def malformed(i: int, detail: str) -> OperationResult:
    """Return the result of a line that is no operation and is skipped on request."""
    return OperationResult(i, None, Decision(MALFORMED), detail=detail)


class OutcomeHeader(OutcomeLine, tag_field="outcome", tag=OUTCOME_VERSION):
    """First line. ``broker`` is the release of the profile; ``transport`` is ``engine`` for an engine's outcome."""

    broker: str
    transport: str
    name: str
    state: State


class RecordFiled(Struct, array_like=True):
    """Record of a page at the end: seq (None without a seq property), payload bytes, in a transaction, queues."""

    seq: int | None
    size: int
    in_tx: bool
    queues: list[str]


class PageFiled(Struct):
    """Page file at the end: its number, its bytes and its records in order."""

    page: int
    bytes: int
    records: list[RecordFiled]


class OutcomeEnd(OutcomeLine):
    """Last line: the complete state and the contents of the page files."""

    end: Literal[True]
    ops: int
    never_sent: list[int]
    page_files: dict[str, list[PageFiled]]
    state: State
