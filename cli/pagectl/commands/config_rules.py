"""``pagectl config rules``: every rule and check, with its severity."""

from __future__ import annotations

from collections.abc import Iterable

from pagectl.options.formats import ListFormat
from pagectl.options.shared import ListFormatOption
from pagectl.terminal.streams import print_table

EXAMPLES = (("The rules about paging", "config rules | grep page"),)


def command(format: ListFormatOption = ListFormat.text) -> None:
    """List every rule with its severity, the editions that it applies to, and one line about what it finds."""
    from pagectl.reports.config_rules import ConfigRules
    from pagectl.reports.listing import print_json_lists

    listed = ConfigRules.all()
    if format is not ListFormat.text:
        lists: dict[str, Iterable[object]] = {"rules": listed.rules, "checks": listed.checks}
        print_json_lists(lists, lines=format is ListFormat.jsonl)
        return
    columns = ("rule", "severity", "editions", "needs", "title")
    print_table(columns, ([getattr(rule, name) for name in columns] for rule in listed.rules), prose=True)
    print()
    print_table(("check", "title"), ((check.check, check.title) for check in listed.checks), prose=True)
