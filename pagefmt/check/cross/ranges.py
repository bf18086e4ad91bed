"""Numbers as people write them."""

from __future__ import annotations

from collections.abc import Iterable


def ranges(numbers: Iterable[int], limit: int = 8) -> str:
    """Return whole numbers as a person writes them, ``1-3, 7, …``, with at most ``limit`` ranges."""
    stretches: list[list[int]] = []
    for number in sorted(set(numbers)):
        if stretches and number == stretches[-1][1] + 1:
            stretches[-1][1] = number
        else:
            stretches.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in stretches[:limit]]
    return ", ".join(shown + (["…"] if len(stretches) > limit else []))
