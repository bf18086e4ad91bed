"""Checks of stores against bindings and transactions: duplicates, orphans, gaps, empty pages, unreadable records."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pagefmt.check.cross.ranges import ranges
from pagefmt.check.cross.survey import DirectorySurvey, StoreSurvey
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data, some
from pagefmt.quantities import count_text


def check_stores(survey: DirectorySurvey, edition: Edition) -> Iterator[Finding]:
    """Yield findings about folders, pages and transactions of all stores."""
    yield from _duplicates(survey)
    for store in survey.stores:
        yield from _pages(store, edition)
        yield from _message_ids(store)
        if store.judged:
            yield from _queues(store)
    if survey.state.known.unknown_journal is None:
        yield from _transactions(survey, edition)


def _duplicates(survey: DirectorySurvey) -> Iterator[Finding]:
    for address, folders in survey.state.same_address.items():
        yield about_data(
            Severity.ERROR,
            "duplicate-store",
            f"address {address}",
            f"{len(folders)} folders name it: {', '.join(sorted(folders))}",
            f"uses the one that the operating system lists last, now {folders[-1]}; messages in the others stay "
            "undelivered",
        )


def _pages(store: StoreSurvey, edition: Edition) -> Iterator[Finding]:
    numbers = [page.number for page in store.store.pages]
    holes = _holes(numbers)
    if holes:
        old = edition < Edition.ARTEMIS_2_28
        yield about_data(
            Severity.INFO,
            "missing-pages",
            store.place,
            f"pages missing between the first and the last: {holes}",
            "reads on after a gap, but deletes no page after it before a restart"
            if old
            else "treats a missing page as empty; up to 2.23, pages after it are not deleted before a restart",
        )
    empty = [page.number for page in store.store.pages if page.size == 0 and page.number != store.store.current_page]
    if empty:
        yield about_data(
            Severity.WARNING,
            "empty-page",
            store.place,
            f"pages of size 0 before the last: {ranges(empty)}",
            "skips them; some releases do not delete pages after one (ARTEMIS-1958)",
        )


def _holes(numbers: list[int]) -> str:
    """Return the gaps as text, without enumerating them: page numbers reach 2 147 483 647."""
    gaps = [(before + 1, after - 1) for before, after in pairwise(numbers) if after > before + 1]
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in gaps[:8]]
    return ", ".join(shown + (["…"] if len(gaps) > 8 else []))


def _message_ids(store: StoreSurvey) -> Iterator[Finding]:
    repeated = store.repeated_ids
    if repeated:
        yield about_data(
            Severity.INFO,
            "repeated-message-id",
            store.place,
            f"{len(repeated)} message ids occur in it more than once: {some(repeated)}",
            "delivers each of them",
        )


def _queues(store: StoreSurvey) -> Iterator[Finding]:
    records = sum(store.records.values())
    if records and not store.bindings:
        yield about_data(
            Severity.WARNING,
            "store-without-queue",
            store.place,
            f"{count_text(records, 'record')} for address {store.store.address}, which has no durable queue",
            "never delivers them",
        )
        return
    for queue, records in sorted(store.unbound.items()):
        yield about_data(
            Severity.INFO,
            "record-of-unknown-queue",
            f"{store.place} queue {queue}",
            f"{count_text(records, 'record')} for a queue that no binding of the address has (deleted since, or not "
            "durable)",
            "treats them as not routed there",
        )


def _transactions(survey: DirectorySurvey, edition: Edition) -> Iterator[Finding]:
    journal = survey.state.journal
    orphans = sorted(set(journal.page_transactions) - survey.transactions)
    if orphans and not survey.state.live and not any(store.damaged or store.closed for store in survey.stores):
        yield about_data(
            Severity.INFO,
            "page-transaction-without-records",
            "journal",
            f"{len(orphans)} page transactions that no page refers to: {some(orphans)}",
            "deletes them after counting (2.32 and later)" if edition >= Edition.ARTEMIS_2_44 else "keeps them",
        )
    if survey.ignored_transactions:
        count, records = len(survey.ignored_transactions), sum(survey.ignored_transactions.values())
        first = some(sorted(survey.ignored_transactions))
        yield about_data(
            Severity.INFO,
            "records-of-unknown-transaction",
            "pages",
            f"{count_text(records, 'record')} of {count_text(count, 'transaction')} that the journal does not know: "
            f"{first}",
            "drops them: they were rolled back or never committed; if the tail of the journal was lost, so was "
            "their commit",
        )
