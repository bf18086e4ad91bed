"""Ranges, performance values and text of the monitoring-plugin convention."""

from __future__ import annotations

import pytest
from pagectl.options.disk_thresholds import Threshold
from pagectl.terminal.nagios import Perf, Range, Status, line, number, plain
from plugin_output import read_plugin_output


@pytest.mark.parametrize(
    ("text", "alerting", "fine"),
    [
        # the convention's own table of examples
        ("10", [-1, 10.1, 11], [0, 5, 10]),
        ("10:", [9.9, -1, 0], [10, 11, 1e9]),
        ("~:10", [10.1, 1e9], [10, -5, 0]),
        ("10:20", [9, 21], [10, 15, 20]),
        ("@10:20", [10, 15, 20], [9, 21]),
        # its further forms
        (":10", [-1, 11], [0, 10]),
        ("@10", [0, 5, 10], [-1, 11]),
        ("-5:5", [-6, 6], [-5, 5]),
        ("1.5:2.5", [1.4, 2.6], [1.5, 2.5]),
        ("0:", [-0.1], [0, 1]),
        ("~:", [], [-1e9, 0, 1e9]),
        ("@~:0", [-1, 0], [0.1]),
    ],
)
def test_range(text: str, alerting: list[float], fine: list[float]) -> None:
    parsed = Range.parse(text)
    assert [value for value in alerting if not parsed.alerts(value)] == []
    assert [value for value in fine if parsed.alerts(value)] == []
    assert Range.parse(str(parsed)) == parsed, "what is printed means the same"


@pytest.mark.parametrize("text", ["", "@", "x", "20:10", "10:20:30", "~", "10:~", "1e3", "10 20", "~:~", "٣"])
def test_no_range(text: str) -> None:
    with pytest.raises(ValueError, match="range"):
        Range.parse(text)


@pytest.mark.parametrize(
    ("text", "start", "end", "of_margin"),
    [
        ("80", 0, 80, False),
        ("80%", 0, 80, False),
        ("@80%:90%", 80, 90, False),
        ("10G:", 10 * 2**30, float("inf"), True),
        ("500MiB:2GB", 500 * 2**20, 2 * 2**30, True),
        ("1.5K:", 1536, float("inf"), True),
    ],
)
def test_threshold(text: str, start: float, end: float, of_margin: bool) -> None:
    threshold = Threshold.parse(text)
    assert (threshold.range.start, threshold.range.end, threshold.of_margin) == (start, end, of_margin)


@pytest.mark.parametrize("text", ["10G", "80%:10G", "lots"])
def test_threshold_words(text: str) -> None:
    if text == "10G":
        assert Threshold.parse(text).of_margin  # more than 10 GiB left alerts: odd, but what was written
        return
    with pytest.raises(ValueError, match=r"range|mixes"):
        Threshold.parse(text)


def test_performance_value() -> None:
    assert str(Perf("usage", 70.25, "%", Range(0, 80), Range(0, 90), 0, 100)) == "'usage'=70.25%;80;90;0;100"
    assert str(Perf("left", 5, "B", None, Range(1, float("inf")))) == "'left'=5B;;1:;;"
    assert str(Perf("it's = it", 1)) == "'it''s _ it'=1;;;;"
    assert str(Perf("gone", None)) == "'gone'=U"


def test_numbers_have_no_exponent() -> None:
    assert [number(value) for value in (1e18, 1e-7, 0.1, -3, 2.5)] == ["1000000000000000000", "0", "0.1", "-3", "2.5"]


def test_text_cannot_break_the_line() -> None:
    told = line("DISK", Status.WARNING, "a|b\nc\x1b[31m", [Perf("m|n\n", 1)])
    read = read_plugin_output(told + "\n")
    assert (read.status, len(read.values), read.more) == ("WARNING", 1, [])
    assert "\x1b" not in told
    assert plain("a|b") == "a\\x7cb"


def test_worst_status() -> None:
    assert Status.worst([Status.OK, Status.UNKNOWN, Status.WARNING]) is Status.UNKNOWN
    assert Status.worst([Status.CRITICAL, Status.UNKNOWN]) is Status.CRITICAL
    assert Status.worst([]) is Status.OK
