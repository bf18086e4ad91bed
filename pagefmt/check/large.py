"""Everything ``large verify`` has to say: large-message files with their messages, then findings, gravest first."""

from __future__ import annotations

from collections.abc import Iterator

from pagefmt.check.cross.large_files import LargeRow, check_sizes, surveyed_rows
from pagefmt.check.cross.of_journal import check_paging, unknown_part
from pagefmt.check.cross.of_large import check_large
from pagefmt.check.cross.survey import DirectorySurvey, survey
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data, gravest_first
from pagefmt.outstanding.state import PagingState


def verify_large(
    state: PagingState, large: LargeMessages, edition: Edition, jobs: int = 1
) -> tuple[list[LargeRow], list[Finding]]:
    """Check large-message files against pages and journal. Raise ``NotReadable``."""
    directory = survey(state, jobs, bodies=True)
    rows = surveyed_rows(directory, large)
    if state.known.unknown_journal is not None:
        findings = [unknown_part(state.known.unknown_journal)]
    else:
        findings = [*check_large(directory, large, edition), *check_sizes(rows)]
    return rows, sorted([*findings, *_unread(directory)], key=gravest_first)


def _unread(directory: DirectorySurvey) -> Iterator[Finding]:
    """Yield a finding for each part that cannot be read, whose messages may need any of the files."""
    journals = directory.state.known
    yield from check_paging(journals)
    for store in directory.stores:
        for page, damage in sorted(store.damaged.items()):
            yield about_data(
                Severity.ERROR,
                "page-not-read",
                f"{store.place} page {page}",
                f"offset {damage.offset}: {damage.detail}: its messages may need any of the files",
            )
    for reason in journals._replace(no_paging=False).lost():
        yield about_data(Severity.ERROR, "journal-not-read", "journal", reason)
    bindings = journals.unknown_bindings
    if bindings is not None and not bindings.missing:
        yield about_data(Severity.ERROR, "bindings-unreadable", "bindings", bindings.reason)
