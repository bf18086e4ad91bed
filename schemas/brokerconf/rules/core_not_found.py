"""A file in which the broker finds nothing, and starts all the same."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.document import Kind
from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule
from pagefmt.editions import Edition


def check(facts: Facts) -> Iterator[Hit]:
    if facts.core is not None:
        return
    if facts.document.kind is Kind.EAP6:
        yield Hit(facts.document.root, "no messaging subsystem in this file", "name the file that has one")
        return
    prefixed = next((node for node in facts.document.root.walk() if node.name == "core" and node.tag != "core"), None)
    found = f"<{prefixed.tag}> is not taken for it" if prefixed else "there is none"
    yield Hit(prefixed or facts.document.root, f"the broker looks for an element written <core>: {found}")


RULE = Rule(
    id="core-not-found",
    severity=Severity.WARNING,
    title="no element that is written <core>",
    why="the broker starts without a word, on its defaults alone: no acceptors, no security, no limits of yours",
    help='write <core xmlns="urn:activemq:core"> inside <configuration>, without a prefix',
    check=check,
    since=Edition.ARTEMIS_1_5,
    failing=Example(whole='<configuration xmlns="urn:activemq" xmlns:c="urn:activemq:core"><c:core/></configuration>'),
    passing=Example(core="<name>primary</name>"),
    source="spec/config-behaviour.md, step 4",
)
