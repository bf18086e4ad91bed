"""Acknowledgements and page-complete records that point nowhere, and what each edition does with them (7.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pagefmt.check.cross.ranges import ranges
from pagefmt.check.cross.survey import DirectorySurvey, StoreSurvey
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.journal.positions import BOOKMARK
from pagefmt.quantities import count_text


def check_positions(survey: DirectorySurvey, edition: Edition) -> Iterator[Finding]:
    """Compare acknowledgements and page-complete records with the existing pages."""
    bindings = survey.state.bindings
    if bindings is None or survey.state.unknown is not None:
        return
    stores = survey.by_address()
    astray = survey.closed or any(store.store.address is None and store.records for store in survey.stores)
    unknown: dict[int, int] = defaultdict(int)
    missing: dict[int, list[int]] = defaultdict(list)
    for queue, page in survey.state.journal.ack_index.pages():
        numbers = survey.state.journal.ack_index.numbers(queue, page)
        binding = bindings.queues.get(queue)
        if binding is None:
            unknown[queue] += len(numbers)
            continue
        store = stores.get(binding.address)
        records = store.records.get(page) if store else None
        if store is None or records is None:
            if store is None and astray:
                continue  # its pages may well be in the folder without an address
            if numbers[-1] != BOOKMARK:
                missing[queue].append(page)
        elif numbers[-1] >= records and not _goes_on(survey, store, page):
            yield _beyond(store, page, records, queue, sum(number >= records for number in numbers), edition)
    for queue, count in unknown.items():
        yield about_data(
            Severity.INFO,
            "acknowledgement-of-unknown-queue",
            f"journal queue {queue}",
            f"{count_text(count, 'acknowledgement')}; no binding has this id",
            "deletes them at load",
        )
    for queue, pages in missing.items():
        yield _missing(survey, stores.get(bindings.queues[queue].address), queue, pages, edition)
    yield from _completes(survey, stores, edition, astray)


def _goes_on(survey: DirectorySurvey, store: StoreSurvey | None, page: int) -> bool:
    """Return whether a running broker may have written more into the page since its size was taken."""
    return survey.state.live and store is not None and page == store.store.current_page


def _ahead(survey: DirectorySurvey, store: StoreSurvey | None, page: int) -> bool:
    """Return whether such a page has never existed. A running broker may have created a missing store since."""
    if store is None:
        return not survey.state.live
    return store.begun is None or page > store.begun


def _beyond(store: StoreSurvey, page: int, records: int, queue: int, count: int, edition: Edition) -> Finding:
    place = f"{store.place} page {page} queue {queue}"
    detail = f"{count_text(count, 'acknowledgement')} of records beyond the last one ({records} can be read)"
    if page == store.store.current_page and (page not in store.damaged or edition < Edition.ARTEMIS_2_10):
        broker = "goes on writing to this page: that many future messages are treated as acknowledged and lost"
        return about_data(Severity.ERROR, "acknowledgement-beyond-the-page", place, detail, broker)
    if edition < Edition.ARTEMIS_2_28:
        broker = "up to 2.23 the page never counts as complete and stays on disk; harmless from 2.24 on"
        return about_data(Severity.WARNING, "acknowledgement-beyond-the-page", place, detail, broker)
    broker = "treats the page as finished; up to 2.23 it never counts as complete and stays on disk"
    return about_data(Severity.INFO, "acknowledgement-beyond-the-page", place, detail, broker)


def _missing(
    survey: DirectorySurvey, store: StoreSurvey | None, queue: int, pages: list[int], edition: Edition
) -> Finding:
    ahead = [page for page in pages if _ahead(survey, store, page)]
    where = store.place if store else "no store"
    detail = f"acknowledgements for pages that do not exist: {ranges(pages)}"
    if ahead:
        detail += f"; of these not written yet: {ranges(ahead)}"
    return about_data(
        Severity.ERROR if ahead and _keeps(edition) else Severity.WARNING if ahead else Severity.INFO,
        "acknowledgement-of-missing-page",
        f"{where} queue {queue}",
        detail,
        _action_on_missing(edition, bool(ahead)),
    )


def _keeps(edition: Edition) -> bool:
    return Edition.ARTEMIS_2_28 <= edition <= Edition.ARTEMIS_2_44


def _action_on_missing(edition: Edition, ahead: bool) -> str:
    if edition < Edition.ARTEMIS_2_28:
        return "deletes them with a warning; 2.24 to 2.44 keep them"
    lost = ", and future messages in such a page are treated as acknowledged and lost" if ahead else ""
    if _keeps(edition):
        return f"keeps them{lost}"
    return f"deletes those outside its pages (AMQ224153); 2.24 to 2.44 keep them{lost}"


def _completes(
    survey: DirectorySurvey, stores: dict[str, StoreSurvey], edition: Edition, astray: bool
) -> Iterator[Finding]:
    bindings = survey.state.bindings
    assert bindings is not None
    unknown: dict[int, list[int]] = defaultdict(list)
    for _, queue, page, messages in survey.state.journal.completes:
        binding = bindings.queues.get(queue)
        if binding is None:
            unknown[queue].append(page)
            continue
        store = stores.get(binding.address)
        if store is not None or not astray:
            yield from _complete(survey, store, queue, page, messages)
    for queue, pages in unknown.items():
        yield about_data(
            Severity.INFO,
            "page-complete-of-unknown-queue",
            f"journal queue {queue}",
            f"page-complete records for pages {ranges(pages)}; no binding has this id",
            "deletes them at load",
        )


def _complete(
    survey: DirectorySurvey, store: StoreSurvey | None, queue: int, page: int, messages: int
) -> Iterator[Finding]:
    place = f"{store.place if store else 'no store'} page {page} queue {queue}"
    records = store.records.get(page) if store else None
    current = store.store.current_page if store else None
    if records is None:
        ahead = _ahead(survey, store, page)
        yield about_data(
            Severity.WARNING if ahead else Severity.INFO,
            "page-complete-ahead" if ahead else "page-complete-of-missing-page",
            place,
            "page-complete record for a page that does not exist yet" if ahead else "page-complete record, but no page",
            "deletes the record at load; if the page were created before that, its messages would be treated as done"
            if ahead
            else "deletes the record at load",
        )
    elif _goes_on(survey, store, page):
        return
    elif records != messages and store is not None and page not in store.damaged:
        yield about_data(
            Severity.WARNING,
            "page-complete-count",
            place,
            f"page-complete record for {count_text(messages, 'message')}, the page holds {records}",
            "treats the whole page as done for this queue",
        )
    elif page == current:
        yield about_data(
            Severity.INFO,
            "page-complete-current",
            place,
            "page-complete record for the page that would be written next",
            "opens a new page first",
        )
