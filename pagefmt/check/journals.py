"""The report of ``journal verify``: the files of all three journals, then findings."""

from __future__ import annotations

from pagefmt.check.cross.of_journal import check_journals, check_paging, check_transactions
from pagefmt.check.cross.of_messages import check_messages
from pagefmt.check.cross.of_positions import check_positions
from pagefmt.check.cross.of_records import check_records, check_types
from pagefmt.check.cross.survey import survey
from pagefmt.check.journal_files import JournalFileReport, file_reports
from pagefmt.check.judged_edition import judged_edition
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.locks import running_broker
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.files import Journal
from pagefmt.journal.load import LoadedJournal, load_journal
from pagefmt.outstanding.state import PagingState
from pagefmt.vectors import load_place


def verify_journals(
    place: DataLocation, edition: Edition | None, jobs: int = 1
) -> tuple[PagingState, list[JournalFileReport], list[Finding]]:
    """Check the journals, and the pages if there are any, each of which is read once.

    Journal files by themselves are not checked against pages, nor are bindings checked that only name their queues.

    ``edition``: of the broker that will be started; None for the one that wrote the data.
    """
    live = running_broker(place.journal) is not None
    reports: list[JournalFileReport] = []
    findings: list[Finding] = []

    def look(loaded: LoadedJournal) -> None:
        findings.extend(check_records("journal", Journal.MESSAGES, loaded, live=live))

    state = load_place(place, inspect=look)
    edition = edition or judged_edition(state)
    findings += check_types("journal", Journal.MESSAGES, state.journal.loaded, edition)
    reports += file_reports("messages", state.journal.loaded, live=live)
    if state.bindings is not None and not place.has_names_beside:
        reports += file_reports("bindings", state.bindings.loaded, live=live)
        findings += check_records("bindings", Journal.BINDINGS, state.bindings.loaded, live=live)
        findings += check_types("bindings", Journal.BINDINGS, state.bindings.loaded, edition)
        jms, reason = _jms_journal(place)
        if jms is not None:
            reports += file_reports("jms", jms, live=live)
            findings += check_records("jms", Journal.JMS, jms, live=live)
            findings += check_transactions("jms", jms, live=live)
        findings += [about_data(Severity.ERROR, "jms-unreadable", "jms", reason)] if reason else []
    findings += check_paging(state.known)
    if not (place.kind.is_journal and place.journal is None):
        findings += check_journals(state, single=False)
    if state.known.unknown_journal is None:
        findings += check_messages(state)
        findings += [] if place.kind.is_journal else _positions(state, edition, jobs)
    return state, reports, findings


def _jms_journal(place: DataLocation) -> tuple[LoadedJournal | None, str | None]:
    """Load the JMS journal of HornetQ or Artemis 1.x from the folder of the bindings.

    Return it, or None if there is none; and why it cannot be read, or None. Never both.
    """
    assert place.bindings is not None
    try:
        loaded = load_journal(place.bindings, Journal.JMS)
    except PageFmtError as err:
        return None, str(err)
    return (loaded if loaded.files else None), None


def _positions(state: PagingState, edition: Edition, jobs: int) -> list[Finding]:
    return list(check_positions(survey(state, jobs), edition)) if state.unknown is None else []
