"""Messages sent into real brokers: a client is given there what it would have been given by the old broker.

Field by field: priority, type, durable, expiration, timestamp, user id, body and each property with its kind, in the
order of delivery within each priority. What brokers before 2.32 get is converted, and only counted.
"""

from __future__ import annotations

from pathlib import Path

import golden_cases
import pytest
from broker_jars import CURRENT
from program import call
from target_broker import target_broker

pytest.importorskip("proton", reason="the extra pagectl[amqp] is not installed")
pytestmark = [pytest.mark.broker, pytest.mark.timeout(3600)]
CASES = ("basic", "core-types", "core-headers")
"""Directories whose messages a core client is given as they are."""


def names(case: golden_cases.GoldenCase) -> list[str]:
    return [queue["name"] for queue in case.drain()["queues"] if queue["count"] and not queue["name"].startswith("$")]


@pytest.mark.parametrize("version", CURRENT)
def test_a_client_is_given_the_same(version: str, tmp_path: Path) -> None:
    """Directories of a release are sent to a broker of the same, as no other is sure to say the same of them."""
    wrong: list[str] = []
    queues = messages = 0
    for case in golden_cases.cases(version):
        if case.name not in CASES:
            continue
        old, new = tmp_path / case.name / "old", tmp_path / case.name / "new"
        data = case.copy(tmp_path / case.name / "source")
        (old.parent / "old").mkdir(parents=True)
        case.copy(old)
        with target_broker(version, old) as broker:
            before = {name: broker.dump(name) for name in names(case)}
        with target_broker(version, new) as broker:
            answer = call("messages", "send", data, "--to", broker.url)
            assert answer.status < 2, answer.err
            after = {name: broker.dump(name) for name in before}
        print(case, {name: len(found.messages) for name, found in before.items()}, flush=True)
        for name, found in before.items():
            if f"::{name}: nothing sent" in answer.err:
                assert version == "2.28.0"
                continue
            queues += 1
            messages += len(found.messages)
            same = len(after[name].messages) == len(found.messages) if version == "2.28.0" else after[name] == found
            if not same:
                wrong.append(f"{case} {name}: {_difference(found.messages, after[name].messages)} {answer.err}")
                print(wrong[-1], flush=True)
    print(f"{version}: {queues} queues, {messages} messages, {len(wrong)} queues differ")
    assert not wrong, "\n".join(wrong)


def _difference(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    if len(before) != len(after):
        return f"{len(before)} and {len(after)} messages"
    pairs = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    return f"{len(pairs)} of {len(before)} differ, as {pairs[0] if pairs else 'scheduled ones'}"
