"""Sizes with a unit in ``broker.properties`` that become 0 (docs/spec/settings.md 1 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault, Outcome
from brokerconf.reading.property_entries import Entry
from brokerconf.reading.sizes import SizeError, parse_size
from pagefmt.editions import Edition
from pagefmt.findings import Fix, Severity


def is_size(outcome: Outcome) -> bool:
    """Return whether a lost value is a size with a unit, for a key that accepts plain numbers only."""
    if outcome.said != "becomes 0" or outcome.entry.value.strip()[-1:].isdigit():
        return False
    try:
        parse_size(outcome.entry.value)
    except SizeError:
        return False
    return True


def _check(facts: ConfigFacts) -> Hits:
    for outcome in facts.outcomes:
        if outcome.fault in (Fault.LOST, Fault.UNQUOTED) and is_size(outcome):
            entry = outcome.entry
            message = f"{outcome.name}={entry.value} {outcome.said}: this key accepts no units"
            yield Hit(entry.at_value or entry.position, message, fix=_in_bytes(entry), path=entry.key)


def _in_bytes(entry: Entry) -> Fix | None:
    """Return the fix that writes the number of bytes, as broker.xml would read the size; None if it overflows."""
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
