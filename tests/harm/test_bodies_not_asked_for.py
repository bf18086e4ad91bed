"""Bodies that nobody asked for are not printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harmed import golden
from program import call


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


@pytest.mark.parametrize("version", ["2.28.0", "2.44.0", "2.56.0"])
@pytest.mark.parametrize("body", ["none", "size", "sha256"])
def test_bodies_that_were_not_asked_for(body: str, version: str) -> None:
    # AMQP values and sequences are bodies, too.
    case = golden("amqp-sections", version)
    answer = call("pages", "decode", case.data(), "--body", body, "--format", "jsonl")
    parts = [part for line in answer.lines() for part in line["amqp"]["body"] or []]
    assert parts, "the case has bodies"
    assert [part for part in parts if "value" in part or "values" in part or "items" in part] == []
    full = call("pages", "decode", case.data(), "--body", "value", "--format", "jsonl")
    texts = {text for line in full.lines() for text in strings(line["amqp"]["body"]) if len(text) > 40 and " " in text}
    assert texts, "the case has texts in them"
    for form in ("jsonl", "text", "csv"):
        said = call("pages", "decode", case.data(), "--body", body, "--format", form).out
        assert not [text for text in texts if text in said]


def test_a_body_that_was_asked_for_is_there() -> None:
    data = golden("amqp-sections").data()
    lines = call("pages", "decode", data, "--body", "value", "--format", "jsonl").lines()
    assert any("value" in part for line in lines for part in line["amqp"]["body"] or [])
