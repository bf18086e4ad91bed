"""Random traces: the invariants of docs/spec/paging-engine.md 5 hold after every operation; nothing is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any
from unittest import mock

import pytest
from generated import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pageengine.model.outcome import PAGED, QUEUED
from pageengine.model.page import PagedMessage
from pageengine.paging.cursor import PageIterator
from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import AddressFullPolicy, AddressSettings, EngineSettings, OneForAll, PageFullPolicy
from pageengine.trace.operations import (
    Ack,
    AckMode,
    BlockAddress,
    Browse,
    Checkpoint,
    ClientOptions,
    ClientProtocol,
    CloseConsumer,
    Commit,
    Crash,
    CrashKind,
    CreateAddress,
    CreateQueue,
    DeleteQueue,
    DiskFull,
    Expire,
    MessageProperty,
    OpenConsumer,
    OpenSession,
    PauseQueue,
    Purge,
    Receive,
    ReceiveAck,
    Restart,
    ResumeQueue,
    Rollback,
    RoutingType,
    Send,
    SessionKind,
    TraceHeader,
    UnblockAddress,
    Wait,
)
from pagefmt.codec.messages.values import ValueKind
from pagefmt.editions import Edition

QUEUES = ("a", "m.1", "m.2")

EDITIONS = (Edition.ARTEMIS_2_17, Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_44, Edition.ARTEMIS_2_56)

address_settings = st.builds(
    AddressSettings,
    policy=st.sampled_from([*AddressFullPolicy, AddressFullPolicy.PAGE, AddressFullPolicy.PAGE]),
    max_size_bytes=st.sampled_from([-1, 4000, 9000]),
    max_size_messages=st.sampled_from([-1, -1, 3]),
    max_size_bytes_reject_threshold=st.sampled_from([-1, -1, 3000]),
    page_size_bytes=st.sampled_from([700, 2500]),
    page_limit_bytes=st.sampled_from([None, 5000]),
    page_limit_messages=st.sampled_from([None, 4]),
    page_full_policy=st.sampled_from([None, *PageFullPolicy]),
    max_read_page_bytes=st.sampled_from([None, 1500, -1]),
    max_delivery_attempts=st.sampled_from([2, 10]),
    expiry_address=st.sampled_from([None, "a"]),
)
queue = st.sampled_from(QUEUES)
sends = st.tuples(
    st.just("send"),
    st.sampled_from(["a", "m"]),
    st.integers(0, 2600),
    st.booleans(),
    st.sampled_from([4, 4, 4, 9]),
    st.sampled_from(["p", "p", "x"]),
    st.sampled_from([0, 0, 0, 50]),
)
others = st.one_of(
    st.tuples(st.just("receive"), queue, st.integers(1, 6), st.sampled_from(list(ReceiveAck))),
    st.tuples(st.just("ack"), queue),
    st.tuples(st.just("close"), queue),
    st.tuples(st.just("browse"), queue),
    st.tuples(st.just("purge"), queue, st.sampled_from([None, "k = 1"])),
    st.tuples(st.just("pause"), queue, st.booleans()),
    st.tuples(st.sampled_from(["commit", "rollback", "restart", "crash", "expire", "wait", "full", "free", "delete"])),
    st.tuples(st.sampled_from(["block", "unblock", "kill", "power"])),
)
steps = st.lists(st.one_of(sends, sends, sends, others), max_size=60)


MS = 1_000_000
CRASHES = {"kill": {"kind": CrashKind.KILL}, "power": {"kind": CrashKind.POWER}}


class Run:
    """An engine that applies operations a millisecond apart, on two addresses with queues."""

    def __init__(
        self, chosen: AddressSettings, edition: Edition, window: int, acceptor: str = "", page_sync: int = 8 * MS
    ) -> None:
        header = TraceHeader("random", producer_window=window, min_large_message_size=2000, acceptor=acceptor)
        found = EngineSettings(OneForAll(chosen), global_max_size=14000, page_sync_timeout=page_sync)
        self.engine = Engine(found, profile_of(edition), header, check=True)
        self.t = self.i = self.seq = 0
        self.accepted: dict[int, bool] = {}
        self.apply(CreateAddress, "a", RoutingType.ANYCAST)
        self.apply(CreateAddress, "m", RoutingType.MULTICAST)
        self.apply(CreateQueue, "a", "a")
        for name in QUEUES[1:]:
            self.apply(CreateQueue, name, "m", RoutingType.MULTICAST)
        self.local()

    def local(self) -> None:
        self.apply(OpenSession, "x", SessionKind.LOCAL)

    def apply(self, kind: Any, /, *values: Any, **named: Any) -> Any:
        self.t += 1_000_000
        self.i += 1
        return self.engine.apply(kind(*values, i=self.i, t=self.t, **named))

    def step(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("send", address, size, durable, priority, session, expire):
                self.seq += 1
                prop = MessageProperty("k", ValueKind.INT, self.seq % 3)
                self.apply(
                    Send,
                    address,
                    self.seq,
                    session,
                    size=size,
                    durable=durable,
                    priority=priority,
                    expire_ms=expire,
                    props=(prop,),
                )
            case ("receive", name, most, ack):
                if f"c-{name}" not in self.engine.consumers:
                    self.apply(OpenConsumer, f"c-{name}", name, "x" if most == 6 else f"s-{name}", window=-(most % 2))
                self.apply(Receive, f"c-{name}", most, ack)
            case ("ack", name):
                self.apply(Ack, f"c-{name}", AckMode.ALL)
            case ("close", name):
                self.apply(CloseConsumer, f"c-{name}")
            case ("browse", name):
                self.apply(Browse, name)
            case ("purge", name, selector):
                self.apply(Purge, name, selector)
            case ("pause", name, pauses):
                self.apply(PauseQueue if pauses else ResumeQueue, name)
            case (simple,):
                self.simple(simple)

    def simple(self, name: str) -> None:
        match name:
            case "wait":
                self.t += 100_000_000
                self.apply(Wait, 100)
            case "full" | "free":
                self.apply(DiskFull, name == "full")
            case "delete":
                self.apply(DeleteQueue, "m.2")
            case "block" | "unblock":
                self.apply(BlockAddress if name == "block" else UnblockAddress, "a")
            case "commit" | "rollback":
                self.apply(Commit if name == "commit" else Rollback, "x")
            case "expire":
                self.apply(Expire)
            case _:
                self.apply(Restart if name == "restart" else Crash, **CRASHES.get(name, {}))


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(address_settings, st.sampled_from(EDITIONS), st.sampled_from([1, 3000, -1]), steps)
def test_invariants_hold_on_random_traces(
    chosen: AddressSettings, edition: Edition, window: int, trace: list[tuple[Any, ...]]
) -> None:
    run = Run(chosen, edition, window)
    with only_where_needed():
        for step in trace:
            run.step(step)


@pytest.mark.parametrize("edition", EDITIONS[1:])
def test_a_large_message_that_fills_the_address_is_refused_behind_its_last_piece(edition: Edition) -> None:
    # Gate A: the client asks for credits once more after the message has arrived.
    run = Run(AddressSettings(policy=AddressFullPolicy.FAIL, max_size_messages=3), edition, 1)
    for size in (0, 0, 2100):
        run.step(("send", "a", size, False, 4, "p", 0))
    assert len(list(run.engine.broker.queues["a"].references)) == 3


clients = st.builds(
    ClientOptions,
    settled=st.booleans(),
    anonymous=st.booleans(),
    drain=st.booleans(),
    asynchronous=st.booleans(),
    window=st.sampled_from([0, 4000]),
    receipt=st.booleans(),
    version=st.sampled_from([4, 5]),
    qos=st.integers(0, 2),
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(address_settings, st.sampled_from(EDITIONS), st.sampled_from(list(ClientProtocol)), clients, steps)
def test_invariants_hold_whatever_producers_speak(
    chosen: AddressSettings,
    edition: Edition,
    protocol: ClientProtocol,
    client: ClientOptions,
    trace: list[tuple[Any, ...]],
) -> None:
    run = Run(chosen, edition, 1, "amqpCredits=4;amqpLowCredits=1;amqpMinLargeMessageSize=2000")
    for session in ("p", "s-a"):
        run.apply(OpenSession, session, SessionKind.AUTO, protocol, client)
    for step in trace:
        run.step(step)
    sent = run.seq
    run.apply(Checkpoint)
    assert len(run.engine.unfinished_sends()) <= sent


@contextmanager
def only_where_needed() -> Iterator[None]:
    """Assert that a queue takes a message from its pages only while its limits ask for one (invariant 22)."""
    take = PageIterator.take
    if not isinstance(take, FunctionType):
        yield  # compiled methods cannot be replaced; the same source is watched where it is not compiled
        return

    def watched(iterator: PageIterator) -> PagedMessage:
        queue = iterator.cursor.queue
        # up to 2.52 a purge with a filter reads on whatever the limits say
        assert queue.needs_depage() or not queue.profile.purges_in_place
        return take(iterator)

    with mock.patch.object(PageIterator, "take", watched):
        yield


producers = st.lists(st.tuples(st.sampled_from("pqr"), st.integers(0, 2600), st.integers(0, 3)), max_size=40)


@settings(max_examples=examples(40), deadline=None)
@given(address_settings, st.sampled_from(EDITIONS), producers, st.sampled_from(list(ReceiveAck)))
def test_each_producers_messages_come_in_their_order(
    chosen: AddressSettings, edition: Edition, sent: list[tuple[str, int, int]], ack: ReceiveAck
) -> None:
    # Invariant 16, across memory and pages, while a consumer takes some messages.
    run = Run(chosen, edition, -1)
    run.apply(OpenConsumer, "c", "a", "s")
    order: dict[str, list[int]] = {}
    got: list[int] = []
    for n, (producer, size, most) in enumerate(sent):
        if run.apply(Send, "a", n, producer, size=size).r in (QUEUED, PAGED):
            order.setdefault(producer, []).append(n)
        if most:
            got += run.apply(Receive, "c", most, ack).got or []
            run.apply(Ack, "c", AckMode.ALL)
    got += run.apply(Receive, "c", 100, ReceiveAck.EACH).got or []
    for numbers in order.values():
        assert [n for n in got if n in numbers] == numbers


sizes = st.lists(st.tuples(st.integers(0, 2600), st.booleans()), min_size=1, max_size=30)


@settings(max_examples=examples(40), deadline=None)
@given(sizes, st.sampled_from([0, 3000, 6000]), st.integers(0, 30), st.booleans(), st.sampled_from(EDITIONS[1:]))
def test_what_is_accepted_is_delivered_once(
    messages: list[tuple[int, bool]], limit: int, cut: int, crash: bool, edition: Edition
) -> None:
    # Conservation (1, 16, 18, 26): a restart loses only what is in memory and not durable, and keeps the order.
    run = Run(AddressSettings(max_size_bytes=limit, page_size_bytes=2500), edition, 1)
    kept = []
    for n, (size, durable) in enumerate(messages):
        result = run.apply(Send, "a", n, size=size, durable=durable)
        assert result.r in (QUEUED, PAGED)
        kept.append((n, durable or result.r == PAGED))
    run.apply(OpenConsumer, "c", "a", "s")
    first = run.apply(Receive, "c", cut, ReceiveAck.EACH).got or []
    run.apply(Crash if crash else Restart)
    run.apply(OpenConsumer, "c", "a", "s")
    second = run.apply(Receive, "c", 100, ReceiveAck.EACH).got or []
    assert first == [n for n, _ in kept][: len(first)]
    assert second == [n for n, safe in kept[len(first) :] if safe]
    assert max(Counter(first + second).values(), default=1) == 1


@settings(max_examples=examples(60), deadline=None)
@given(
    sizes,
    st.sampled_from([0, 3000, 6000]),
    st.integers(0, 30),
    st.sampled_from(list(CrashKind)),
    st.sampled_from(EDITIONS[1:]),
    st.sampled_from([0, 2, 8, 1000]),
    st.booleans(),
)
def test_a_crash_tells_of_every_message(
    messages: list[tuple[int, bool]], limit: int, cut: int, kind: CrashKind, edition: Edition, timer: int, in_tx: bool
) -> None:
    """Assert that every message is acknowledged, delivered after the crash, or reported as lost."""
    chosen = AddressSettings(max_size_bytes=limit, page_size_bytes=2500)
    run = Run(chosen, edition, -1, page_sync=timer * MS)
    for n, (size, durable) in enumerate(messages):
        run.apply(Send, "a", n, "x" if in_tx and n % 3 else "p", size=size, durable=durable)
        if in_tx and n % 7 == 6:
            run.apply(Commit, "x")
    run.apply(Commit, "x")
    run.apply(OpenConsumer, "c", "a", "s")
    first = run.apply(Receive, "c", cut, ReceiveAck.EACH).got or []
    loss = run.apply(Crash, kind=kind).loss
    run.apply(OpenConsumer, "c", "a", "s")
    second = run.apply(Receive, "c", 100, ReceiveAck.EACH).got or []
    lost, again = loss.lost.get("a", []), loss.again.get("a", [])
    assert sorted([*first, *second, *lost]) == sorted([*range(len(messages)), *again])
    assert {*loss.perhaps_lost.get("a", ())} <= {*second}
    assert {*loss.perhaps_again.get("a", ())} <= {*first} - {*second}
    if kind is CrashKind.REST:
        assert not any(messages[n][1] for n in lost)
