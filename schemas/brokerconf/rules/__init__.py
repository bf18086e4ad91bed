"""All rules: every file of this package that has a ``RULE`` is one. Adding a rule is adding a file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brokerconf.evidence.rule import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule, sorted by id."""
    names = {path.stem for path in Path(__file__).parent.glob("*.py")} - {"__init__"}
    loaded: list[Rule] = [import_module(f"{__name__}.{name}").RULE for name in names]
    return tuple(sorted(loaded, key=lambda rule: rule.id))
