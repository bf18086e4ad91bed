"""Replays of what clients of a real broker did: each takes what it took there (tests/recorded/replays/README.md)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pageengine.running.engine import Engine
from pageengine.settings.profiles import profile_of
from pageengine.settings.settings import AddressSettings, EngineSettings, OneForAll
from pageengine.trace import operations as ops
from pageengine.trace.reading import open_trace
from pagefmt.editions import NEWEST

CLIENTS = Path(__file__).parents[1] / "recorded" / "replays" / "clients"
LEFT = {"amqp-and-mqtt": 5}
"""So many messages a client had and did not acknowledge when it went."""


@pytest.mark.parametrize("name", ["jms-transactions", "amqp-and-mqtt", "browsers-and-selectors"])
def test_every_acknowledgement_finds_its_message(name: str) -> None:
    trace = open_trace(CLIENTS / f"{name}.jsonl.zst")
    settings = EngineSettings(OneForAll(AddressSettings(max_size_bytes=1 << 20, page_size_bytes=256 << 10)))
    engine = Engine(settings, profile_of(NEWEST), trace.header)
    decisions: Counter[tuple[str, str]] = Counter()
    for operation in trace:
        assert isinstance(operation, ops.Operation)
        line = engine.apply(operation).as_json()
        decisions[line["op"], line["r"]] += 1
    assert decisions["ack", "ok"] > 7000 and not any(r == "failed" for _, r in decisions)
    state = engine.finish().as_json()["state"]
    assert sum(part["n"] for key, part in state.items() if key.startswith("q:")) == LEFT.get(name, 0)
