"""Findings inside Secrets, reported without any of their content."""

from __future__ import annotations

import re
from collections.abc import Mapping

from brokerconf.kubernetes.objects import KubernetesObject
from pagefmt.findings import Finding, Position

_SAYS_NAMES_ALONE = ("yaml-", "kubernetes-")
_UNKNOWN_KEY = "properties-unknown-key"


class SecretValues:
    """Positions of the values of Secrets in a file."""

    def __init__(self) -> None:
        self._spans: list[tuple[tuple[int, int], tuple[int, int]]] = []

    def add(self, secret: KubernetesObject) -> None:
        """Record the positions of a Secret's data."""
        for part in ("data", "stringData"):
            node = secret.node.get(part)
            if node is not None:
                start, end = (secret.documents.source.position(at) for at in (node.start, node.end))
                self._spans.append(((start.line, start.column), (end.line, end.column)))

    def holds(self, at: Position) -> bool:
        """Return whether a position lies inside a Secret's data."""
        return any(start <= (at.line, at.column) < end for start, end in self._spans)

    def without_values(self, finding: Finding, titles: Mapping[str, str]) -> Finding:
        """Return the finding, its message replaced by the rule's title if the message may quote a secret."""
        if finding.rule.startswith(_SAYS_NAMES_ALONE) or not self.holds(finding.place):
            return finding
        line = re.search(r" \(line \d+ of [\w.-]+\)$", finding.message)
        # a key that no broker knows may be anything; the name that was probably meant is one of the broker
        path = "" if finding.rule == _UNKNOWN_KEY else finding.path
        help = finding.help if re.fullmatch(r"did you mean '\w+'\?", finding.help) else ""
        message = f"in a Secret: {titles.get(finding.rule, finding.rule)}" + (f": {path}" if path else "")
        return finding._replace(message=message + (line.group() if line else ""), path=path, help=help)
