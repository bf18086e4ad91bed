"""``pagectl config rules``: every rule and check, with its severity."""

from __future__ import annotations

from pagectl.options.formats import ListFormat
from pagectl.options.shared import ListFormatOption

EXAMPLES = (("The rules about paging", "config rules | grep page"),)


def command(format: ListFormatOption = ListFormat.text) -> None:
    """List every rule with its severity, the editions that it applies to, and one line about what it finds."""
    from brokerconf.linting.catalogue import CHECKS
    from brokerconf.linting.rules_page import editions_said, severities_said
    from brokerconf.rules import rules

    from pagectl.terminal.streams import JsonItems, print_table

    rows = [
        {
            "rule": rule.id, "severity": severities_said(rule), "editions": editions_said(rule), "needs": rule.needs,
            "title": rule.title,
        }
        for rule in rules()
    ]  # fmt: skip
    checks = [{"check": id, "title": title} for id, (title, _) in sorted(CHECKS.items())]
    if format is not ListFormat.text:
        items = JsonItems("rules", "checks", lines=format is ListFormat.jsonl)
        for key, listed in (("rules", rows), ("checks", checks)):
            for item in listed:
                items.add(key, item)
        items.end()
        return
    print_table(("rule", "severity", "editions", "needs", "title"), (row.values() for row in rows), prose=True)
    print()
    print_table(("check", "title"), (row.values() for row in checks), prose=True)
