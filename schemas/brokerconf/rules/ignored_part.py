"""Parts of a file that the broker neither checks nor reads."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.document import Kind
from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule
from pagefmt.editions import Edition


def check(facts: Facts) -> Iterator[Hit]:
    core, document = facts.core, facts.document
    if core is None or document.kind is not Kind.ARTEMIS or core.parent is None:
        return
    for node in core.parent.children:
        if node is not core and node is not document.jms:
            again = f" (the first stands in line {core.position.line})" if node.tag == core.tag else ""
            yield Hit(node, f"<{node.tag}> is neither checked nor read{again}")


RULE = Rule(
    id="ignored-part",
    severity=Severity.WARNING,
    title="an element beside the first core",
    why="the broker takes the first <core> and the first <jms>; whatever else stands there has no effect",
    help="move its content into the first <core>, or remove it",
    check=check,
    since=Edition.ARTEMIS_1_5,
    failing=Example(
        whole="""<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core"><name>one</name></core>
  <core xmlns="urn:activemq:core"><name>two</name></core>
</configuration>"""
    ),
    passing=Example(core="<name>one</name>"),
    source="spec/config-behaviour.md, step 4",
)
