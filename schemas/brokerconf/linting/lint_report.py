"""The settings of a lint, and its report on one file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from brokerconf.evidence.host import PageFolder, Volume
from brokerconf.reading.document import Document
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.sources import SourceFile
from brokerconf.schema.validation import Schemas
from brokerconf.settings.matching import MatchMemory
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity

if TYPE_CHECKING:
    from brokerconf.reading.property_entries import Entry


TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class LintContext:
    """What is known besides the file.

    ``edition`` None: the newest that the file fits; ``schemas``: the operator's own. ``cwd``: the broker's working
    directory; ``properties`` and ``environment`` fill in ``${…}``; ``entries`` are those of ``broker.properties``,
    whose text is ``beside``, ``faults`` why whole files of it are ignored; ``heap`` is in bytes. ``host`` returns the
    volumes of the document's directories if linted on the broker's host. ``profile`` and ``server`` select those of an
    application server (None: all). ``memory`` is that of the last lint of the same configuration.
    """

    edition: Edition | None = None
    schemas: Schemas | None = None
    cwd: Path | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    beside: tuple[SourceFile, ...] = ()
    faults: tuple[ReadingError, ...] = ()
    heap: int | None = None
    stores: tuple[PageFolder, ...] | None = None
    host: Callable[[Document], tuple[Volume, ...] | None] | None = None
    memory: MatchMemory | None = None
    profile: str | None = None
    server: str | None = None


# Rules whose findings mean that a file, or a part of it, was not read.
NOT_READ: Final = frozenset(
    (
        "document-type",
        "encoding",
        "include-refused",
        "kubernetes-no-broker",
        "not-well-formed",
        "placeholder",
        "properties-unreadable",
        "too-deep",
        "too-large",
        "unknown-root",
        "unknown-subsystem",
        "yaml-aliases",
        "yaml-syntax",
    )
)


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """Rules to report: ``only`` (empty: all) without ``ignored``; ``severities`` replace those of the rules."""

    only: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    severities: Mapping[str, Severity] = field(default_factory=dict)

    def takes(self, rule: str) -> bool:
        """Return whether findings of a rule are reported; what kept others from being checked is, unless ignored."""
        return rule not in self.ignored and (not self.only or rule in self.only or rule in NOT_READ)

    def graded(self, finding: Finding) -> Finding:
        """Return the finding with the severity configured for its rule."""
        severity = self.severities.get(finding.rule)
        return finding._replace(severity=severity) if severity else finding


class FileReport(NamedTuple):
    """Report on one file, its findings in order.

    ``schema`` names what it was validated against ("" if nothing could be); ``assumed``: why it was linted as that
    edition, if none was requested.
    """

    file: str
    edition: str
    schema: str
    valid: bool
    findings: tuple[Finding, ...]
    sources: tuple[SourceFile, ...] = ()
    assumed: str = ""

    def passed_over(self) -> FileReport:
        """Return the report for a file that nobody named: of a template only the remark that it is one."""
        remarks = tuple(finding for finding in self.findings if finding.rule == TEMPLATE)
        return self._replace(findings=remarks) if remarks else self
