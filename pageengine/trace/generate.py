"""Synthetic traffic of named shapes, the same for the same seed (docs/spec/trace-format.md 1).

Every shape sends ``messages`` messages at ``rate`` per second to its addresses; they differ in the consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Any, cast

from pageengine.trace import operations as ops
from pageengine.trace.operations import MessageProperty, Operation, RoutingType, TraceHeader
from pagefmt.codec.messages.values import ValueKind
from pagefmt.quantities import SECOND

# Messages between two receives of a consumer.
BATCH = 10
DISK = 100 << 30


class TrafficShape(Enum):
    """Shapes of traffic, by their names on the command line."""

    STEADY = "steady"
    BURST = "burst"
    SLOW_CONSUMER = "slow-consumer"
    ONE_SLOW_SUBSCRIBER = "one-slow-subscriber"
    SELECTIVE_CONSUMER = "selective-consumer"
    TRANSACTIONS = "transactions"
    DISK_FILLING_UP = "disk-filling-up"


DESCRIPTIONS = {
    TrafficShape.STEADY: "consumers keep up with the producers",
    TrafficShape.BURST: "most of the messages arrive in a tenth of the time; consumers catch up in between",
    TrafficShape.SLOW_CONSUMER: "consumers take half of what arrives, and the rest afterwards",
    TrafficShape.ONE_SLOW_SUBSCRIBER: "multicast: all subscribers keep up but one, which takes a tenth",
    TrafficShape.SELECTIVE_CONSUMER: "one consumer selects one message in ten; the other takes half of the rest",
    TrafficShape.TRANSACTIONS: "batches in local and XA transactions, one in ten rolled back; consumed in transactions",
    TrafficShape.DISK_FILLING_UP: "nothing is consumed while the disk fills up; then space is freed and consumers "
    "connect",
}


@dataclass(frozen=True, slots=True)
class Traffic:
    """Amount of traffic of a shape.

    ``size``: mean body bytes, varying by a quarter; ``rate``: messages per second in all.
    """

    shape: TrafficShape
    messages: int = 10_000
    rate: float = 1000.0
    size: int = 1024
    addresses: int = 1
    subscribers: int = 4
    seed: int = 1

    @property
    def header(self) -> TraceHeader:
        """Return the header of the trace."""
        return TraceHeader(f"{self.shape.value}-{self.seed}", producer_window=1)


def generate(traffic: Traffic) -> Iterator[Operation]:
    """Yield the operations, numbered, in order of time."""
    script = _Script(traffic, Random(f"{traffic.shape.value}/{traffic.seed}"))
    yield from _SHAPES[traffic.shape](script)


@dataclass(slots=True)
class _Script:
    """State of a generated trace: numbers the operations, carries the clock, and draws what varies."""

    traffic: Traffic
    random: Random
    i: int = 0
    t: float = 0.0
    seq: int = 0
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        count = self.traffic.addresses
        stem = "orders" if self.traffic.shape is not TrafficShape.ONE_SLOW_SUBSCRIBER else "prices"
        self.names = [stem] if count == 1 else [f"{stem}.{n}" for n in range(count)]

    def make(self, cls: type[Any], *values: Any, **named: Any) -> Operation:
        operation = cls(*values, **named, i=self.i, t=int(self.t))
        self.i += 1
        return cast(Operation, operation)

    def tick(self, speed: float = 1.0) -> None:
        """Advance the clock by the time between two messages, at ``speed`` times the mean rate."""
        self.t += SECOND / (self.traffic.rate * speed) * self.random.uniform(0.5, 1.5)

    def anycast(self) -> Iterator[Operation]:
        for name in self.names:
            yield self.make(ops.CreateAddress, name, RoutingType.ANYCAST)
            yield self.make(ops.CreateQueue, name, name)

    def consumers(self, prefix: str = "c", selector: str | None = None) -> Iterator[Operation]:
        for name in self.names:
            yield self.make(ops.OpenConsumer, f"{prefix}-{name}", name, f"s-{prefix}-{name}", selector)

    def send(self, *, session: str | None = None, props: tuple[MessageProperty, ...] = ()) -> Operation:
        size = self.traffic.size
        address = self.names[self.seq % len(self.names)]
        bytes_ = max(0, round(size * self.random.uniform(0.75, 1.25)))
        self.seq += 1
        return self.make(
            ops.Send, address, self.seq - 1, session or f"p-{address}", size=bytes_, props=ops.MessageProperties(props)
        )

    def receive(self, share: float, prefix: str = "c") -> Iterator[Operation]:
        """Yield receives: every consumer takes its share of a batch; fractions are drawn at random."""
        for name in self.names:
            wanted = share * BATCH / len(self.names)
            count = int(wanted) + (self.random.random() < wanted % 1)
            if count:
                yield self.make(ops.Receive, f"{prefix}-{name}", count, ops.ReceiveAck.EACH)

    def drain(self, prefix: str = "c") -> Iterator[Operation]:
        """Yield receives of what is left, in batches, at the mean rate."""
        left = self.traffic.messages
        while left > 0:
            self.t += SECOND * BATCH / self.traffic.rate
            yield from self.receive(1.0, prefix)
            left -= BATCH


def _steady(script: _Script) -> Iterator[Operation]:
    yield from script.anycast()
    yield from script.consumers()
    yield from _sent(script, lambda n: script.receive(1.0))


def _sent(script: _Script, each_batch: Callable[[int], Iterator[Operation]], speed: float = 1.0) -> Iterator[Operation]:
    for n in range(1, script.traffic.messages + 1):
        script.tick(speed)
        yield script.send()
        if n % BATCH == 0:
            yield from each_batch(n)


def _burst(script: _Script) -> Iterator[Operation]:
    yield from script.anycast()
    yield from script.consumers()
    period = max(BATCH, script.traffic.messages // 10)
    for n in range(1, script.traffic.messages + 1):
        storm = n % period < period * 0.9
        script.tick(8.0 if storm else 0.1)
        yield script.send()
        if storm and n % BATCH == 0:
            yield from script.receive(0.125)
        elif not storm:
            yield from script.receive(1.0)


def _slow_consumer(script: _Script) -> Iterator[Operation]:
    yield from script.anycast()
    yield from script.consumers()
    yield from _sent(script, lambda n: script.receive(0.5))
    yield from script.drain()


def _one_slow_subscriber(script: _Script) -> Iterator[Operation]:
    subscribers = [f"s{n}" for n in range(1, script.traffic.subscribers)] + ["slow"]
    for name in script.names:
        yield script.make(ops.CreateAddress, name, RoutingType.MULTICAST)
        for subscriber in subscribers:
            yield script.make(ops.CreateQueue, f"{name}.{subscriber}", name, RoutingType.MULTICAST)
    for name in script.names:
        for subscriber in subscribers:
            queue = f"{name}.{subscriber}"
            yield script.make(ops.OpenConsumer, f"{subscriber}-{name}", queue, f"s-{queue}")

    def take(n: int) -> Iterator[Operation]:
        for subscriber in subscribers:
            yield from script.receive(0.1 if subscriber == "slow" else 1.0, subscriber)

    yield from _sent(script, take)
    yield from script.drain("slow")


def _selective_consumer(script: _Script) -> Iterator[Operation]:
    yield from script.anycast()
    yield from script.consumers("red", "color = 'red'")
    yield from script.consumers("blue", "color = 'blue'")
    for n in range(1, script.traffic.messages + 1):
        script.tick()
        color = "red" if script.random.random() < 0.1 else "blue"
        yield script.send(props=(MessageProperty("color", ValueKind.STRING, color),))
        if n % BATCH == 0:
            yield from script.receive(0.1, "red")
            yield from script.receive(0.45, "blue")
    yield from script.drain("blue")
    yield from script.drain("red")


def _transactions(script: _Script) -> Iterator[Operation]:
    yield from script.anycast()
    yield script.make(ops.OpenSession, "tx", ops.SessionKind.LOCAL)
    yield script.make(ops.OpenSession, "xa", ops.SessionKind.XA)
    yield script.make(ops.OpenSession, "takes", ops.SessionKind.LOCAL)
    for name in script.names:
        yield script.make(ops.OpenConsumer, f"c-{name}", name, "takes")
    left, batch = script.traffic.messages, 0
    while left > 0:
        count = min(left, BATCH)
        left -= count
        batch += 1
        xid = f"branch-{batch}" if batch % 5 == 0 else None
        yield from _transaction(script, count, xid)
        yield from _consumed(script)


def _transaction(script: _Script, count: int, xid: str | None) -> Iterator[Operation]:
    session = "xa" if xid else "tx"
    if xid:
        yield script.make(ops.Begin, session, xid)
    for _ in range(count):
        script.tick()
        yield script.send(session=session)
    if xid:
        yield script.make(ops.Prepare, session, xid)
    yield script.make(ops.Rollback if script.random.random() < 0.1 else ops.Commit, session, xid)


def _consumed(script: _Script) -> Iterator[Operation]:
    for name in script.names:
        yield script.make(ops.Receive, f"c-{name}", max(1, round(0.8 * BATCH / len(script.names))), ops.ReceiveAck.END)
    yield script.make(ops.Rollback if script.random.random() < 0.05 else ops.Commit, "takes")


def _disk_filling_up(script: _Script) -> Iterator[Operation]:
    yield from script.anycast()
    messages = script.traffic.messages
    step = max(1, messages // 20)

    def disk(share: float) -> Operation:
        return script.make(ops.DiskSpaceChange, int(DISK * (1 - share)), DISK)

    for n in range(1, messages + 1):
        script.tick()
        yield script.send()
        if n % step == 0:
            yield disk(min(0.98, 0.5 + 0.6 * n / messages))
    yield disk(0.4)
    yield from script.consumers()
    yield from script.drain()


_SHAPES: dict[TrafficShape, Callable[[_Script], Iterator[Operation]]] = {
    TrafficShape.STEADY: _steady,
    TrafficShape.BURST: _burst,
    TrafficShape.SLOW_CONSUMER: _slow_consumer,
    TrafficShape.ONE_SLOW_SUBSCRIBER: _one_slow_subscriber,
    TrafficShape.SELECTIVE_CONSUMER: _selective_consumer,
    TrafficShape.TRANSACTIONS: _transactions,
    TrafficShape.DISK_FILLING_UP: _disk_filling_up,
}
