"""The rules and checks of ``config lint``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokerconf.linting.catalogue import CHECKS
from brokerconf.linting.rules_page import editions_text, severities_text
from brokerconf.rules import rules

from pagectl.reports.form import Report
from pagectl.reports.listing import RowListing, TableColumn

if TYPE_CHECKING:
    from brokerconf.evidence.rule import Rule


class RuleRow(Report):
    """A line of ``config rules --format jsonl``: a rule."""

    rule: str
    severity: str
    """The severity, and how it changes with the edition."""
    editions: str
    """The editions that the rule applies to, in words."""
    needs: str
    """``heap``, ``data`` or ``host`` if the file alone is not enough; else empty."""
    title: str

    @classmethod
    def of(cls, rule: Rule) -> RuleRow:
        """Return the row of a rule."""
        return cls(
            rule=rule.id,
            severity=severities_text(rule),
            editions=editions_text(rule),
            needs=rule.needs,
            title=rule.title,
        )


class CheckRow(Report):
    """A line of ``config rules --format jsonl``: a check, which is always on."""

    check: str
    title: str


class ConfigRules(Report):
    """``config rules --format json``: every rule and check."""

    rules: list[RuleRow]
    checks: list[CheckRow]

    @classmethod
    def all(cls) -> ConfigRules:
        """Return all rules and checks."""
        checks = [CheckRow(check=name, title=title) for name, (title, _) in sorted(CHECKS.items())]
        return cls(rules=list(map(RuleRow.of, rules())), checks=checks)


RULES = RowListing("rules", RuleRow, tuple(TableColumn(name, name) for name in RuleRow.__struct_fields__), prose=True)
ANSWERS = {"config-rules": ConfigRules, "config-rules.line": (RuleRow, CheckRow)}
