"""``--fix``: the files that a call names are repaired, each as a whole or not at all, and no other."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from brokerconf.linting.fixing import RepairedText, proven, repaired
from brokerconf.linting.lint import FileReport

from pagectl.opening.linting import LintRequest
from pagectl.terminal.streams import note
from pagefmt.bytes.writing import atomic_file
from pagefmt.findings import Finding


class FileRepair(NamedTuple):
    """A file, as findings call it, and what it becomes."""

    path: Path
    text: RepairedText

    def write(self) -> None:
        """Replace the file; raises ``TargetRefused`` for a link, and ``OSError``."""
        with atomic_file(self.path) as fresh:
            fresh.write_bytes(self.text.raw)
        counts = Counter(finding.rule for finding in self.text.repaired)
        note(f"{self.path}: repaired: " + ", ".join(f"{times} {rule}" for rule, times in sorted(counts.items())))


def repairs(reports: Sequence[FileReport], named: Iterable[str], request: LintRequest) -> Iterator[FileRepair]:
    """The repairs of files that were named, or that lie below a folder that was; raises ``OSError``.

    What they make of a file is linted before it is written; an included file is part of another one's lint.
    """
    linted = {report.file for report in reports}
    findings: defaultdict[str, list[Finding]] = defaultdict(list)
    for report in reports:
        for finding in report.findings:
            if finding.fix is not None:
                findings[finding.fix.place.file].append(finding)
    allowed = [Path(os.path.realpath(name)) for name in named]
    for file in sorted(findings):
        path = Path(file)
        real = Path(os.path.realpath(path))
        if any(real == each or each in real.parents for each in allowed) and path.is_file():
            raw = path.read_bytes()
            if file in linted:
                text = proven(path.name, raw, findings[file], request.lint_of(file))
            else:
                text = repaired(path.name, raw, findings[file])
            if text is not None:
                yield FileRepair(path, text)
