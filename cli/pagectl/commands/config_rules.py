"""``pagectl config rules``: every rule and check, with its severity."""

from __future__ import annotations

from pagectl.options.formats import ListFormat
from pagectl.options.shared import ListFormatOption
from pagectl.terminal.streams import JsonItems, print_table

EXAMPLES = (("The rules about paging", "config rules | grep page"),)


def command(format: ListFormatOption = ListFormat.text) -> None:
    """List every rule with its severity, the editions that it applies to, and one line about what it finds."""
    from pagectl.reports.config_rules import ConfigRules

    listed = ConfigRules.all()
    if format is not ListFormat.text:
        items = JsonItems("rules", "checks", lines=format is ListFormat.jsonl)
        for rule in listed.rules:
            items.add("rules", rule)
        for check in listed.checks:
            items.add("checks", check)
        items.end()
        return
    columns = ("rule", "severity", "editions", "needs", "title")
    print_table(columns, ([getattr(rule, name) for name in columns] for rule in listed.rules), prose=True)
    print()
    print_table(("check", "title"), ((check.check, check.title) for check in listed.checks), prose=True)
