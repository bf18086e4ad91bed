"""A misspelt name in a selector selects nothing; one remark says what was probably meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from harmed import golden
from program import call


@pytest.mark.parametrize(
    ("selector", "meant"),
    [
        ("JMSCorrelationId = 'x'", "JMSCorrelationID"),
        ("JMSPrioritty = 4", "JMSPriority"),
        ("JMSMessageId LIKE 'ID:%'", "JMSMessageID"),
        ("JMSTimeStamp > 0", "JMSTimestamp"),
        ("colour = 'green'", "color"),
        ("Color = 'green'", "color"),
        ("AMQPRIORITY = 4", "AMQPriority"),
    ],
)
@pytest.mark.parametrize("command", ["decode", "decode --to"])
def test_a_name_that_nothing_has(command: str, selector: str, meant: str, tmp_path: Path) -> None:
    words = ["--to", tmp_path / "x.parquet"] if command.endswith("--to") else ["--format", "jsonl"]
    answer = call("pages", "decode", golden("scattered-acks").data(), "--where", selector, *words)
    assert answer.err.count(f"did you mean '{meant}'?") == 1, answer
    assert answer.status == 0


@pytest.mark.parametrize(
    "selector",
    [
        "nothing_like_it = 1",
        "color = 'ultraviolet'",
        "JMSPriority > 9",
        "seq < 0",
        "AMQPriority = 40",
        "JMSCorrelationID = 'x'",
        "JMSType = 'x'",
        "_AMQ_Hops = 1",
    ],
)
def test_no_remark_where_nothing_is_near(selector: str) -> None:
    answer = call("pages", "decode", golden("scattered-acks").data(), "--where", selector, "--format", "jsonl")
    assert "did you mean" not in answer.err and not answer.out


def test_a_name_that_no_message_has_is_told() -> None:
    # The user forgot the quotes of ``color = 'red'``.
    answer = call("pages", "decode", golden("multicast-acks").data(), "--where", "color = red", "--format", "jsonl")
    name, pages = answer.err.splitlines()
    assert name == "note: no message has a property 'red'" and not answer.out
    assert pages.startswith("note: only pages were read; 'pagectl messages find ")
