"""Findings about data on disk as text."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import coloured, wrapped
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.findings import Finding


class FindingText:
    """Prints findings and counts them."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def show(self, finding: Finding) -> None:
        """Severity, rule and place; what was found, and what a broker does with it."""
        severity = finding.severity.said
        self._counts[severity] += 1
        print(f"{_painted(severity)}  {finding.rule}  {one_line(str(finding.place))}")
        for text in (finding.message, f"broker: {finding.why}" if finding.why else ""):
            if text:
                print(wrapped(text, 4))

    @property
    def counts_text(self) -> str:
        """Return the number of findings by severity, "" if there are none."""
        return ", ".join(count_text(number, severity) for severity, number in self._counts.items())


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings that are all of an answer, and how many there are of each severity."""
    view = FindingText()
    for finding in findings:
        view.show(finding)
    print(view.counts_text or "nothing found")


def mark(*, bad: bool, unread: bool = False) -> str:
    """Return the word before the line of what was read. ``unread``: some of it was not, the rest is not bad."""
    word, colour = ("BAD", 31) if bad else ("?  ", 33) if unread else ("ok ", 32)
    return f"\x1b[{colour}m{word}\x1b[0m" if coloured(sys.stdout) else word


def _painted(severity: str) -> str:
    colour = {"error": 31, "warning": 33}.get(severity)
    text = f"{severity:<7}"
    return f"\x1b[{colour}m{text}\x1b[0m" if colour and coloured(sys.stdout) else text
