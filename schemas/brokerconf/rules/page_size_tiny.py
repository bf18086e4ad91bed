"""Pages so small that each is a file for a few messages (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity

SMALLEST = 65536


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("page-size-bytes"):
        if 0 < case.number("page-size-bytes") < SMALLEST:
            size = case["page-size-bytes"]
            yield Hit(size, f"{size} of '{case.match}': a file for every few messages")


RULE = Rule(
    id="page-size-tiny",
    severity=Severity.WARNING,
    title="page-size-bytes below 64 KiB",
    why="each page is a file and an object on the heap: a long backlog creates millions of both",
    help="use 1M or more; the default is 10 MiB",
    check=_check,
    settings=("page-size-bytes",),
    failing=lambda: Example(settings=address_setting("a", page_size_bytes="1024")),
    passing=lambda: Example(settings=address_setting("a", page_size_bytes="1048576")),
)
