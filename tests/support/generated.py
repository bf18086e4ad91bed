"""How many examples the generated tests (Hypothesis) draw."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> int:
    """Return ``number`` scaled to the profile in force: ``number`` itself with its usual hundred examples per test."""
    return max(1, number * settings.default.max_examples // 100)
