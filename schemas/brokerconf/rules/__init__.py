"""All rules: every file of this package that has a ``RULE`` is one. Adding a rule is adding a file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brokerconf.rules.rule import Rule

# The files that are not rules.
_OTHERS = frozenset({"__init__", "catalogue", "checking", "examples", "facts", "page", "patterns", "places", "rule"})


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by its id."""
    here = (entry.name for entry in files(__name__).iterdir())
    names = sorted(name.removesuffix(".py") for name in here if name.endswith(".py"))
    found: list[Rule] = [import_module(f"{__name__}.{name}").RULE for name in names if name not in _OTHERS]
    return tuple(sorted(found, key=lambda rule: rule.id))
