"""Known findings: a repository with many can begin to lint, and gets reports of new ones only.

A finding is recognised by rule, file, path in the document and message. Lines may move, and so may elements: neither
line numbers nor an element's number among its siblings count. Equal findings are counted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.linting.lint_report import FileReport
from brokerconf.reading.decoding import read_at_most
from pagefmt.findings import Finding

_VERSION = 1
_LARGEST = 64 << 20


class BaselineError(BrokerConfError):
    """Error for a file that is no baseline."""


class KnownFinding(NamedTuple):
    """Known finding; ``times`` of them differ only in their lines. ``file`` is relative to the baseline's folder."""

    file: str
    rule: str
    path: str
    fingerprint: str
    times: int = 1


class NewFindings(NamedTuple):
    """Reports without known findings, of which ``known`` were left out; ``stale`` entries no longer occur."""

    reports: list[FileReport]
    known_count: int
    stale: int


def fingerprint(finding: Finding, file: str) -> str:
    """Return a digest of a finding that is stable when lines move; ``file`` is the file's name in the baseline."""
    folder = os.path.dirname(finding.place.file)  # noqa: PTH120 (as it was written)
    message = re.sub(r"\bline \d+", "line", finding.message.replace(f"{folder}/", "") if folder else finding.message)
    parts = "\0".join((finding.rule, file, _path(finding), message))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fingerprints(findings: Sequence[Finding], files: Sequence[str]) -> list[str]:
    """Return a distinct fingerprint for each finding; equal ones are numbered in their order."""
    seen: Counter[str] = Counter()
    result = []
    for finding, file in zip(findings, files, strict=True):
        own = fingerprint(finding, file)
        seen[own] += 1
        result.append(own if seen[own] == 1 else hashlib.sha256(f"{own}{seen[own]}".encode()).hexdigest()[:32])
    return result


def _path(finding: Finding) -> str:
    return re.sub(r"\[\d+\]", "", finding.path)


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings in a baseline file, in order; ``folder`` contains the file."""

    folder: Path
    entries: tuple[KnownFinding, ...] = ()

    def without_known(self, reports: Iterable[FileReport], rules: Collection[str]) -> NewFindings:
        """Return the findings that are not in this baseline.

        ``rules`` are those that were checked; an entry of another rule is not stale.
        """
        left = Counter({(entry.file, entry.fingerprint): entry.times for entry in self.entries})
        linted: set[str] = set()
        new_reports, known_count = [], 0
        for report in reports:
            linted |= self._files(report)
            new = []
            for finding in report.findings:
                file = self._relative(finding.place.file)
                key = file, fingerprint(finding, file)
                if left[key] > 0:
                    left[key] -= 1
                    known_count += 1
                else:
                    new.append(finding)
            new_reports.append(report._replace(findings=tuple(new)))
        stale = sum(
            left[entry.file, entry.fingerprint]
            for entry in self.entries
            if entry.rule in rules and (entry.file in linted or not (self.folder / entry.file).exists())
        )
        return NewFindings(new_reports, known_count, stale)

    def renewed(self, reports: Sequence[FileReport]) -> Baseline:
        """Return the baseline with all present findings; entries about files that were not linted stay."""
        linted = set().union(*map(self._files, reports))
        kept = [old for old in self.entries if old.file not in linted and (self.folder / old.file).exists()]
        counts: Counter[KnownFinding] = Counter()
        for finding in (finding for report in reports for finding in report.findings):
            file = self._relative(finding.place.file)
            counts[KnownFinding(file, finding.rule, _path(finding), fingerprint(finding, file))] += 1
        now = [entry._replace(times=times) for entry, times in counts.items()]
        return Baseline(self.folder, tuple(sorted([*kept, *now])))

    def text(self) -> str:
        """Return the baseline file, with a line for each known finding so that changes can be reviewed."""
        rows = ",\n".join(f"    {json.dumps(entry._asdict())}" for entry in self.entries)
        return f'{{\n  "version": {_VERSION},\n  "findings": [\n{rows}\n  ]\n}}\n'

    def _files(self, report: FileReport) -> set[str]:
        return {self._relative(file) for file in (report.file, *(source.path for source in report.sources))}

    def _relative(self, file: str) -> str:
        return Path(os.path.relpath(file, self.folder)).as_posix()


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file; raise ``BaselineError`` if it is none of this version, and ``OSError``."""
    raw = read_at_most(path, _LARGEST)
    try:
        document = json.loads(raw)
        if document["version"] != _VERSION:
            raise ValueError
        entries = tuple(KnownFinding(**entry) for entry in document["findings"])
        if not all(map(_is_sound, entries)):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BaselineError(f"{path}: not a baseline of this version; write it again with --write-baseline") from None
    return Baseline(path.parent, entries)


def _is_sound(entry: KnownFinding) -> bool:
    texts = all(isinstance(text, str) and "\0" not in text for text in entry[:-1])
    return texts and type(entry.times) is int and entry.times > 0
