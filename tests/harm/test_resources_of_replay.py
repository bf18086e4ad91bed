"""Replays: time and memory grow with what is there, never with what is claimed, and never with its square."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from growth import grows, took
from harmed import peak

MIB = 1 << 20
CONFIG = """<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core"><address-settings>
<address-setting match="#"><max-size-bytes>10000</max-size-bytes><address-full-policy>PAGE</address-full-policy>
</address-setting></address-settings></core></configuration>
"""


def trace(tmp_path: Path, operations: list[Any]) -> list[str | Path]:
    path, config = tmp_path / "t.jsonl", tmp_path / "broker.xml"
    config.write_text(CONFIG)
    with path.open("w") as out:
        for each in [{"trace": 1}, *operations]:
            out.write((each if isinstance(each, str) else json.dumps(each)) + "\n")
    return ["replay", "run", path, "--config", config, "--format", "json"]


@pytest.fixture
def idle(tmp_path: Path) -> float:
    return took(*trace(tmp_path, []))[0]


@pytest.mark.slow
def test_queues_of_many_addresses(idle: float, tmp_path: Path) -> None:
    def make(count: int) -> list[str | Path]:
        return trace(tmp_path, [{"op": "create_queue", "queue": f"q{n}", "address": f"a{n}"} for n in range(count)])

    grows(make, 500, idle)


@pytest.mark.slow
def test_queues_of_one_address(idle: float, tmp_path: Path) -> None:
    def make(count: int) -> list[str | Path]:
        create = {"op": "create_queue", "address": "a", "routing": "multicast"}
        return trace(tmp_path, [create | {"queue": f"q{n}"} for n in range(count)])

    grows(make, 500, idle)


@pytest.mark.slow
def test_queues_that_go_again(idle: float, tmp_path: Path) -> None:
    def make(count: int) -> list[str | Path]:
        made = [{"op": "create_queue", "queue": f"q{n}", "address": f"a{n}"} for n in range(count)]
        return trace(tmp_path, [*made, *({"op": "delete_queue", "queue": f"q{n}"} for n in range(count))])

    grows(make, 400, idle)


@pytest.mark.slow
def test_addresses_without_queues(idle: float, tmp_path: Path) -> None:
    def make(count: int) -> list[str | Path]:
        return trace(
            tmp_path, [{"op": "create_address", "address": f"a{n}", "routing": "anycast"} for n in range(count)]
        )

    grows(make, 500, idle)


@pytest.mark.parametrize("power", [33, 40, 62, 63, 100])
def test_a_size_that_no_message_has(power: int, tmp_path: Path) -> None:
    send = {"op": "send", "address": "a", "seq": 1, "size": 1 << power}
    words = trace(tmp_path, [{"op": "create_queue", "queue": "q", "address": "a"}, send])
    answer, most = peak(*words, limit=2 << 30, seconds=60)
    assert most < 200 * MIB, (answer, most / MIB)
    assert answer.status == 2 and "line 3" in answer.err and "size" in answer.err, answer


def test_a_size_of_a_gigabyte_takes_no_gigabyte(tmp_path: Path) -> None:
    send = {"op": "send", "address": "a", "seq": 1, "size": 1 << 30}
    answer, most = peak(*trace(tmp_path, [{"op": "create_queue", "queue": "q", "address": "a"}, send]))
    assert answer.status == 0 and most < 200 * MIB, (answer, most / MIB)


@pytest.mark.parametrize("kind", ["bytes", "text"])
def test_a_large_body_is_written_in_pieces(kind: str, tmp_path: Path) -> None:
    send = {"op": "send", "address": "a", "seq": 1, "size": 200 * MIB, "type": kind}
    words = trace(tmp_path, [{"op": "create_queue", "queue": "q", "address": "a"}, send])
    answer, most = peak(*words, "--out", tmp_path / "data")
    assert answer.status == 0 and most < 150 * MIB, (answer, most / MIB)
    (body,) = (tmp_path / "data" / "large-messages").iterdir()
    assert body.stat().st_size == (200 * MIB if kind == "bytes" else 5 + 400 * MIB)
    body.unlink()


def test_a_large_message_in_tiny_pieces_takes_no_memory(tmp_path: Path) -> None:
    header = {"trace": 1, "min_large_message_size": 1000, "producer_window": -1}
    send = {"op": "send", "address": "a", "seq": 1, "size": (1 << 31) - 1}
    words = trace(tmp_path, [{"op": "create_queue", "queue": "q", "address": "a"}, send])
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, [header, send])) + "\n")
    answer, most = peak(*words)
    assert answer.status == 0 and most < 150 * MIB, (answer, most / MIB)


def test_a_line_without_end(tmp_path: Path) -> None:
    line = '{"op": "send", "address": "a", "seq": 1, "text": "' + "x" * (100 * MIB) + '"}'
    answer, most = peak(*trace(tmp_path, [line]), seconds=100)
    assert most < 200 * MIB, most / MIB
    assert answer.status == 2 and "line 2 is longer than 16 MiB" in answer.err, answer
