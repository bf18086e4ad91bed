"""Values over the course of a replay, downsampled as they come in: bounded memory and reproducible.

A bucket covers a power of two of operations; when there are too many buckets, each two become one. Nothing happens
between two operations, so a plot over time loses nothing by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BUCKETS = 1024
# Series of amounts; all others are levels.
COUNTS = ("dropped", "failed")


@dataclass
class Bucket:
    """Bucket of a series.

    ``high``: largest value in it; ``last``: value at its end; ``t``: time of its first change.
    """

    number: int
    t: int
    high: int
    last: int

    def merge(self, high: int, last: int, counted: bool) -> None:
        """Add the bucket that follows."""
        self.high = self.high + high if counted else max(self.high, high)
        self.last = self.last + last if counted else last


@dataclass
class Series:
    """Series by name. A level holds until it changes; an amount is that of the bucket alone."""

    width: int = 1
    lines: dict[str, list[Bucket]] = field(default_factory=dict)

    def see(self, name: str, i: int, t: int, value: int) -> None:
        """Record the level from operation ``i`` on."""
        number = i // self.width
        line = self.lines.get(name)
        if line is None:
            line = self.lines[name] = []
        else:
            last = line[-1]
            if last.number == number:
                last.last = value
                if value > last.high:
                    last.high = value
                return
        line.append(Bucket(number, t, value, value))
        if len(line) > BUCKETS:
            self._thin()

    def add(self, name: str, i: int, t: int, amount: int) -> None:
        """Record an amount of COUNTS at operation ``i``."""
        line = self.lines.get(name)
        if line and line[-1].number == i // self.width:
            amount += line[-1].last
        self.see(name, i, t, amount)

    def _thin(self) -> None:
        self.width *= 2
        for name, line in self.lines.items():
            thinner: list[Bucket] = []
            for bucket in line:
                bucket.number //= 2
                if not thinner or thinner[-1].number != bucket.number:
                    thinner.append(bucket)
                else:
                    thinner[-1].merge(bucket.high, bucket.last, name in COUNTS)
            self.lines[name] = thinner

    def points(self, name: str, *, timed: bool = True) -> list[tuple[int, int, int]]:
        """Return (time, highest, last) of each bucket in order.

        If not ``timed``, the number of the operation takes the place of the time.
        """
        return [
            (bucket.t if timed else bucket.number * self.width, bucket.high, bucket.last)
            for bucket in self.lines.get(name, ())
        ]


Points = list[tuple[int, int, int]]


def in_columns(points: Points, start: int, end: int, count: int, *, sums: bool = False) -> list[int]:
    """Return the series cut into ``count`` equal parts of the axis: the highest level in each, or the sum."""
    columns = [0] * count
    span = max(end - start, 1)
    at, level = 0, 0
    for x, high, last in points:
        column = min(max((x - start) * count // span, 0), count - 1)
        if sums:
            columns[column] += high
            continue
        for between in range(at + 1, column + 1):
            columns[between] = level
        columns[column] = max(columns[column], high)
        at, level = column, last
    if points and not sums:
        for between in range(at + 1, count):
            columns[between] = level
    return columns
