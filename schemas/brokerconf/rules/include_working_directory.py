"""Includes that hang on the folder the broker is started in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule
from pagefmt.editions import Edition


def check(facts: Facts) -> Iterator[Hit]:
    if len(facts.document.sources) < 2:
        return
    for node in facts.document.root.walk():
        if node.parent is not None and node.source is not node.parent.source:
            href = node.attributes.get("xml:base", "")
            if href and not PurePosixPath(href).is_absolute() and "://" not in href:
                yield Hit(
                    node, f"'{href}' is looked for in the broker's working directory, not beside the including file"
                )
                return


RULE = Rule(
    id="include-working-directory",
    severity=Severity.INFO,
    title="xi:include with a relative href",
    why="the parser is not told where the file lies: started from another folder, the broker does not find the parts",
    help="check with --cwd DIR what the broker would find, or write ${artemis.instance}/etc/… as href",
    check=check,
    since=Edition.ARTEMIS_2_10,
    failing=Example(
        whole="""<configuration xmlns="urn:activemq" xmlns:xi="http://www.w3.org/2001/XInclude">
  <core xmlns="urn:activemq:core"><xi:include href="parts/addresses.xml"/></core>
</configuration>""",
        files=(("parts/addresses.xml", '<addresses xmlns="urn:activemq:core"/>'),),
    ),
    passing=Example(core="<addresses/>"),
    source="spec/config-behaviour.md, step 3",
)
