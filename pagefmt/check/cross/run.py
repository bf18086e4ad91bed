"""All checks over one data directory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pagefmt.check.cross.large_files import check_sizes, surveyed_rows
from pagefmt.check.cross.of_counters import check_counters
from pagefmt.check.cross.of_journal import check_journals, check_paging
from pagefmt.check.cross.of_large import check_large
from pagefmt.check.cross.of_positions import check_positions
from pagefmt.check.cross.of_stores import check_stores
from pagefmt.check.cross.survey import survey
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Finding, gravest_first
from pagefmt.outstanding.state import PagingState
from pagefmt.storage.files import NotPermitted


def cross_check(
    state: PagingState, large_messages: Path | None, edition: Edition = NEWEST, jobs: int = 1
) -> list[Finding]:
    """Return the findings, gravest first. ``edition``: of the broker that will be started on the directory.

    Every page is read once, by ``jobs`` processes. Beside a running broker the pages are older than the journal:
    anything newer at the end of the last page or journal file is no contradiction. ``large_messages`` may be None: then
    bodies are not checked.
    """
    bodies = large_messages is not None and state.known.unknown_journal is None
    survey_result = survey(state, jobs, bodies=bodies)
    findings = [
        *check_paging(state.known),
        *check_journals(state),
        *check_positions(survey_result, edition),
        *check_stores(survey_result, edition),
        *check_counters(survey_result, edition),
    ]
    if large_messages is not None and bodies:
        with suppress(NotPermitted):  # nothing is said about bodies that this user may not look at
            large = LargeMessages(large_messages)
            findings += check_large(survey_result, large, edition)
            findings += check_sizes(surveyed_rows(survey_result, large))
    return sorted(findings, key=gravest_first)
