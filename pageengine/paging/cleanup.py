"""Clean-up: pages that every cursor is done with are deleted; with the last of them, page mode ends.

Source: docs/spec/paging-engine.md 3.5.
"""

from __future__ import annotations

from functools import partial

from pageengine.model.page import WrittenPage
from pageengine.model.reference import CursorPort
from pageengine.paging.store import AddressStore

NO_CURSOR = 2**63 - 1
# First page after the last page was given up; a store that never had one has the profile's value.
NO_FIRST_PAGE = 2**31 - 1


def schedule_cleanup(store: AddressStore) -> None:
    """Clean up the pages of a store after the work in progress."""
    if not store.cleanup_scheduled:
        store.cleanup_scheduled = True
        store.later(partial(_clean_up, store))


def _clean_up(store: AddressStore) -> None:
    store.cleanup_scheduled = False
    if not store.paging:
        return
    lowest = _lowest_unfinished(store)
    first = store.first_page
    _deliver_if_necessary(store, lowest)
    given_up: list[WrittenPage] = []
    _from_the_front(store, lowest, first, given_up)
    if store.profile.deletes_middle_pages:
        _from_the_middle(store, lowest, first, given_up)
    if store.page_limits.reached:
        store.check_page_limit()
    if store.number_of_pages == 0 or (
        store.number_of_pages == 1 and (store.current is None or not store.current.count)
    ):
        store.stop_paging()
    for page in given_up:
        _delete(store, page)


def _lowest_unfinished(store: AddressStore) -> int:
    firsts = (cursor.first_page() for cursor in store.cursors.values())
    return min((first for first in firsts if first >= 0), default=NO_CURSOR)


def _deliver_if_necessary(store: AddressStore, lowest: int) -> None:
    writing = lowest == store.current_id
    for cursor in store.cursors.values():
        first = cursor.first_page()
        if first == lowest and cursor.queue.message_count == 0 and (not writing or not cursor.is_complete(first)):
            cursor.queue.deliver_later()
            break


def _complete(store: AddressStore, number: int) -> bool:
    """Return whether every cursor has finished a page; a missing or empty page counts as finished."""
    page = store.pages.get(number)
    if page is None or not page.count:
        return True
    return all(cursor.is_complete(number) for cursor in store.cursors.values())


def _from_the_front(store: AddressStore, lowest: int, first: int, given_up: list[WrittenPage]) -> None:
    current = store.current
    if lowest == store.current_id and current is not None and current.count and _complete(store, lowest):
        _leave_page_mode(store)
    number = first
    while number <= lowest:
        if not _complete(store, number):
            break
        page = _depage(store)
        if page is None:
            break
        given_up.append(page)
        number += 1


def _leave_page_mode(store: AddressStore) -> None:
    page = store.open_new_page()
    for cursor in store.cursors.values():
        cursor.process_ack(page.number, -1)
    store.stop_paging()
    if not store.profile.keeps_empty_page:
        while store.number_of_pages > 1:
            depaged = _depage(store)
            assert depaged is not None
            _delete(store, depaged)
        _depage(store)


def _depage(store: AddressStore) -> WrittenPage | None:
    """Give up the first page and return it; None if there is none, or if it was the last and page mode is over."""
    if store.number_of_pages == 0:
        return None
    store.number_of_pages -= 1
    if store.current_id == store.first_page:
        store.first_page = NO_FIRST_PAGE
        page = store.current
        assert page is not None
        store.current = None
        if not page.count:
            store.stop_paging()
            store.forget_page(page.number)
            return None
        store.open_new_page()
        return page
    number = store.first_page
    store.first_page += 1
    page_in_store = store.pages.get(number)
    if page_in_store is None:
        store.number_of_pages += 1
        return store.page_to_read(number)
    return page_in_store


def _from_the_middle(store: AddressStore, lowest: int, first: int, given_up: list[WrittenPage]) -> None:
    if not store.cursors:
        return
    given_up_numbers = {page.number for page in given_up}
    fewest = min(store.cursors.values(), key=lambda cursor: cursor.pages.done_at_most)
    for number in fewest.pages.done_perhaps():
        if number <= max(lowest, first) or number == store.current_id or number in given_up_numbers:
            continue
        if not all(_has_done(cursor, number) for cursor in store.cursors.values()):
            continue
        page = store.pages.get(number)
        if page is not None:
            store.number_of_pages -= 1
        given_up.append(page or store.page_to_read(number))


def _has_done(cursor: CursorPort, number: int) -> bool:
    info = cursor.pages.get(number)
    return info is not None and cursor.is_done(info)


def _delete(store: AddressStore, page: WrittenPage) -> None:
    store.forget_page(page.number)
    for cursor in store.cursors.values():
        cursor.pages.forget(page.number)
