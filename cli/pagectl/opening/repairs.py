"""``--fix``: the files that a call names are repaired, each as a whole or not at all, and no other."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from brokerconf.linting.fixing import RepairedText, proven, repaired
from brokerconf.linting.lint_report import FileReport
from brokerconf.reading.decoding import read_at_most
from brokerconf.reading.inclusion import LARGEST

from pagectl.opening.linting import LintRequest
from pagectl.running.exits import describe, report
from pagectl.terminal.streams import note
from pagefmt.findings import Finding
from pagefmt.storage.file_snapshot import Fingerprint, SourceChanged, fingerprint, take_snapshot
from pagefmt.storage.writing import write_bytes


class FileRepair(NamedTuple):
    """A file, as findings call it, and what it becomes."""

    path: Path
    text: RepairedText

    def write(self, linted: Mapping[Path, Fingerprint]) -> None:
        """Replace the file, unless it is no longer as it was ``linted``.

        Raises ``SourceChanged`` if it is not, ``TargetRefused`` for a link, and ``OSError``.
        """

        def refuse_change() -> None:
            path = self.path.resolve()
            if not path.exists() or linted.get(path) != fingerprint(path):
                raise SourceChanged(f"{self.path}: changed after it was linted, so it was left alone; run --fix again")

        write_bytes(self.path, self.text.raw, updated=True, before_rename=refuse_change)
        counts = Counter(finding.rule for finding in self.text.repaired)
        note(f"{self.path}: repaired: " + ", ".join(f"{times} {rule}" for rule, times in sorted(counts.items())))


def fingerprints(named: Iterable[str]) -> dict[Path, Fingerprint]:
    """Return the fingerprints of files that were named and of all files below named folders, by resolved path.

    Taken before the lint, they show which file somebody else saved before its repair is written.
    """
    return {path.resolve(): seen for path, seen in take_snapshot(Path(name).resolve() for name in named).files.items()}


def repairs(reports: Sequence[FileReport], named: Iterable[str], request: LintRequest) -> Iterator[FileRepair]:
    """Yield the repairs of files that were named, or that are below a folder that was named. Raise ``OSError``.

    The repaired text is linted before it is written; an included file is only linted as part of the file that includes
    it.
    """
    linted = {linted_file.file for linted_file in reports}
    findings: defaultdict[str, list[Finding]] = defaultdict(list)
    for linted_file in reports:
        for finding in linted_file.findings:
            if finding.fix is not None:
                findings[finding.fix.place.file].append(finding)
    allowed = [Path(os.path.realpath(name)) for name in named]
    for file in sorted(findings):
        path = Path(file)
        real = Path(os.path.realpath(path))
        if any(real == folder or folder in real.parents for folder in allowed) and path.is_file():
            raw = read_at_most(path, LARGEST)
            if file in linted:
                text = proven(path.name, raw, findings[file], request.lint_of(file))
            else:
                text = repaired(path.name, raw, findings[file])
            if text is not None:
                yield FileRepair(path, text)


def write_repairs(mended: Iterable[FileRepair], linted: Mapping[Path, Fingerprint]) -> bool:
    """Return whether all files were repaired; one that changed after it was linted is reported and left alone."""
    whole = True
    for repair in mended:
        try:
            repair.write(linted)
        except SourceChanged as err:
            report(describe(err))
            whole = False
    return whole
