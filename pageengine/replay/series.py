"""Values over the course of a replay, downsampled as they come in: bounded memory and reproducible.

A bucket covers a power of two of operations; when there are too many buckets, each two become one. What happens between
two operations is nothing, so a plot over time loses nothing by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BUCKETS = 1024


@dataclass(slots=True)
class Bucket:
    """``high``: largest value in it; ``last``: value at its end; ``t``: time of its first change."""

    number: int
    t: int
    high: int
    last: int


@dataclass(slots=True)
class Series:
    """Series by name. A level holds until it changes; an ``add``ed amount is that of the bucket alone."""

    width: int = 1
    lines: dict[str, list[Bucket]] = field(default_factory=dict)

    def level(self, name: str, i: int, t: int, value: int) -> None:
        """The level is ``value`` from operation ``i`` on."""
        line = self.lines.setdefault(name, [])
        number = i // self.width
        if line and line[-1].number == number:
            last = line[-1]
            last.high, last.last = max(last.high, value), value
            return
        line.append(Bucket(number, t, value, value))
        if len(line) > BUCKETS:
            self._thin(counts=("dropped", "failed"))

    def add(self, name: str, i: int, t: int, amount: int) -> None:
        """Operation ``i`` adds an amount."""
        line = self.lines.setdefault(name, [])
        number = i // self.width
        if line and line[-1].number == number:
            line[-1].high += amount
            line[-1].last += amount
            return
        line.append(Bucket(number, t, amount, amount))
        if len(line) > BUCKETS:
            self._thin(counts=("dropped", "failed"))

    def _thin(self, counts: tuple[str, ...]) -> None:
        self.width *= 2
        for name, line in self.lines.items():
            thinner: list[Bucket] = []
            for bucket in line:
                bucket.number //= 2
                if not thinner or thinner[-1].number != bucket.number:
                    thinner.append(bucket)
                elif name in counts:
                    thinner[-1].high += bucket.high
                    thinner[-1].last += bucket.last
                else:
                    thinner[-1].high = max(thinner[-1].high, bucket.high)
                    thinner[-1].last = bucket.last
            self.lines[name] = thinner

    def points(self, name: str, *, timed: bool = True) -> list[tuple[int, int, int]]:
        """(time, highest, last) of each bucket in order; ``timed`` False: the number of the operation for the time."""
        return [
            (bucket.t if timed else bucket.number * self.width, bucket.high, bucket.last)
            for bucket in self.lines.get(name, ())
        ]


Points = list[tuple[int, int, int]]


def in_columns(points: Points, start: int, end: int, count: int, *, sums: bool = False) -> list[int]:
    """The series cut into ``count`` equal parts of the axis: the highest level in each, or the sum."""
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
