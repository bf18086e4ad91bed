"""Every rule holds on its failing example and not on its passing one; both are what the schema makes of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from brokerconf import rules as package
from brokerconf.evidence.rule import Example, Rule
from brokerconf.linting.checking import check
from brokerconf.linting.examples import facts_of
from brokerconf.rules import rules

from pagefmt.findings import Finding, Severity

RULES = rules()


def findings(rule: Rule, example: Example) -> list[Finding]:
    return check(facts_of(example), [rule])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_failing_example_is_found(rule: Rule) -> None:
    found = findings(rule, rule.failing())
    assert found
    for finding in found:
        assert finding.rule == rule.id
        assert finding.severity is rule.severity_in(rule.failing().edition)
        assert finding.place.line > 0 and finding.place.column > 0
        assert finding.message and finding.help and finding.why
        assert finding.message[-1] not in ".!" and "\n" not in finding.message


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_passing_example_is_clean(rule: Rule) -> None:
    assert findings(rule, rule.passing()) == []


def test_ids_are_the_names_of_the_files() -> None:
    folder = Path(package.__file__).parent
    for rule in RULES:
        assert (folder / f"{rule.id.replace('-', '_')}.py").is_file()
    assert len({rule.id for rule in RULES}) == len(RULES) >= 57


def test_rules_come_in_one_order() -> None:
    assert [rule.id for rule in RULES] == sorted(rule.id for rule in RULES)
    assert {rule.severity for rule in RULES} == set(Severity)


def test_a_lint_makes_no_example() -> None:
    # Only tests, ``config explain`` and the page of rules need examples, and making them takes time and memory.
    code = "import brokerconf.evidence.rule as rule; rule.Example = None; from brokerconf.rules import rules; rules()"
    subprocess.run([sys.executable, "-c", code], check=True)
