"""Behaviour probes of brokers of eight releases: the same steps on the engine, every state and every page compared."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pageengine.model.outcome import DROPPED, FAILED, OperationResult
from pageengine.paging.cleanup import schedule_cleanup
from pageengine.running.engine import Engine
from pageengine.running.state import shown_paging
from pageengine.settings.profiles import Profile, profile_of
from pageengine.settings.settings import AddressFullPolicy, AddressSettings, EngineSettings, OneForAll, PageFullPolicy
from pageengine.trace.operations import (
    CloseConsumer,
    Commit,
    CreateQueue,
    MessageProperty,
    OpenConsumer,
    OpenSession,
    Receive,
    ReceiveAck,
    Restart,
    Rollback,
    RoutingType,
    Send,
    SessionKind,
    TraceHeader,
)
from pagefmt.codec.messages.values import ValueKind
from pagefmt.editions import Edition

EDITIONS = {
    "hornetq-2.3.25": Edition.HORNETQ_2_4, "hornetq-2.4.7": Edition.HORNETQ_2_4, "artemis-1.5.6": Edition.ARTEMIS_1_5,
    "2.10.1": Edition.ARTEMIS_2_10, "2.17.0": Edition.ARTEMIS_2_17, "2.28.0": Edition.ARTEMIS_2_28,
    "2.44.0": Edition.ARTEMIS_2_44, "2.56.0": Edition.ARTEMIS_2_56,
}  # fmt: skip
ADDRESS = "probe"
PLAIN_SENDS = {"page-tx": 40, "fail-tx": 30}
COMPARED = ("paging", "first_page", "current_page", "number_of_pages", "address_size", "full", "counts")
Line = dict[str, Any]


@cache
def probes(archive: Path) -> dict[str, Line]:
    """Read the outcomes in an archive, by release and scenario."""
    with tarfile.open(archive) as tar:
        found = {}
        for member in tar:
            content = tar.extractfile(member)
            assert content is not None
            found[member.name.removesuffix(".json")] = json.loads(content.read())
    return dict(sorted(found.items()))


def settings_of(probe: Line) -> EngineSettings:
    said = probe["address_setting"]

    def number(name: str, default: int | None = None) -> int | None:
        return int(said[name]) if name in said else default

    full = said.get("page-full-policy")
    return EngineSettings(
        OneForAll(
            AddressSettings(
                policy=AddressFullPolicy(said["address-full-policy"]),
                max_size_bytes=int(said["max-size-bytes"]),
                max_size_messages=number("max-size-messages", -1) or int(said.get("max-size-messages", -1)),
                page_size_bytes=int(said["page-size-bytes"]),
                page_limit_bytes=number("page-limit-bytes"),
                page_limit_messages=number("page-limit-messages"),
                page_full_policy=PageFullPolicy(full) if full else None,
            )
        ),
        global_max_size=int(probe["core_setting"].get("global-max-size", 1 << 40)),
    )


@dataclass
class Run:
    """One probe on the engine."""

    probe: Line
    profile: Profile
    steps: int = 0
    different: list[str] = field(default_factory=list)
    i: int = 0

    def __post_init__(self) -> None:
        window = self.probe["producer_window"] or 65536
        header = TraceHeader("probe", seq_property="", producer_window=window, min_large_message_size=200000)
        self.engine = Engine(settings_of(self.probe), self.profile, header, check=True)
        self.plain = PLAIN_SENDS.get(self.probe["scenario"], 1 << 30)
        self.sent = 0
        self.queues = self.probe["queues"]
        self.snapshots = {snapshot["after_step"]: snapshot for snapshot in self.probe["snapshots"]}
        self.blocked = False
        self.acked: list[int] = []

    def apply(self, kind: Any, *values: Any, **named: Any) -> OperationResult:
        self.i += 1
        return self.engine.apply(kind(*values, i=self.i, t=self.i * 1_000_000, **named))

    def go(self) -> None:
        routing = RoutingType.MULTICAST if len(self.queues) > 1 else RoutingType.ANYCAST
        for queue in self.queues:
            self.apply(CreateQueue, queue, ADDRESS, routing=routing)
        self.apply(OpenSession, "t", SessionKind.LOCAL)
        for step in self.probe["steps"]:
            self.steps += 1
            for wrong in [*self._act(step), *self._state(step), *self._pages(step)]:
                self.different.append(f"step {step['step']} {step['op']}: {wrong}")

    def _act(self, step: Line) -> Iterator[str]:
        match step["op"]:
            case "send":
                yield from self._send(step)
            case "ack":
                yield from self._ack(step)
            case "ack-all" | "ack-some":
                yield from self._ack_many(step)
            case "settle":
                self._close()
                schedule_cleanup(self.engine.broker.stores[ADDRESS])
                self.engine.broker.schedule.settle()
            case "commit":
                result = self.apply(Commit, "t")
                said = "exception" if step.get("result") == "exception" else "ok"
                if said != ("exception" if result.r == FAILED else "ok"):
                    yield f"broker {said}, engine {result.r}"
            case "rollback":
                self.apply(Rollback, "t")
            case "restart":
                self.apply(Restart)

    def _send(self, step: Line) -> Iterator[str]:
        self._close()
        self.sent += 1
        session = "t" if self.sent > self.plain else "s"
        seq = MessageProperty("seq", ValueKind.INT, step["seq"])
        result = self.apply(
            Send, ADDRESS, step["seq"], session, size=step["body"], durable=step["durable"], props=(seq,)
        )
        verdict = result.verdict
        ours = "blocked" if result.r == "blocked" else "ok"
        if result.r == FAILED and not verdict.silent:
            ours = "exception"
        self.blocked = ours == "blocked"
        if ours != step["result"]:
            yield f"seq {step['seq']}: broker {step['result']}, engine {result.r}"
        assert result.r != DROPPED or step["result"] == "ok"

    def _received(self, queue: str, most: int) -> tuple[list[int], OperationResult]:
        name = f"c-{queue}"
        if name not in self.engine.consumers:
            self.apply(OpenConsumer, name, queue, f"s-{queue}", window=1 << 20)
        result = self.apply(Receive, name, most, ReceiveAck.EACH)
        return result.got or [], result

    def _ack(self, step: Line) -> Iterator[str]:
        got, result = self._received(step["queue"], 1)
        self.acked += got
        if got != [step["seq"]]:
            yield f"broker delivers {step['seq']}, engine {got}"
        if "send_returned" in step and step["send_returned"] != bool(result.released):
            yield f"send returned: broker {step['send_returned']}, engine {bool(result.released)}"

    def _ack_many(self, step: Line) -> Iterator[str]:
        """Yield a difference if the engine did not deliver the messages that the step acknowledges.

        Up to 150 messages have steps of their own, which this step only sums up.
        """
        one_by_one = self.acked
        self._close()
        if not one_by_one:
            one_by_one, _ = self._received(self.queues[0], 151)
            self._close()
        if one_by_one != step["seq"]:
            yield f"broker delivers {step['seq']}, engine {one_by_one}"

    def _close(self) -> None:
        self.acked = []
        for name in list(self.engine.consumers):
            self.apply(CloseConsumer, name)

    def _state(self, step: Line) -> Iterator[str]:
        broker = self.engine.broker
        store = broker.stores[ADDRESS]
        gates = store.gates
        flag = gates.full or broker.limits.global_full
        ours: Line = {
            "paging": store.paging if gates.policy is AddressFullPolicy.PAGE else shown_paging(store, LEGACY_VIEW),
            "first_page": store.first_page,
            "current_page": store.current_id,
            "number_of_pages": store.number_of_pages,
            "address_size": store.metric.size,
            "full": flag,
            "counts": {name: broker.queues[name].message_count for name in self.queues},
        }
        for name in COMPARED:
            if name in step and step[name] != ours[name]:
                yield f"{name}: broker {step[name]}, engine {ours[name]}"

    def _pages(self, step: Line) -> Iterator[str]:
        snapshot = self.snapshots.get(step["step"])
        if snapshot is None:
            return
        store = self.engine.broker.stores[ADDRESS]
        theirs = [
            (page["page"], page["size"], [(r["seq"], r["length"], r["tx"] >= 0) for r in page["records"]])
            for page in snapshot["pages"]
        ]
        ours = [
            (number, page.bytes, [(r.message.seq, r.size, r.tx >= 0) for r in page.records])
            for number, page in sorted(store.pages.items())
        ]
        if theirs != ours:
            first = next(((a, b) for a, b in zip(theirs, ours, strict=False) if a != b), (len(theirs), len(ours)))
            yield f"pages: broker {str(first[0])[:200]}, engine {str(first[1])[:200]}"


LEGACY_VIEW = profile_of(Edition.ARTEMIS_2_28)
