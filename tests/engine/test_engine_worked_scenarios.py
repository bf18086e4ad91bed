"""The worked scenarios of docs/spec/paging-engine.md 7: 1000-byte body, int property of one letter, address `q`."""

from __future__ import annotations

from typing import Any

import pytest

from pageengine.model.outcome import OperationResult
from pageengine.paging.store import AddressStore
from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import (
    AddressFullPolicy,
    AddressSettings,
    DiskFullPolicy,
    EngineSettings,
    OneForAll,
    PageFullPolicy,
)
from pageengine.trace.operations import (
    Ack,
    AckMode,
    Commit,
    CreateAddress,
    CreateQueue,
    DeleteQueue,
    DiskFull,
    MessageProperty,
    OpenConsumer,
    OpenSession,
    Purge,
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
from pagefmt.editions import NEWEST, Edition

NO_GLOBAL = 1 << 40
X = MessageProperty("x", ValueKind.INT, 1)


class Play:
    """An engine with its queues, and short words for what clients do."""

    def __init__(
        self,
        edition: Edition = NEWEST,
        *,
        queues: tuple[str, ...] = ("q",),
        window: int = 1,
        global_max: int = NO_GLOBAL,
        global_messages: int = -1,
        **settings: Any,
    ) -> None:
        source = OneForAll(AddressSettings(**settings))
        header = TraceHeader("worked", seq_property="", producer_window=window)
        found = EngineSettings(source, global_max_size=global_max, global_max_messages=global_messages)
        self.engine = Engine(found, profile_of(edition), header, check=edition >= Edition.ARTEMIS_2_28)
        self.seq = -1
        self.i = -1
        for queue in queues:
            self.apply(CreateQueue, queue, queue)

    def apply(self, kind: Any, *values: Any, **named: Any) -> OperationResult:
        self.i += 1
        return self.engine.apply(kind(*values, i=self.i, t=self.i * 1_000_000, **named))

    def send(self, count: int = 1, *, to: str = "q", size: int = 1000, **named: Any) -> list[str]:
        found = []
        for _ in range(count):
            self.seq += 1
            props = named.pop("props", ()) or (X,)
            result = self.apply(Send, to, self.seq, size=size, props=props, **named)
            verdict = result.verdict
            found.append(f"{verdict.r} {verdict.page}" if verdict.page is not None else verdict.r)
        return found

    def take(self, count: int, *, queue: str = "q", ack: ReceiveAck = ReceiveAck.EACH, **named: Any) -> list[int]:
        if f"c-{queue}" not in self.engine.consumers:
            self.apply(OpenConsumer, f"c-{queue}", queue, f"s-{queue}", **named)
        return self.apply(Receive, f"c-{queue}", count, ack).got or []

    def store(self, address: str = "q") -> AddressStore:
        return self.engine.broker.stores[address]

    def sizes(self, address: str = "q") -> list[int]:
        store = self.store(address)
        return [store.pages[number].bytes for number in store.files]


def test_1_page_by_bytes() -> None:
    play = Play(max_size_bytes=6000, page_size_bytes=3000)
    assert play.send(14) == ["queued"] * 5 + ["paged 1"] * 2 + ["paged 2"] * 2 + ["paged 3"] * 2 + ["paged 4"] * 2 + [
        "paged 5"
    ]
    assert play.sizes() == [2204, 2204, 2204, 2204, 1102]
    play.take(4)
    assert (play.store().metric.size, play.store().paging) == (1498, True)
    play.take(4)
    assert (play.store().metric.size, play.store().files) == (0, [2, 3, 4, 5])
    assert play.take(6) == [8, 9, 10, 11, 12, 13]
    assert (play.store().paging, play.store().files, play.sizes()) == (False, [6], [0])
    assert play.send(2) == ["queued"] * 2


@pytest.mark.parametrize(
    ("delays", "given", "expires"),
    [
        ({"expiry_delay": 50}, 0, 51),
        ({"expiry_delay": 50}, 20, 21),
        ({"no_expiry": True}, 20, 0),
        ({"max_expiry_delay": 10}, 0, 11),
        ({"max_expiry_delay": 10}, 20, 11),
        ({"min_expiry_delay": 30}, 20, 31),
        ({"min_expiry_delay": 30}, 0, 31),
        ({"min_expiry_delay": 5}, 20, 21),
        ({}, 20, 21),
        ({}, 0, 0),
    ],
)
def test_expiry_by_settings(delays: dict[str, Any], given: int, expires: int) -> None:
    # Times are milliseconds of the trace's clock; the message is sent at 1.
    play = Play(**delays)
    play.send(1, expire_ms=given)
    ref = play.engine.broker.queues["q"].references.first()
    assert ref is not None
    assert ref.message.expiration == expires * 1_000_000


def test_1_in_2_17_no_file_is_left() -> None:
    play = Play(Edition.ARTEMIS_2_17, max_size_bytes=6000, page_size_bytes=3000)
    play.send(14)
    play.take(14)
    assert (play.store().paging, play.store().files) == (False, [])


def test_2_page_by_count() -> None:
    play = Play(max_size_messages=3)
    assert play.send(6, size=100) == ["queued"] * 3 + ["paged 1"] * 3
    assert play.store().metric.size == 3 * 598


def test_3_limit_0() -> None:
    play = Play(max_size_bytes=0)
    assert play.send(3, size=100) == ["queued", "paged 1", "paged 1"]
    assert play.sizes() == [404]
    play.take(3)
    assert not play.store().paging
    assert play.send(2, size=100) == ["queued", "paged 2"]


@pytest.mark.parametrize(
    ("policy", "refused"), [(AddressFullPolicy.DROP, "dropped"), (AddressFullPolicy.FAIL, "failed")]
)
def test_4_drop_and_fail(policy: AddressFullPolicy, refused: str) -> None:
    play = Play(max_size_bytes=3000, policy=policy)
    assert play.send(5) == ["queued"] * 3 + [refused] * 2
    play.take(1)
    assert play.send(2) == ["queued", refused]


@pytest.mark.parametrize(("edition", "kept"), [(NEWEST, 2), (Edition.ARTEMIS_2_28, 2), (Edition.ARTEMIS_2_17, 3)])
def test_4_limit_of_exactly_two_messages(edition: Edition, kept: int) -> None:
    play = Play(edition, max_size_bytes=2996, page_size_bytes=1000, policy=AddressFullPolicy.DROP)
    assert play.send(4) == ["queued"] * kept + ["dropped"] * (4 - kept)


def test_5_block() -> None:
    play = Play(max_size_bytes=3000, policy=AddressFullPolicy.BLOCK)
    assert play.send(4) == ["queued"] * 3 + ["blocked"]
    play.take(1)
    play.take(1)
    assert play.store().metric.size <= 3000 + 1498


def test_6_two_multicast_queues() -> None:
    play = Play(queues=(), max_size_bytes=3500, page_size_bytes=3000)
    play.apply(CreateAddress, "t", RoutingType.MULTICAST)
    play.apply(CreateQueue, "a", "t", RoutingType.MULTICAST)
    play.apply(CreateQueue, "b", "t", RoutingType.MULTICAST, durable=False)
    assert play.send(6, to="t") == ["queued"] * 3 + ["paged 1"] * 2 + ["paged 2"]
    assert play.store("t").metric.size == 4710
    assert play.take(6, queue="a") == [0, 1, 2, 3, 4, 5]
    assert (play.store("t").metric.size, play.store("t").files) == (4494, [1, 2])
    play.take(6, queue="b")
    assert not play.store("t").paging


def test_7_global_size() -> None:
    play = Play(queues=("q", "r"), global_max=5000)
    assert play.send(3) == ["queued"] * 3
    assert play.send(4, to="r") == ["queued", "paged 1", "paged 1", "paged 1"]
    assert play.send(2) == ["queued", "paged 1"]
    play.take(3)
    assert play.engine.broker.limits.metric.size == 2996
    assert play.store("q").paging
    assert play.store("r").paging


def test_8_wildcard_queue() -> None:
    play = Play(queues=(), max_size_bytes=4000)
    play.apply(CreateQueue, "wq", "a.#")
    play.apply(CreateQueue, "ab", "a.b")
    play.send(3, to="a.b")
    assert (play.store("a.b").metric.size, play.store("a.#").metric.size) == (4506, 216)
    play.send(1, to="a.b")
    assert (play.store("a.b").metric.size, play.store("a.#").metric.size) == (5936, 288)
    assert play.sizes("a.b") == [1110]


def test_9_transaction() -> None:
    play = Play(max_size_bytes=3500, page_size_bytes=3000)
    play.apply(OpenSession, "x", SessionKind.LOCAL)
    assert play.send(6, session="x") == ["queued"] * 3 + ["paged 1"] * 2 + ["paged 2"]
    queue = play.engine.broker.queues["q"]
    assert queue.message_count == 0
    play.apply(Commit, "x")
    assert queue.message_count == 6
    play.send(3, session="x")
    play.apply(Rollback, "x")
    assert queue.message_count == 6
    play.take(6)
    assert not play.store().paging
    assert not play.engine.broker.page_transactions


def test_10_page_limit_bytes() -> None:
    play = Play(max_size_bytes=3000, page_size_bytes=3000, page_limit_bytes=6000, page_full_policy=PageFullPolicy.FAIL)
    assert play.send(10) == ["queued"] * 3 + ["paged 1"] * 2 + ["paged 2"] * 2 + ["paged 3"] + ["failed"] * 2
    play.take(3)
    assert play.send(1) == ["failed"]
    play.take(3)
    assert play.send(1) == ["paged 3"]


def test_11_page_limit_below_page_size() -> None:
    play = Play(max_size_bytes=2000, page_size_bytes=3000, page_limit_bytes=1000, page_full_policy=PageFullPolicy.FAIL)
    assert play.send(4) == ["queued"] * 2 + ["failed"] * 2
    assert play.sizes() == [0]


def test_12_page_limit_messages() -> None:
    play = Play(max_size_bytes=3000, page_limit_messages=4, page_full_policy=PageFullPolicy.FAIL)
    assert play.send(8) == ["queued"] * 3 + ["paged 1"] * 4 + ["failed"]
    play.take(4)
    assert play.send(1) == ["failed"]


def test_13_record_larger_than_page() -> None:
    play = Play(max_size_bytes=1, page_size_bytes=500)
    assert play.send(4) == ["queued", "paged 1", "paged 2", "paged 3"]


def test_14_restart() -> None:
    play = Play(max_size_bytes=3500, page_size_bytes=3000)
    play.send(8)
    play.take(5)
    assert play.store().files == [2, 3]
    play.apply(Restart)
    store = play.store()
    assert (store.paging, store.metric.size, store.first_page) == (True, 0, 2)
    assert play.engine.broker.queues["q"].message_count == 3
    assert play.take(5) == [5, 6, 7]


def test_15_non_durable_messages() -> None:
    play = Play(max_size_bytes=3000)
    assert play.send(5, durable=False) == ["queued"] * 3 + ["paged 1"] * 2
    play.apply(Restart)
    assert play.take(5) == [3, 4]


def test_16_out_of_order_acks() -> None:
    play = Play(max_size_bytes=1, page_size_bytes=2300, max_read_page_bytes=100000)
    play.send(7)
    play.take(7, ack=ReceiveAck.NONE, window=-1)
    play.apply(Ack, "c-q", AckMode.INDIVIDUAL, (3, 4, 5, 6))
    assert play.store().files == [1, 3]
    play.apply(Ack, "c-q", AckMode.INDIVIDUAL, (0, 1))
    assert play.store().files == [1, 3]
    play.apply(Ack, "c-q", AckMode.INDIVIDUAL, (2,))
    assert not play.store().paging


def test_17_selector_starves() -> None:
    play = Play(max_size_bytes=1, max_read_page_bytes=5000)
    for n in range(30):
        play.send(props=(MessageProperty("x", ValueKind.INT, n == 29),))
    play.apply(OpenConsumer, "one", "q", "s-one", "x = 1")
    assert play.apply(Receive, "one", 1).got == []
    assert play.take(25) == list(range(25))
    assert play.apply(Receive, "one", 1).got == []


def test_18_disk_full_blocks() -> None:
    play = Play()
    play.send(1)
    play.apply(DiskFull, True)
    assert play.send(2) == ["blocked"] * 2
    result = play.apply(DiskFull, False)
    assert [one.verdict.r for one in result.released or []] == ["queued"] * 2
    assert not play.store().paging


@pytest.mark.parametrize(("policy", "verdict"), [(DiskFullPolicy.FAIL, "failed"), (DiskFullPolicy.DROP, "dropped")])
def test_19_disk_full_policy(policy: DiskFullPolicy, verdict: str) -> None:
    play = Play(disk_full_policy=policy)
    play.apply(DiskFull, True)
    assert play.send(2) == [verdict] * 2
    play.apply(DiskFull, False)
    assert play.send(1) == ["queued"]


@pytest.mark.parametrize(
    ("edition", "growth"), [(NEWEST, 473), (Edition.ARTEMIS_2_28, 473), (Edition.ARTEMIS_2_17, 305)]
)
def test_20_large_message(edition: Edition, growth: int) -> None:
    play = Play(edition)
    play.send(1, size=300000)
    assert play.store().metric.size == growth


def test_21_global_messages() -> None:
    play = Play(queues=("q", "r"), global_messages=3)
    assert play.send(2) == ["queued"] * 2
    assert play.send(2, to="r") == ["queued", "paged 1"]
    assert play.send(2) == ["queued", "paged 1"]


def test_22_duplicate_ids() -> None:
    play = Play(max_size_bytes=1)
    found = []
    for name in ("d0", "d1", "d2", "d2", "d4"):
        found += play.send(props=(MessageProperty("_AMQ_DUPL_ID", ValueKind.STRING, name),))
    assert found == ["queued", "paged 1", "paged 1", "unrouted", "paged 1"]
    records = play.store().pages[1].records
    assert [(record.message.seq, record.tx >= 0) for record in records] == [(1, True), (2, True), (4, True)]


def test_23_anycast_address_with_two_queues() -> None:
    play = Play(queues=(), max_size_bytes=1, page_size_bytes=1100)
    play.apply(CreateQueue, "q1", "q")
    play.apply(CreateQueue, "q2", "q")
    assert play.send(6, size=900) == ["queued"] + [f"paged {n}" for n in range(1, 6)]
    assert len(play.take(6, queue="q1")) == len(play.take(6, queue="q2")) == 3


def test_24_disk_full_in_flight() -> None:
    play = Play(window=65536)
    play.send(1)
    play.apply(DiskFull, True)
    assert play.send(3) == ["queued", "paged 1", "paged 1"]


def test_25_settings_change() -> None:
    play = Play(queues=("q", "r"), max_size_bytes=3000)
    play.send(3)
    play.send(2, to="r")
    play.store("q").apply_settings(AddressSettings(max_size_bytes=100000))
    assert play.send(1) == ["paged 1"]
    play.store("r").apply_settings(AddressSettings(max_size_bytes=1000))
    assert (play.store("r").gates.full, play.store("r").paging) == (True, False)
    assert play.send(2, to="r") == ["queued", "paged 1"]


def test_26_delete_and_purge() -> None:
    play = Play(queues=(), max_size_bytes=1)
    for name in ("a", "b"):
        play.apply(CreateQueue, name, "t", RoutingType.MULTICAST)
    play.send(5, to="t")
    play.take(5, queue="a")
    assert play.store("t").paging
    play.apply(DeleteQueue, "b")
    assert not play.store("t").paging
    again = Play(max_size_bytes=1600)
    again.send(5)
    assert again.apply(Purge, "q").count == 5
    assert not again.store().paging
