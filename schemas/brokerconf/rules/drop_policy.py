"""DROP: messages lost in silence (docs/spec/settings.md 7)."""

from __future__ import annotations

import re
from functools import lru_cache

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity

# Words by which people name addresses whose messages may be lost.
_LOSSY = re.compile(
    r"lossy|metric|telemetry|stat(s|istics)?\b|monitor|heartbeat|sensor|tick(er)?s?\b|sampl|trace|debug|volatile|"
    r"\blogs?\b|noise|droppable|best-?effort",
    re.IGNORECASE,
)


@lru_cache(maxsize=10_000)
def _is_lossy(match: str) -> bool:
    return _LOSSY.search(match) is not None


def _check(facts: ConfigFacts) -> Hits:
    for name in ("address-full-policy", "page-full-policy", "disk-full-policy"):
        for case in facts.cases_with(name):
            if case.value(name) == "DROP" and not (name == "address-full-policy" and _is_lossy(case.match)):
                policy = case[name]
                yield Hit(policy, f"{policy} on '{case.match}' loses messages without telling the sender")


RULE = Rule(
    id="drop-policy",
    severity=Severity.WARNING,
    title="DROP on an address that does not look as if it may lose messages",
    why="messages that arrive while the address, its pages or the disk are full are lost; the log has only one line "
    "about it",
    help="use PAGE, BLOCK or FAIL; if the loss is intended, silence the rule with a comment",
    check=_check,
    settings=("address-full-policy", "page-full-policy", "disk-full-policy"),
    failing=lambda: Example(settings=address_setting("orders.#", max_size_bytes="100M", address_full_policy="DROP")),
    passing=lambda: Example(settings=address_setting("metrics.#", max_size_bytes="100M", address_full_policy="DROP")),
)
