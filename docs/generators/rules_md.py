"""The page of the site with every rule of ``config lint``, made from the rules."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.linting.catalogue import CHECKS
from brokerconf.linting.rules_page import explained
from brokerconf.rules import rules


def _escaped(lines: list[str]) -> Iterator[str]:
    """Angle brackets outside of examples, which Markdown would take for HTML."""
    inside = False
    for line in lines:
        inside = inside != line.startswith("```")
        yield line if inside or line.startswith("`<!--") else line.replace("<", "&lt;")


def page() -> str:
    """Render the Markdown page of all checks and rules."""
    lines = [
        "# Rules of `pagectl config lint`",
        "",
        "Made from the files in `schemas/brokerconf/rules`; each example is a test. Silence a rule with",
        "`<!-- pagectl: ignore RULE -->` before an element, `<!-- pagectl: ignore-section RULE -->` inside one,",
        "or `--ignore RULE`.",
        "",
        "| check (always on) | what |",
        "|---|---|",
        *(f"| {id} | {title.replace('|', chr(92) + '|')} |" for id, (title, _) in sorted(CHECKS.items())),
        "",
    ]
    for rule in rules():
        lines += [*explained(rule), ""]
    return "\n".join(_escaped(lines))
