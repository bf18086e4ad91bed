"""A reader of monitoring-plugin output, written from the convention's text alone: what a monitoring system takes in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = rf"@?(?:(?:~|{_NUMBER})?:)?(?:{_NUMBER})?"
_VALUE = re.compile(
    rf"(?P<label>'(?:[^']|'')+'|[^'= ]+)=(?:(?P<unknown>U)|(?P<value>{_NUMBER})(?P<unit>s|us|ms|%|B|KB|MB|GB|TB|c)?"
    rf"(?:;(?P<warn>{_RANGE}))?(?:;(?P<crit>{_RANGE}))?(?:;(?P<min>{_NUMBER})?)?(?:;(?P<max>{_NUMBER})?)?)(?: |$)"
)


@dataclass(frozen=True)
class Value:
    """A performance value of a monitoring plugin, with its thresholds."""

    value: float
    unit: str
    warn: str
    crit: str


@dataclass(frozen=True)
class PluginOutput:
    """The parsed output of a monitoring plugin."""

    status: str
    text: str
    values: dict[str, Value]
    more: list[str]


def read_plugin_output(output: str) -> PluginOutput:
    """Parse a check's output, and assert that it follows the convention."""
    assert output.endswith("\n")
    first, *more = output[:-1].split("\n")
    assert first.count("|") <= 1, "more than one pipe"
    text, _, performance = first.partition("|")
    head = re.fullmatch(r"(?:DISK(?: FORECAST)?|MESSAGES|PAGES) (OK|WARNING|CRITICAL|UNKNOWN) - (.+?) ?", text)
    assert head, text
    assert all("|" not in line for line in more)
    values: dict[str, Value] = {}
    rest = performance.strip()
    while rest:
        found = _VALUE.match(rest)
        assert found, f"not a performance value: {rest}"
        label = found["label"].strip("'").replace("''", "'")
        assert label not in values, f"twice: {label}"
        assert "=" not in label
        if found["value"] is not None:
            values[label] = Value(float(found["value"]), found["unit"] or "", found["warn"] or "", found["crit"] or "")
        rest = rest[found.end() :].lstrip()
    return PluginOutput(head[1], head[2], values, more)
