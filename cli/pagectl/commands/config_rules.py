"""``pagectl config rules``: every rule and check, with its severity."""

from __future__ import annotations

from pagectl.options.groups import ListOptions
from pagectl.terminal.streams import print_table

EXAMPLES = (
    ("The rules about paging", "config rules | grep page"),
    ("Rules and severities as CSV", "config rules --columns rule,severity --format csv"),
)


def command(listed: ListOptions = ListOptions()) -> None:
    """List every rule with its severity, the editions that it applies to, and one line about what it finds.

    The checks that are always on follow; not in CSV, and with --columns in JSON documents alone.
    """
    from pagectl.reports.config_rules import RULES, ConfigRules

    view, catalogue = RULES.view(listed), ConfigRules.all()
    view.write(view.chosen(catalogue.rules), {"checks": catalogue.checks})
    if view.as_text and view.columns is None:
        print()
        print_table(("check", "title"), ((check.check, check.title) for check in catalogue.checks), prose=True)
