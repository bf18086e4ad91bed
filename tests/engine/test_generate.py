"""Generated traffic: deterministic by seed, valid as a trace, and of the shape it is named for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pageengine.trace import operations as ops
from pageengine.trace.generate import Traffic, TrafficShape, generate
from pageengine.trace.reading import open_trace
from pageengine.trace.writing import write_trace


@pytest.mark.parametrize("shape", TrafficShape)
def test_reads_back_and_depends_on_the_seed_alone(tmp_path: Path, shape: TrafficShape) -> None:
    traffic = Traffic(shape, messages=205, addresses=2)
    write_trace(tmp_path / "t.jsonl", traffic.header, generate(traffic))
    found = list(open_trace(tmp_path / "t.jsonl"))
    assert found == list(generate(traffic))
    assert found != list(generate(Traffic(shape, messages=205, addresses=2, seed=2)))
    assert sum(isinstance(one, ops.Send) for one in found) == 205
    assert [one.i for one in found] == list(range(len(found)))


@pytest.mark.parametrize("shape", TrafficShape)
def test_rate_and_size(shape: TrafficShape) -> None:
    sends = [one for one in generate(Traffic(shape, messages=4000, rate=500, size=200)) if isinstance(one, ops.Send)]
    assert sum(one.size for one in sends) / len(sends) == pytest.approx(200, rel=0.05)
    seconds = (sends[-1].t - sends[0].t) / 1e9
    assert seconds == pytest.approx(8, rel=0.15)


def taken(shape: TrafficShape) -> Counter[str]:
    counts: Counter[str] = Counter()
    for one in generate(Traffic(shape, messages=2000)):
        if isinstance(one, ops.Send):
            counts["sent"] += 1
        elif isinstance(one, ops.Receive) and counts["sent"] < 2000:
            counts[one.consumer] += one.max
    return counts


def test_consumers_keep_the_pace_of_their_shape() -> None:
    assert taken(TrafficShape.STEADY)["c-orders"] == pytest.approx(1990, abs=10)
    assert taken(TrafficShape.SLOW_CONSUMER)["c-orders"] == pytest.approx(1000, rel=0.05)
    subscribers = taken(TrafficShape.ONE_SLOW_SUBSCRIBER)
    assert subscribers["slow-prices"] == pytest.approx(200, rel=0.1)
    assert subscribers["s1-prices"] == pytest.approx(1990, abs=10)
    assert taken(TrafficShape.DISK_FILLING_UP) == {"sent": 2000}
