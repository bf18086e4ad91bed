"""Values in ``broker.properties`` that the XML reader would refuse (docs/spec/settings.md 1 and 7)."""

from __future__ import annotations

from collections.abc import Callable

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.reading.sizes import SizeError, parse_size
from pagefmt.editions import Edition
from pagefmt.findings import Severity

INT_MAX = 2**31 - 1


def _minus_one_or_more(value: int) -> bool:
    return value == -1 or value > 0


def _percent(value: int) -> bool:
    return 0 <= value <= 100


def _int_size(value: int) -> bool:
    return 1 <= value <= INT_MAX


def _limit(value: int) -> bool:
    return value == -1 or 1 <= value <= INT_MAX


_RANGES: dict[str, tuple[Callable[[int], bool], str]] = {
    "maxDiskUsage": (lambda value: value == -1 or _percent(value), "-1 or 0 to 100"),
    "diskScanPeriod": (_minus_one_or_more, "-1 or above 0"),
    "minDiskFree": (_minus_one_or_more, "-1 or above 0"),
    "globalMaxSize": (_minus_one_or_more, "-1 or above 0"),
    "globalMaxMessages": (_minus_one_or_more, "-1 or above 0"),
    "globalMaxSizePercentOfJvmMaxMemory": (lambda value: value > 0, "above 0"),
    "memoryWarningThreshold": (_percent, "0 to 100"),
    "journalCompactPercentage": (_percent, "0 to 100"),
    "pageSizeBytes": (_int_size, f"1 to {INT_MAX}"),
    "journalFileSize": (lambda value: 1024 <= value <= INT_MAX, f"1024 to {INT_MAX}"),
    "pageLimitBytes": (_minus_one_or_more, "-1 or above 0"),
    "pageLimitMessages": (_minus_one_or_more, "-1 or above 0"),
    "maxReadPageBytes": (_limit, f"-1 or 1 to {INT_MAX}"),
    "maxReadPageMessages": (_limit, f"-1 or 1 to {INT_MAX}"),
    "prefetchPageBytes": (_limit, f"-1 or 1 to {INT_MAX}"),
    "prefetchPageMessages": (_limit, f"-1 or 1 to {INT_MAX}"),
}


def _check(facts: ConfigFacts) -> Hits:
    """Yield a hit for each number that is outside the range of its property; values that are no number are skipped."""
    for entry in facts.properties:
        bean = entry.key.rpartition(".")[2]
        fits, allowed = _RANGES.get(bean, (None, ""))
        if fits is None:
            continue
        try:
            value = parse_size(entry.value, facts.edition).value
        except SizeError:
            continue
        if not fits(value):
            message = f"{bean}={entry.value} is out of range ({allowed})"
            yield Hit(entry.at_value or entry.position, message, f"use {allowed}", path=entry.key)


RULE = Rule(
    id="properties-range",
    severity=Severity.WARNING,
    title="a value in broker.properties that broker.xml would not allow",
    why="properties are not validated: the broker accepts the number and behaves accordingly",
    help="use a value that is valid for the element in broker.xml",
    check=_check,
    since=Edition.ARTEMIS_2_4,
    failing=lambda: Example(properties="maxDiskUsage=101\n"),
    passing=lambda: Example(properties="maxDiskUsage=90\n"),
)
