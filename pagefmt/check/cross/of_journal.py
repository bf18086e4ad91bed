"""The journal in itself: files, torn records, transactions that never came to an end."""

from __future__ import annotations

from collections.abc import Iterator

from pagefmt.directory.bindings import Bindings
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.files import FileProblem
from pagefmt.journal.load import LoadedJournal, UnreadableRecord
from pagefmt.journal.message_journal import InDoubtTransaction, MessageJournal
from pagefmt.journal.record_types import type_name
from pagefmt.outstanding.loaded_journals import NO_PAGING, KnownJournals, Unknown, UnknownPart, lost_acknowledgements
from pagefmt.outstanding.state import PagingState
from pagefmt.quantities import count_text


def check_journals(state: PagingState, *, single: bool = True) -> Iterator[Finding]:
    """Yield findings about both journals, each by itself (docs/spec/journal.md 3, 7).

    ``single``: include faults of single files, and of single message records.
    """
    journal, bindings, journals = state.journal, state.bindings, state.known
    for unknown in (journals.unknown_journal, journals.unknown_bindings):
        if unknown is not None:
            yield unknown_part(unknown)
    live = state.live
    if single:
        yield from _files("journal", journal.loaded, reported=journals.unknown_journal is not None, live=live)
    yield from check_transactions("journal", journal.loaded, live=live or journals.alone)
    yield from _message_journal(journal, single=single, live=live, alone=journals.alone)
    damage = journal.loaded.damage
    if damage is not None and damage.not_permitted and journals.unknown_journal is None:
        yield about_data(
            Severity.WARNING, "journal-not-read", "journal", lost_acknowledgements(damage, journals.again())
        )
    elif damage is not None and journals.unknown_journal is None:
        yield about_data(
            Severity.WARNING,
            "lost-acknowledgements",
            "journal",
            lost_acknowledgements(damage, journals.again()),
            "treats messages whose acknowledgements are lost as not acknowledged, and messages of lost transactions "
            "as not sent",
        )
    if bindings is not None:
        if single:
            yield from _files("bindings", bindings.loaded, reported=journals.unknown_bindings is not None, live=live)
        yield from check_transactions("bindings", bindings.loaded, live=live)
        yield from _bindings(bindings)


def check_paging(journals: KnownJournals) -> Iterator[Finding]:
    """Yield a finding if the paging directory is missing, though the journal has records about pages."""
    if journals.no_paging:
        broker = "creates a new one at start, and delivers nothing of what waited in pages"
        yield about_data(Severity.ERROR, "paging-missing", "paging", NO_PAGING, broker)


def unknown_part(unknown: Unknown) -> Finding:
    """Return the finding for a journal or bindings that are not known; findings that depend on them are left out."""
    rule = f"{unknown.part}-{'missing' if unknown.missing else 'unreadable'}"
    if not unknown.permitted:
        return about_data(Severity.WARNING, rule, f"{unknown.part}", unknown.reason)
    broker = "may refuse to start, or starts without what is lost"
    if unknown.missing and unknown.part is UnknownPart.JOURNAL:
        broker = "creates a new one at start, and delivers acknowledged messages again"
    elif unknown.missing:
        broker = "creates new ones at start: without their queues, nothing is delivered"
    if unknown.part is UnknownPart.BINDINGS:
        broker += "; 'pagectl recover' rebuilds them"
    return about_data(Severity.ERROR, rule, f"{unknown.part}", unknown.reason, broker)


def _files(place: str, loaded: LoadedJournal, *, reported: bool, live: bool) -> Iterator[Finding]:
    """Yield findings about journal files and torn records.

    ``reported``: another finding reports the journal already. ``live``: a running broker may be completing a
    compaction, or writing at the end of the last file.
    """
    for note in loaded.notes:
        if note.kind is FileProblem.NOT_PERMITTED:
            continue  # said of the whole journal
        severity = Severity.INFO if reported else note.severity(live=live)
        yield about_data(severity, "journal-file", f"{place}/{note.file}", note.kind.value, note.detail)
    for file, torn in loaded.torn:
        if torn.count:
            first = torn.first[0]
            moving = live and loaded.written_to(file) and first.offset >= torn.end
            yield about_data(
                Severity.INFO if moving else Severity.WARNING,
                "torn-record",
                f"{place}/{file.name}",
                f"{count_text(torn.count, 'torn record')}, the first at offset {first.offset}: {first.detail}",
                "silently skips them; their operations are lost",
            )


def check_transactions(place: str, loaded: LoadedJournal, *, live: bool) -> Iterator[Finding]:
    """Yield transactions that a broker rolls back at start. ``live``: the last ones may still be running.

    That is also so in journal files by themselves, because the end of a transaction may be in a later file.
    """
    for dropped in loaded.dropped:
        yield about_data(
            Severity.INFO if live and dropped.open else Severity.WARNING,
            "dropped-transaction",
            f"{place} transaction {dropped.tx}",
            f"{count_text(dropped.records, 'record')}: {dropped.reason}",
            "rolls it back at start",
        )


def _message_journal(journal: MessageJournal, *, single: bool, live: bool, alone: bool) -> Iterator[Finding]:
    for bad in journal.bad if single else ():
        yield bad_record("journal", bad)
    for branch, prepared in zip(journal.prepared, journal.loaded.prepared, strict=True):
        in_flight = alone or (live and journal.loaded.newest((*prepared.rows, *prepared.deletes)))
        yield about_data(
            Severity.INFO if in_flight else Severity.WARNING,
            "prepared-transaction",
            f"journal transaction {branch.tx}",
            _describe(branch),
            "keeps it, with its pages and large bodies, until it is committed or rolled back",
        )
    if journal.ack_index.repeated:
        yield about_data(
            Severity.INFO,
            "repeated-acknowledgement",
            "journal",
            f"{count_text(journal.ack_index.repeated, 'acknowledgement')} of a position that another one also "
            "acknowledges",
            "treats them as one",
        )
    for tx, references in sorted(journal.page_transactions.items()):
        remaining = references - journal.page_acknowledged[tx]
        if remaining <= 0:
            yield about_data(
                Severity.INFO,
                "spent-page-transaction",
                f"journal page transaction {tx}",
                f"{references} references, {references - remaining} of them acknowledged, but the record is "
                "still there",
                "treats it as finished and deletes the record",
            )


def _describe(branch: InDoubtTransaction) -> str:
    sends = sum(send.references for send in branch.sends)
    parts = [f"XID {branch.xid}" if branch.xid else "its XID cannot be read"]
    if sends:
        parts.append(f"sent {sends} references into pages")
    if branch.acks:
        parts.append(f"acknowledged {count_text(len(branch.acks), 'paged message')}")
    if branch.references:
        parts.append(f"acknowledged {count_text(len(branch.references), 'message')} of the journal")
    return ", ".join(parts)


def _bindings(bindings: Bindings) -> Iterator[Finding]:
    for bad in bindings.bad:
        yield bad_record("bindings", bad)


def bad_record(place: str, bad: UnreadableRecord) -> Finding:
    """Return the finding for a record whose body does not have the form of its type."""
    where = f"{place} record {bad.record} {type_name(bad.user_type)}"
    if bad.longer:
        return about_data(Severity.WARNING, "bad-record", where, bad.detail, "ignores the bytes after it")
    return about_data(Severity.ERROR, "bad-record", where, bad.detail, "does not start")
