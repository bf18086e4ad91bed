"""What was acknowledged, expired or removed is brought back into a real broker, once: ``messages send --in history``.

An AMQP client takes it there. Body and properties are those that the ledger of the old broker says were sent.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from zlib import crc32

import pytest
from program import call
from recorded_histories import HistoryCase
from target_broker import target_broker

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
import proton
from amqp_taker import taken

pytestmark = [pytest.mark.broker, pytest.mark.timeout(1800)]
OPTIONS = ("--in", "history", "--timezone", "UTC")
GONE = ("acknowledged", "expired", "removed")
CASES = [
    HistoryCase(version, name)
    for version in ("2.56.0", "2.18.0")
    for name in ("core", "amqp", "large", "paged", "multicast", "purge-delete", "tx")
]


@pytest.mark.parametrize("target", ["2.56.0", "2.28.0"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_has_left_its_queue_comes_back_once(case: HistoryCase, target: str, tmp_path: Path) -> None:
    ledger = case.ledger()
    bodies = {line["seq"]: line["body_crc"] for line in ledger if line["op"] == "send" and "body_crc" in line}
    numbers = {line["id"]: line["seq"] for line in ledger if line["op"] == "route" and line.get("id")}  # copies, too
    wanted: dict[str, Counter[tuple[int, int]]] = {}
    for line in call("messages", "decode", case.root(), *OPTIONS, "--format", "jsonl").lines():
        for queue, entry in line["queues_state"].items():
            if entry["state"] in GONE:
                number = numbers[line["id"]]
                wanted.setdefault(queue, Counter())[number, bodies[number]] += 1
    with target_broker(target, tmp_path / "target") as broker:
        send = ("messages", "send", case.root(), *OPTIONS, "--all", "--to", broker.url, "--format", "json")
        first, again = json.loads(call(*send).out), json.loads(call(*send).out)
        assert again["refused"] == first["refused"] == []
        for queue in wanted:
            rows = [row for row in first["queues"] if row["queue"] == queue]
            if any(row["failure"] for row in rows):  # no client can send to a queue of an address by its name
                assert (target, len(wanted) > 1) == ("2.28.0", True)
                continue
            count = broker.count(queue)
            assert count == sum(row["sent"] for row in rows) == wanted[queue].total()
            address = rows[0]["target"]
            messages = [_decoded(message) for message in taken(broker.url, address, count)]
            assert Counter(map(_facts, messages)) == wanted[queue], (queue, target)
            assert all("color" in message.properties for message in messages)


def _decoded(content: bytes) -> proton.Message:
    message = proton.Message()
    message.decode(content)
    return message


def _facts(message: proton.Message) -> tuple[int, int]:
    """Return the number that the client gave a message, and the checksum of its text."""
    body = message.body if isinstance(message.body, str) else bytes(message.body).decode()
    return int(message.properties["seq"]), crc32(body.encode())
