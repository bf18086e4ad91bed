"""Sizes with a unit in ``broker.properties`` that become 0 (docs/spec/settings.md 1 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault, Outcome
from brokerconf.reading.properties import Entry
from brokerconf.reading.sizes import SizeError, parse_size
from pagefmt.editions import Edition
from pagefmt.findings import Fix, Severity


def is_size(one: Outcome) -> bool:
    """Whether a value that was lost says a size with a unit, for a key that takes plain numbers only."""
    if one.said != "becomes 0" or one.entry.value.strip()[-1:].isdigit():
        return False
    try:
        parse_size(one.entry.value)
    except SizeError:
        return False
    return True


def _check(facts: ConfigFacts) -> Hits:
    for one in facts.outcomes:
        if one.fault in (Fault.LOST, Fault.UNQUOTED) and is_size(one):
            entry = one.entry
            message = f"{one.name}={entry.value} {one.said}: this key accepts no units"
            yield Hit(entry.at_value or entry.position, message, fix=_in_bytes(entry), path=entry.key)


def _in_bytes(entry: Entry) -> Fix | None:
    """The number that broker.xml would read."""
    size = parse_size(entry.value)
    return Fix(entry.at_value, entry.value, str(size.value)) if entry.at_value and not size.overflowed else None


RULE = Rule(
    id="properties-size-notation",
    severity=Severity.ERROR,
    title="a unit in a key of broker.properties that accepts plain numbers only",
    why="only 64-bit keys (globalMaxSize, minDiskFree, maxSizeBytes, …) accept 10M there; the others become 0 "
    "without an error",
    help="write the number of bytes",
    check=_check,
    settings=("page-size-bytes", "page-limit-bytes", "max-read-page-bytes", "prefetch-page-bytes", "journal-file-size"),
    since=Edition.ARTEMIS_2_4,
    failing=lambda: Example(properties='addressSettings."orders.#".pageSizeBytes=1M\n'),
    passing=lambda: Example(properties='addressSettings."orders.#".pageSizeBytes=1048576\n'),
)
