"""Areas over time, drawn with eighth blocks (or ``#`` where the terminal has no Unicode)."""

from __future__ import annotations

from collections.abc import Sequence

BLOCKS = " ▁▂▃▄▅▆▇█"
PLAIN = " ....:::#"


def area(values: Sequence[int], height: int, *, unicode: bool = True) -> list[str]:
    """Return the rows of the plot from the top; each value fills its column in proportion to the largest."""
    glyphs = BLOCKS if unicode else PLAIN
    top = max(values, default=0)
    if top <= 0:
        return [" " * len(values)] * height
    filled = [max(1, round(value * height * 8 / top)) if value > 0 else 0 for value in values]
    return ["".join(glyphs[min(max(level - row * 8, 0), 8)] for level in filled) for row in range(height - 1, -1, -1)]


def band(values: Sequence[int], *, unicode: bool = True) -> str:
    """Return a row that marks where values are not zero."""
    on, off = ("━", "·") if unicode else ("=", ".")
    return "".join(on if value else off for value in values)
