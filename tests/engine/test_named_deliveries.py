"""A `receive` that names its messages gets exactly these, and an acknowledgement that fails is a finding."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pageengine.model.outcome import OperationResult
from pageengine.replay.findings import findings
from pageengine.replay.recording import Recording
from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import AddressSettings, EngineSettings, OneForAll
from pageengine.trace import operations as ops
from pageengine.trace.operations import AckMode, Operation, TraceHeader
from pagefmt.editions import NEWEST


class Replay:
    """An engine beside a recording of what it decides."""

    def __init__(self, **settings: Any) -> None:
        header = TraceHeader("named", seq_property="", producer_window=1)
        self.engine = Engine(
            EngineSettings(OneForAll(AddressSettings(**settings))), profile_of(NEWEST), header, check=True
        )
        self.recording = Recording("named")
        self.recording.begin(self.engine.state())
        self.i = -1

    def apply(self, kind: type[Operation], *values: Any, **named: Any) -> OperationResult:
        self.i += 1
        operation = kind(*values, i=self.i, t=self.i * 1_000_000, **named)
        result = self.engine.apply(operation)
        self.recording.see(operation, result)
        return result

    def sentences(self) -> list[str]:
        self.recording.finish(self.engine.state())
        return [one.message for one in findings(self.recording) if one.rule == "unacknowledged"]


@given(
    priorities=st.lists(st.integers(0, 9), min_size=1, max_size=12), limit=st.sampled_from([-1, 3000]), data=st.data()
)
def test_named_messages_are_delivered_in_any_order(priorities: list[int], limit: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(priorities))))
    cuts = data.draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order)))
    replay = Replay(max_size_bytes=limit, page_size_bytes=2500)
    replay.apply(ops.CreateQueue, "q")
    consumers = ("c0", "c1")
    for name in consumers:
        replay.apply(ops.OpenConsumer, name, "q")
    for seq, priority in enumerate(priorities):
        replay.apply(ops.Send, "q", seq, size=500, priority=priority)
    part: list[int] = []
    left: set[int] = set()
    refused = 0
    for n, (seq, ends) in enumerate(zip(order, cuts, strict=True)):
        part.append(seq)
        if ends or n + 1 == len(order):
            consumer = consumers[n % 2]
            got = replay.apply(ops.Receive, consumer, len(part), seq=tuple(part)).got or []
            # of a page that is not read yet, nothing is delivered, and no other message in its place
            assert got == [one for one in part if one in got]
            assert limit > 0 or got == part
            for one in part:
                verdict = replay.apply(ops.Ack, consumer, AckMode.INDIVIDUAL, one).verdict
                assert verdict.r == ("ok" if one in got else "failed")
            left |= {*part} - {*got}
            refused += len(part) - len(got)
            part = []
    state = replay.engine.state().as_json()["q:q"]
    assert state and state["n"] == len(left)
    assert replay.recording.failed_acks["q"] == refused
    assert bool(replay.sentences()) == bool(refused)


def test_a_message_that_is_not_there_is_not_replaced_and_the_selector_stays() -> None:
    replay = Replay()
    replay.apply(ops.CreateQueue, "q")
    replay.apply(ops.OpenConsumer, "c", "q", selector="AMQPriority > 4")
    for seq, priority in enumerate((9, 1, 9)):
        replay.apply(ops.Send, "q", seq, priority=priority)
    assert replay.apply(ops.Receive, "c", 2, seq=(7, 2)).got == [2]
    assert replay.apply(ops.Receive, "c", 5).got == [0]
    assert replay.apply(ops.Ack, "c", AckMode.INDIVIDUAL, 7).verdict.r == "failed"
    assert replay.apply(ops.Ack, "gone", AckMode.INDIVIDUAL, 0).verdict.r == "failed"
    assert replay.recording.failed_acks == {"q": 1, "gone": 1}
    assert [one.partition(" failed")[0] for one in replay.sentences()] == [
        "1 acknowledgement on gone",
        "1 acknowledgement on q",
    ]


@pytest.mark.parametrize("window", [-1, 1000])
def test_a_consumer_that_prefetches_cannot_name_messages(window: int) -> None:
    replay = Replay()
    replay.apply(ops.CreateQueue, "q")
    replay.apply(ops.OpenConsumer, "c", "q", window=window)
    replay.apply(ops.Send, "q", 0)
    assert replay.apply(ops.Receive, "c", 1, seq=(0,)).verdict.r == "failed"
