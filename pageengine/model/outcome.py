"""What the broker decided: results of operations and their JSON (docs/spec/trace-format.md 2).

The engine makes these; an outcome writer prints ``as_json()`` of each on a line of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
MALFORMED = "malformed"

BESIDES = ("got", "redelivered", "count", "vote", "accepted", "abandoned", "detail")
"""Keys of operations other than sends."""

FieldValue = bool | int | list[int]
Part = dict[str, FieldValue]
"""The fields of one address, queue or of the broker as a whole."""
PartChange = dict[str, FieldValue | None]
StateChange = dict[str, PartChange | None]
"""By ``a:ADDRESS``, ``q:QUEUE`` and ``g``: changed fields, or None where the part or the field no longer exists."""
State = dict[str, Part]


@dataclass(slots=True)
class Decision:
    """How the broker decided on a send: in its own line, or later, when an operation released a blocked one."""

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

    def as_json(self) -> dict[str, Any]:
        """The keys of an operation line that say what became of a send."""
        line: dict[str, Any] = {"r": self.r}
        if self.page is not None:
            line["page"] = self.page
        if self.nr is not None:
            line["nr"] = self.nr
        if self.why is not None:
            line["why"] = self.why
        if self.status is not None:
            line["status"] = self.status
        if self.error is not None:
            line["error"] = self.error
        if self.reached_broker is not None:
            line["reached_broker"] = self.reached_broker
        if self.silent:
            line["silent"] = True
        if self.mem is not None:
            line["mem"] = self.mem
        if self.enc is not None:
            line["enc"] = self.enc
        if self.large:
            line["large"] = True
        return line


@dataclass(slots=True)
class Released:
    """An earlier blocked send, number ``i``, that ended with this operation."""

    i: int
    verdict: Decision

    def as_json(self) -> dict[str, Any]:
        """One element of the key ``released``."""
        return {"i": self.i, **self.verdict.as_json()}


@dataclass(slots=True)
class OperationResult:
    """One line of an outcome. ``op`` is None for a line that was not an operation at all (malformed)."""

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
    detail: str | None = None
    state: StateChange = field(default_factory=dict)

    @property
    def r(self) -> str:
        """What became of the operation, in one word."""
        return self.verdict.r

    def as_json(self) -> dict[str, Any]:
        """The operation line."""
        line: dict[str, Any] = {"i": self.i, "op": self.op, **self.verdict.as_json()}
        if self.op != "send":
            for name in BESIDES:
                value = getattr(self, name)
                if value is not None:
                    line[name] = value
        if self.released:
            line["released"] = [one.as_json() for one in self.released]
        if self.state:
            line["state"] = self.state
        return line


def unsupported(i: int, op: str) -> OperationResult:
    """An operation of a name that this version does not know: not applied."""
    return OperationResult(i, op, Decision(UNSUPPORTED))


def malformed(i: int, detail: str) -> OperationResult:
    """A line that is no operation, passed over on request."""
    return OperationResult(i, None, Decision(MALFORMED), detail=detail)


@dataclass(frozen=True, slots=True)
class OutcomeHeader:
    """First line. ``broker`` is the release of the profile; ``transport`` is ``engine`` for an engine's outcome."""

    broker: str
    name: str
    state: State
    transport: str = "engine"

    def as_json(self) -> dict[str, Any]:
        """The header line."""
        return {
            "outcome": OUTCOME_VERSION,
            "broker": self.broker,
            "transport": self.transport,
            "name": self.name,
            "state": self.state,
        }


class RecordFiled(NamedTuple):
    """A record of a page at the end: seq (None without a seq property), payload bytes, in a transaction, queues."""

    seq: int | None
    size: int
    in_tx: bool
    queues: tuple[str, ...]

    def as_json(self) -> list[Any]:
        """One element of the key ``records``."""
        return [self.seq, self.size, self.in_tx, list(self.queues)]


@dataclass(frozen=True, slots=True)
class PageFiled:
    """A page file at the end: its number, its bytes and its records in order."""

    page: int
    bytes: int
    records: tuple[RecordFiled, ...]

    def as_json(self) -> dict[str, Any]:
        """One element of the key ``page_files``."""
        return {"page": self.page, "bytes": self.bytes, "records": [one.as_json() for one in self.records]}


@dataclass(frozen=True, slots=True)
class OutcomeEnd:
    """Last line: the complete state and what lies in the page files."""

    ops: int
    never_sent: tuple[int, ...]
    page_files: dict[str, tuple[PageFiled, ...]]
    state: State

    def as_json(self) -> dict[str, Any]:
        """The end line."""
        files = {address: [page.as_json() for page in pages] for address, pages in self.page_files.items()}
        return {
            "end": True,
            "ops": self.ops,
            "never_sent": list(self.never_sent),
            "page_files": files,
            "state": self.state,
        }
