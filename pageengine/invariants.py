"""What must hold whenever the broker rests: the invariants of spec/paging-engine.md 5, by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.errors import PageEngineError

if TYPE_CHECKING:
    from pageengine.engine import Engine


class InvariantBroken(PageEngineError):
    """The engine contradicts itself: an error of the program."""


def check_invariants(engine: Engine) -> None:
    pass
