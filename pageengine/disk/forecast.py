"""Rate at which a disk fills, and when the broker will block. Standard library alone.

Disks fill in steps (journal files are written in advance), jump back (pages and old journal files are deleted) and
change their pace. So the rate is the median of the slopes between all pairs of samples (Theil and Sen), which a third
of wild samples does not move, with a confidence interval of 95 % (Sen, by Kendall's variance). It is computed over the
longest tail of the samples whose slope its own last third does not contradict: an old pace is forgotten.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import median
from typing import Final

# Fewer samples give no rate.
FEWEST: Final = 3
_MOST: Final = 90
_LAST_THIRD: Final = 5
_TWO_SIDED_95: Final = 1.959964

# (seconds, bytes used).
Point = tuple[float, float]


class Sureness(StrEnum):
    """Reliability of a trend.

    ``good``: ten samples or more, and the interval within a quarter of the rate; ``poor``: fewer than five, or possibly
    no growth at all.
    """

    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"


@dataclass(frozen=True, slots=True)
class Trend:
    """Rate in bytes per second with its bounds, the number of samples and their time span in seconds."""

    rate: float
    low: float
    high: float
    samples: int
    span: float

    @property
    def sureness(self) -> Sureness:
        """Return how far the trend can be trusted."""
        if self.low <= 0 < self.rate or self.samples < 5:
            return Sureness.POOR
        narrow = (self.high - self.low) / 2 <= abs(self.rate) / 4
        return Sureness.GOOD if narrow and self.samples >= 10 else Sureness.FAIR

    @property
    def grows(self) -> bool:
        """Return whether growth is certain enough to raise an alarm."""
        return self.low > 0


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """Seconds until the broker blocks; ``latest`` is infinite if that may never happen."""

    seconds: float
    soonest: float
    latest: float


def trend(points: Sequence[Point]) -> Trend | None:
    """Return the recent rate of growth, or None with too few samples; points are in order of time, no time twice."""
    points = thinned(points, _MOST)
    while True:
        fitted = slope(points)
        third = points[-max(_LAST_THIRD, len(points) // 3) :]
        if fitted is None or len(points) < 3 * _LAST_THIRD:
            return fitted
        recent = slope(third)
        if recent is None or _agrees(fitted.rate, recent):
            return fitted
        points = points[len(points) // 4 :]


def _agrees(rate: float, recent: Trend) -> bool:
    slack = 1e-6 * max(abs(recent.low), abs(recent.high), 1.0)
    return recent.low - slack <= rate <= recent.high + slack


def slope(points: Sequence[Point]) -> Trend | None:
    """Return the rate by Theil and Sen over these points, or None with too few."""
    count = len(points)
    if count < FEWEST:
        return None
    slopes = sorted((b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if b[0] > a[0])
    if not slopes:
        return None
    spread = _TWO_SIDED_95 * math.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    low = max(0, math.floor((len(slopes) - spread) / 2))
    high = min(len(slopes) - 1, math.ceil((len(slopes) + spread) / 2))
    return Trend(median(slopes), slopes[low], slopes[high], count, points[-1][0] - points[0][0])


def thinned(points: Sequence[Point], most: int) -> Sequence[Point]:
    """Return at most ``most`` points, evenly chosen; the first and the last stay."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(n * step)] for n in range(most)]


def time_left(margin: int | None, rate: Trend | None) -> TimeLeft | None:
    """Return when a margin in bytes is used up at that rate; None if no growth is known."""
    if margin is None or rate is None or rate.rate <= 0:
        return None
    margin = max(margin, 0)
    latest = margin / rate.low if rate.low > 0 else math.inf
    return TimeLeft(margin / rate.rate, margin / rate.high, latest)
