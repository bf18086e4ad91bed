"""Permissions of a kind that does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule

# Kinds of all editions, the old names of temporary queues among them.
KINDS = (
    "browse", "consume", "createAddress", "createDurableQueue", "createNonDurableQueue", "createTempQueue",
    "deleteAddress", "deleteDurableQueue", "deleteNonDurableQueue", "deleteTempQueue", "edit", "manage", "send", "view",
)  # fmt: skip


def check(facts: Facts) -> Iterator[Hit]:
    for node in facts.elements("permission"):
        kind = node.attributes.get("type", "")
        if kind and kind not in KINDS:
            close = get_close_matches(kind, KINDS, 1)
            advice = f"did you mean '{close[0]}'?" if close else ""
            yield Hit(node, f"'{kind}' is no kind of permission: it has no effect", advice, attribute="type")


RULE = Rule(
    id="unknown-permission",
    severity=Severity.WARNING,
    title="a permission of an unknown type",
    why="the broker logs a warning and goes on: the right is given to nobody",
    help=f"one of: {', '.join(KINDS)}",
    check=check,
    failing=Example(
        core="""<security-settings><security-setting match="#">
  <permission type="sends" roles="shop"/>
</security-setting></security-settings>"""
    ),
    passing=Example(
        core="""<security-settings><security-setting match="#">
  <permission type="send" roles="shop"/>
</security-setting></security-settings>"""
    ),
    source="spec/config-behaviour.md",
)
