"""``${name}`` that nothing fills in (docs/spec/settings.md 1 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    then = "the server does not start" if facts.document.kind.of_application_server else "it becomes empty"
    for placeholder in facts.empty_placeholders:
        name = placeholder.placeholder.name
        yield Hit(placeholder.position, f"${{{name}}} has no default, and no property '{name}' is given: {then}")


RULE = Rule(
    id="unresolved-placeholder",
    severity=Severity.ERROR,
    title="${name} without a default",
    why="a property that is not set becomes empty text: the name or number around it changes without a warning",
    help="write ${name:default}, or give the linter the property that the broker is started with: -D name=value",
    check=_check,
    failing=lambda: Example(core="<name>${broker.name}</name>"),
    passing=lambda: Example(core="<name>${broker.name:primary}</name>"),
)
