"""All checks over one data directory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pagefmt.bytes.files import NotPermitted
from pagefmt.cross_checks.large_files import check_sizes, surveyed_rows
from pagefmt.cross_checks.of_counters import check_counters
from pagefmt.cross_checks.of_journal import check_journals, check_paging
from pagefmt.cross_checks.of_large import check_large
from pagefmt.cross_checks.of_positions import check_positions
from pagefmt.cross_checks.of_stores import check_stores
from pagefmt.cross_checks.survey import survey
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Finding, gravest_first
from pagefmt.messages.large import LargeMessages
from pagefmt.outstanding.state import PagingState


def cross_check(
    state: PagingState, large_messages: Path | None, edition: Edition = NEWEST, jobs: int = 1
) -> list[Finding]:
    """Findings in their order, gravest first. ``edition``: the broker that is to be started on the directory.

    Reads every page once, by so many ``jobs``. Beside a running broker pages are older than what the journal says: what
    is newer than they are, at the end of the last page or of the last journal file, is no contradiction.
    ``large_messages`` may be missing: then nothing is said about bodies.
    """
    bodies = large_messages is not None and state.known.unknown_journal is None
    found = survey(state, jobs, bodies=bodies)
    findings = [
        *check_paging(state.known),
        *check_journals(state),
        *check_positions(found, edition),
        *check_stores(found, edition),
        *check_counters(found, edition),
    ]
    if large_messages is not None and bodies:
        with suppress(NotPermitted):  # nothing is said about bodies that this user may not look at
            large = LargeMessages(large_messages)
            findings += check_large(found, large, edition)
            findings += check_sizes(surveyed_rows(found, large))
    return sorted(findings, key=gravest_first)
