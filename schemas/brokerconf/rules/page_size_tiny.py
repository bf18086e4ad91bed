"""Pages so small that each is a file for a few messages."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.evidence.facts import Facts
from brokerconf.evidence.rule import Example, Hit, Rule
from pagefmt.findings import Severity

SMALLEST = 65536


def check(facts: Facts) -> Iterator[Hit]:
    for case in facts.cases_with("page-size-bytes"):
        if 0 < case.number("page-size-bytes") < SMALLEST:
            size = case["page-size-bytes"]
            yield Hit(size, f"{size} of '{case.match}': a file for every few messages")


RULE = Rule(
    id="page-size-tiny",
    severity=Severity.WARNING,
    title="page-size-bytes below 64 KiB",
    why="each page is a file and an object in the heap: a long backlog becomes millions of both",
    help="use 1M or more; the default is 10 MiB",
    check=check,
    settings=("page-size-bytes",),
    failing=Example(settings='<address-setting match="a"><page-size-bytes>1024</page-size-bytes></address-setting>'),
    passing=Example(settings='<address-setting match="a"><page-size-bytes>1048576</page-size-bytes></address-setting>'),
    source="spec/settings.md 7",
)
