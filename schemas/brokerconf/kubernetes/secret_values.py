"""Findings inside of Secrets, told without anything that stands there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from brokerconf.kubernetes.objects import KubernetesObject
from pagefmt.findings import Finding, Position

_SAYS_NAMES_ALONE = ("yaml-", "kubernetes-")
_UNKNOWN_KEY = "properties-unknown-key"


class SecretValues:
    """Where the values of Secrets stand in a file."""

    def __init__(self) -> None:
        self._spans: list[tuple[tuple[int, int], tuple[int, int]]] = []

    def add(self, found: KubernetesObject) -> None:
        """The data of a Secret."""
        for part in ("data", "stringData"):
            node = found.node.get(part)
            if node is not None:
                start, end = (found.documents.source.position(at) for at in (node.start, node.end))
                self._spans.append(((start.line, start.column), (end.line, end.column)))

    def holds(self, at: Position) -> bool:
        """Whether a place is among them."""
        return any(start <= (at.line, at.column) < end for start, end in self._spans)

    def without_values(self, finding: Finding, titles: Mapping[str, str]) -> Finding:
        """The rule's title in place of a sentence that may quote a value."""
        if finding.rule.startswith(_SAYS_NAMES_ALONE) or not self.holds(finding.place):
            return finding
        line = re.search(r" \(line \d+ of [\w.-]+\)$", finding.message)
        # a key that no broker knows may be anything; the name that was probably meant is one of the broker
        path = "" if finding.rule == _UNKNOWN_KEY else finding.path
        help = finding.help if re.fullmatch(r"did you mean '\w+'\?", finding.help) else ""
        said = f"in a Secret: {titles.get(finding.rule, finding.rule)}" + (f": {path}" if path else "")
        return finding._replace(message=said + (line.group() if line else ""), path=path, help=help)
