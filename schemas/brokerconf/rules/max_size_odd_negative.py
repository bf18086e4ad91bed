"""A negative limit other than -1 (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("max-size-bytes"):
        if case.number("max-size-bytes") < -1:
            limit = case["max-size-bytes"]
            yield Hit(limit, f"{limit} of '{case.match}' means 'no limit', but is not -1")


RULE = Rule(
    id="max-size-odd-negative",
    severity=Severity.WARNING,
    title="max-size-bytes below -1",
    why="any negative number switches the limit off, but BLOCK and FAIL test only for -1 and assume a limit",
    help="write -1 for no limit",
    check=_check,
    settings=("max-size-bytes",),
    failing=lambda: Example(settings=address_setting("a", max_size_bytes="-5")),
    passing=lambda: Example(settings=address_setting("a", max_size_bytes="-1")),
)
