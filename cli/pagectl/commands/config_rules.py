"""``pagectl config rules``: every rule and check, with its severity."""

from __future__ import annotations

from pagectl.options.formats import TextOrJson
from pagectl.options.shared import TextOrJsonOption

EXAMPLES = (("The rules about paging", "config rules | grep page"),)


def command(format: TextOrJsonOption = TextOrJson.text) -> None:
    """List every rule with its severity, the editions that it applies to, and one line about what it finds."""
    from brokerconf.linting.catalogue import CHECKS
    from brokerconf.linting.rules_page import editions_said, severities_said
    from brokerconf.rules import rules

    from pagectl.terminal.streams import print_json, print_table

    rows = [
        {
            "rule": rule.id, "severity": severities_said(rule), "editions": editions_said(rule), "needs": rule.needs,
            "title": rule.title,
        }
        for rule in rules()
    ]  # fmt: skip
    checks = [{"check": id, "title": title} for id, (title, _) in sorted(CHECKS.items())]
    if format is TextOrJson.json:
        print_json({"rules": rows, "checks": checks})
        return
    print_table(("rule", "severity", "editions", "needs", "title"), (row.values() for row in rows))
    print()
    print_table(("check", "title"), (row.values() for row in checks))
