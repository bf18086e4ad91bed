"""A finding: five plain fields with a total order, so that a report never depends on how the directory was walked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """``error``: messages are lost, will be lost, or a broker does not start. ``warning``: something is wrong that
    costs no message. ``notice``: worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


_RANK = {severity: n for n, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Finding:
    """``check``: which one. ``place``: what it is about. ``detail``: what was seen. ``broker``: what a broker does."""

    severity: Severity
    check: str
    place: str
    detail: str
    broker: str

    def __lt__(self, other: Finding) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[int, str, str, str, str]:
        return (_RANK[self.severity], self.check, self.place, self.detail, self.broker)


def ranges(numbers: Iterable[int], limit: int = 8) -> str:
    """``1-3, 7, …``: whole numbers as a person writes them, at most ``limit`` stretches."""
    stretches: list[list[int]] = []
    for number in sorted(set(numbers)):
        if stretches and number == stretches[-1][1] + 1:
            stretches[-1][1] = number
        else:
            stretches.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in stretches[:limit]]
    return ", ".join(shown + (["…"] if len(stretches) > limit else []))
