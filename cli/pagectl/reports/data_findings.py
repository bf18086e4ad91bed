"""Findings about data on disk, as the verify commands report them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from pagectl.reports.form import Report

if TYPE_CHECKING:
    from pagefmt.findings import Finding
FindingSeverity: TypeAlias = Literal["error", "warning", "notice"]


class DataFinding(Report):
    """A finding about data on disk."""

    severity: FindingSeverity
    check: str
    place: str
    """The store, page, queue, file or record that it is about."""
    detail: str
    broker: str
    """What a broker does because of it; empty if that is not said."""

    @classmethod
    def of(cls, finding: Finding) -> DataFinding:
        """Return the report of a finding."""
        severity = cast("FindingSeverity", finding.severity.value.replace("info", "notice"))
        return cls(
            severity=severity, check=finding.rule, place=str(finding.place), detail=finding.message, broker=finding.why
        )


class MessageFindings(Report):
    """``messages verify --format json``: what is wrong with messages, the gravest first."""

    findings: list[DataFinding]


ANSWERS = {"messages-verify": MessageFindings, "messages-verify.line": DataFinding}
