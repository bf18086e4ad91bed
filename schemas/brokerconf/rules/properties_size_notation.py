"""Sizes with a unit in ``broker.properties`` that become 0 (docs/spec/settings.md 1 and 7)."""

from __future__ import annotations

import re

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.reading.properties import Entry
from brokerconf.reading.sizes import SizeError, parse_size
from pagefmt.editions import Edition
from pagefmt.findings import Fix, Severity

PLAIN_ONLY = ("pageSizeBytes", "pageLimitBytes", "maxReadPageBytes", "prefetchPageBytes", "journalFileSize")
_PLAIN = re.compile(r"\s*[+-]?\d+\s*")


def _check(facts: ConfigFacts) -> Hits:
    for entry in facts.properties:
        bean = entry.key.rpartition(".")[2]
        if bean in PLAIN_ONLY and not _PLAIN.fullmatch(entry.value):
            becomes = "is ignored" if bean == "prefetchPageBytes" else "becomes 0"
            yield Hit(entry.position, f"{bean}={entry.value} {becomes}: no units in this key", fix=_in_bytes(entry))


def _in_bytes(entry: Entry) -> Fix | None:
    """The number that broker.xml would read."""
    try:
        size = parse_size(entry.value)
    except SizeError:
        return None
    return Fix(entry.at_value, entry.value, str(size.value)) if entry.at_value and not size.overflowed else None


RULE = Rule(
    id="properties-size-notation",
    severity=Severity.ERROR,
    title="a unit in a key of broker.properties that takes plain numbers only",
    why="only 64-bit keys (globalMaxSize, minDiskFree, maxSizeBytes, …) read 10M there; the others get 0 with no error",
    help="write the number of bytes",
    check=_check,
    settings=("page-size-bytes", "page-limit-bytes", "max-read-page-bytes", "prefetch-page-bytes", "journal-file-size"),
    since=Edition.ARTEMIS_2_4,
    failing=Example(properties='addressSettings."orders.#".pageSizeBytes=1M\n'),
    passing=Example(properties='addressSettings."orders.#".pageSizeBytes=1048576\n'),
)
