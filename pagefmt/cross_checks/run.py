"""All checks over one data directory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pagefmt.cross_checks.of_counters import check_counters
from pagefmt.cross_checks.of_journal import check_journals
from pagefmt.cross_checks.of_large import check_large
from pagefmt.cross_checks.of_positions import check_positions
from pagefmt.cross_checks.of_stores import check_stores
from pagefmt.cross_checks.survey import survey
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Finding, Severity, gravest_first
from pagefmt.messages.large import LargeMessages
from pagefmt.outstanding.state import PagingState


def cross_check(state: PagingState, large_messages: Path | None, edition: Edition = NEWEST) -> list[Finding]:
    """Findings in their order, gravest first. ``edition``: the broker that is to be started on the directory.

    Reads every page once. ``large_messages`` may be missing: then nothing is said about bodies.
    """
    found = survey(state)
    findings = [
        *check_journals(found),
        *check_positions(found, edition),
        *check_stores(found, edition),
        *check_counters(found, edition),
    ]
    if large_messages is not None and state.known.unknown_journal is None:
        findings += check_large(found, LargeMessages(large_messages), edition)
    return sorted((_in_motion(each) if state.live else each for each in findings), key=gravest_first)


IN_MOTION: Final = frozenset(
    ("dropped-transaction", "records-of-unknown-transaction", "large-body-missing", "large-body-orphan",
     "large-body-not-durable", "acknowledgement-of-missing-page", "acknowledgement-beyond-the-page", "counter-drift",
     "counter-missing", "page-complete-ahead", "page-complete-count", "page-transaction-without-records",
     "torn-record", "lost-acknowledgements")
)  # fmt: skip
"""What a broker at work looks like: journal, pages and bodies were read one after the other."""


def _in_motion(finding: Finding) -> Finding:
    if finding.rule not in IN_MOTION:
        return finding
    return finding._replace(severity=Severity.INFO, message=f"{finding.message}; being written by a running broker")
