"""Rules of ``config lint`` named by options."""

from __future__ import annotations

from collections.abc import Iterable

from brokerconf.linting.catalogue import known_ids, meant
from brokerconf.linting.lint_report import RuleSelection

from pagectl.running.exits import CallError


def selected_rules(only: Iterable[str], ignored: Iterable[str]) -> RuleSelection:
    """Return the rules of ``--only`` and ``--ignore``. Raise ``CallError`` for a name that no rule has."""
    return RuleSelection(frozenset(_rule_ids(only, "--only")), frozenset(_rule_ids(ignored, "--ignore")))


def _rule_ids(texts: Iterable[str], option: str) -> list[str]:
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known_ids():
            raise CallError(f"{option} {name}: no such rule; {meant(name, known_ids())}")
    return names
