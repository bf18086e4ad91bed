"""Messages sent into real brokers, which then deliver what the old ones would have: queue by queue, in order."""

from __future__ import annotations

from pathlib import Path

import golden_cases
import pytest
from broker_drains import Queue, drains, failure, queues
from broker_jars import CURRENT
from program import call
from target_broker import target_broker

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
pytestmark = [pytest.mark.broker, pytest.mark.timeout(1800)]
SOURCES = [
    case
    for case in golden_cases.cases()
    if case.name in ("journal-mix", "mixed-protocols", "large-core", "large-amqp", "amqp-sections", "core-types", "jms")
]

PAGED = "<max-size-bytes>0</max-size-bytes><address-full-policy>PAGE</address-full-policy>"
"""All messages go to pages, those that are not durable too, which a restart would lose otherwise."""


def _same(before: Queue, after: Queue, bodies: bool) -> bool:
    """``seq``, body and priority in order; the hash of a body is not known where it was large."""
    pairs = zip(before.by_priority, after.by_priority, strict=False)
    return len(before.messages) == len(after.messages) and all(
        (one[1], one[3]) == (other[1], other[3]) and (not bodies or None in (one[2], other[2]) or one[2] == other[2])
        for one, other in pairs
    )


@pytest.mark.parametrize("version", CURRENT)
@pytest.mark.parametrize("case", SOURCES, ids=str)
def test_sent_messages_are_delivered_the_same(case: golden_cases.GoldenCase, version: str, tmp_path: Path) -> None:
    folder = tmp_path / "target"
    with target_broker(version, folder, PAGED) as broker:
        answer = call("messages", "send", case.copy(tmp_path), "--to", broker.url)
        assert answer.status < 2, answer.err
        broker.stop()
    told = drains(version, [folder])[folder]
    assert failure(told) is None
    after = queues(told)
    for name, queue in queues(case.drain()).items():
        if queue.messages:
            assert _same(queue, after[name], version != "2.28.0"), name
