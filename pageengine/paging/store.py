"""Paging state of one address: memory accounting, limits, the two gates, and the pages being written.

Source: docs/spec/paging-engine.md 1, 2.3 to 2.6 and 2.8.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from pageengine.model.metric import METRICS
from pageengine.model.page import PagedMessage, PageTransactionInfo, WrittenPage
from pageengine.model.ports import StorePort
from pageengine.model.reference import CursorPort
from pageengine.model.schedule import Schedule
from pageengine.model.sizes import RECORD_FRAME
from pageengine.paging.limits import Limits
from pageengine.settings.profiles import ReadAhead
from pageengine.settings.settings import AddressFullPolicy, AddressSettings, DiskFullPolicy, PageFullPolicy

Grant = Callable[[], None]
NO_LIMIT = 1 << 62


class Gate(Enum):
    """Decision of gate B for a message that has arrived."""

    MEMORY = "memory"
    PAGE = "page"
    DROP = "drop"
    FAIL = "fail"


# members of an enumeration that are asked for each message: a name of a module is found faster
MEMORY: Final = Gate.MEMORY
PAGE: Final = AddressFullPolicy.PAGE
DROP: Final = AddressFullPolicy.DROP
BLOCK: Final = AddressFullPolicy.BLOCK
FAIL: Final = AddressFullPolicy.FAIL


def _below(limit: int) -> int:
    """Return the bound that a sum must stay below; a limit of 0 or less is none."""
    return limit if limit > 0 else NO_LIMIT


class AddressStore(StorePort):
    """Paging state of one address; sizes in bytes. ``current_id``: the number of the page being written, 0 if none.

    ``ask_all``: something happened that concerns every queue of the address; all are asked before the broker rests.
    ``blocking``: producers wait for room in memory or on the disk, and the broker has logged it. ``own_bytes``: size of
    the one message that the broker itself keeps in this address, which belongs to no queue of a trace.
    """

    def __init__(
        self,
        limits: Limits,
        schedule: Schedule,
        page_transactions: dict[int, PageTransactionInfo],
        address: str,
        settings: AddressSettings,
    ) -> None:
        self.limits = limits
        self.schedule = schedule
        self.page_transactions = page_transactions
        self.profile = limits.profile
        self.address = address
        self.full = False
        self.paging = False
        self.page_full = False
        self.blocked_by_operator = False
        self.blocking = False
        self.waiting: deque[Grant] = deque()
        self.own_bytes = 0
        self.first_page = self.profile.first_page_none
        self.current_id = 0
        self.current: WrittenPage | None = None
        self.current_bytes = 0
        self.number_of_pages = 0
        self.estimated_max_pages: int | None = None
        self.pages: dict[int, WrittenPage] = {}
        self.files: list[int] = []
        self.cursors: dict[int, CursorPort] = {}
        self.had_folder = False
        self.records_written = 0
        self.settings_changed = False
        self.ask_all = False
        self.cleanup_scheduled = False
        self.release_scheduled = False
        self.shown: tuple[object, ...] | None = None
        self.page_limit_messages: int | None = None
        self.metric = METRICS[self.profile.full_when](-1, -1, self._over, self._under)
        self.apply_settings(settings, first=True)

    # settings

    def apply_settings(self, settings: AddressSettings, *, first: bool = False) -> None:
        """Apply settings from now on (spec 2.4, 2.8)."""
        profile = self.profile
        self.settings = settings
        self.settings_changed = not first
        self.ask_all = True
        self.policy = settings.policy
        self.max_size = settings.max_size_bytes
        self.reject_threshold = settings.max_size_bytes_reject_threshold
        max_messages = settings.max_size_messages if profile.counts_messages else -1
        cap = self.limits.settings.jdbc_max_page_size_bytes
        self.page_size = settings.page_size_bytes if cap is None else min(settings.page_size_bytes, cap)
        self.limited = self.max_size != -1 or max_messages != -1 or self.limits.uses_global
        self.disk_policy = settings.disk_full_policy if profile.disk_policy else None
        self._read_limits(settings)
        self.metric.limits(self.max_size, max_messages)
        self._page_limits(settings, first)

    def _read_limits(self, settings: AddressSettings) -> None:
        max_bytes = settings.max_read_page_bytes
        if max_bytes is None:
            max_bytes = (2 * settings.page_size_bytes + 2**31) % 2**32 - 2**31
        max_messages = settings.max_read_page_messages
        prefetch_bytes, prefetch_messages = settings.prefetch_page_bytes, settings.prefetch_page_messages
        prefetch_bytes = prefetch_bytes if prefetch_bytes is not None and prefetch_bytes > 0 else max_bytes
        prefetch_messages = (
            prefetch_messages if prefetch_messages is not None and prefetch_messages > 0 else max_messages
        )
        ahead = self.profile.read_ahead
        limits_off = max(max_bytes, max_messages, prefetch_bytes, prefetch_messages) <= 0
        prefetches = ahead is ReadAhead.MAX_READ_AND_PREFETCH
        self.reads_to_max_size = limits_off or ahead in (ReadAhead.MAX_SIZE, ReadAhead.MAX_SIZE_AND_COUNT)
        self.reads_few = ahead is not ReadAhead.MAX_SIZE
        self.max_read_bytes = _below(max_bytes)
        self.max_read_messages = _below(max_messages)
        self.prefetch_bytes = _below(prefetch_bytes if prefetches else 0)
        self.prefetch_messages = _below(prefetch_messages if prefetches else 0)
        self.old_read_limit = self.max_size if self.max_size > 0 else 2 * self.page_size

    def _page_limits(self, settings: AddressSettings, first: bool) -> None:
        limit_bytes = settings.page_limit_bytes
        limit_messages = settings.page_limit_messages
        limit_bytes = None if limit_bytes is not None and limit_bytes < 0 else limit_bytes
        limit_messages = None if limit_messages is not None and limit_messages < 0 else limit_messages
        policy = settings.page_full_policy if self.profile.page_limits else None
        if policy is None or (limit_bytes is None and limit_messages is None):
            policy = limit_bytes = limit_messages = None
        self.page_full_policy: PageFullPolicy | None = policy
        messages_changed = limit_messages != self.page_limit_messages
        self.page_limit_messages = limit_messages
        pages_changed = False
        if limit_bytes is not None and self.page_size > 0:
            estimated = limit_bytes // self.page_size
            pages_changed = estimated != self.estimated_max_pages
            self.estimated_max_pages = estimated
        if not first and (pages_changed or messages_changed):
            if pages_changed:
                self.check_number_of_pages()
            self.check_page_limit()

    # memory

    def add_size(self, size: int, count: int) -> None:
        """Add or subtract memory of a message (``count`` 1 or -1) or of a reference (0) (spec 1.4, 1.5)."""
        limits = self.limits
        self.schedule.touched_stores.add(self)
        limits.metric.add(size, count)
        self.metric.add(size, count)
        policy = self.policy
        if policy is PAGE:
            if size > 0 and not self.paging and (self.full or limits.global_full):
                self.start_paging()
        elif (
            policy is not DROP
            and (self.waiting or self.blocking)
            and ((limits.uses_global and not limits.global_full) or self.max_size != -1)
        ):
            self.check_released()

    def add_quietly(self, size: int, count: int) -> bool:
        """Add memory if that changes nothing but the sums; return False, adding nothing, if it would.

        A fast path for ``add_size``: no limit is crossed and no producer waits.
        """
        limits = self.limits
        own, whole = self.metric, limits.metric
        if self.full or self.waiting or limits.global_full or own.over or whole.over:
            return False
        own_size, whole_size = own.size + size, whole.size + size
        own_count, whole_count = own.count + count, whole.count + count
        if size > 0 and (
            own_size >= own.max_bytes >= 0
            or whole_size >= whole.max_bytes >= 0
            or own_count >= own.max_messages >= 0
            or whole_count >= whole.max_messages >= 0
        ):
            return False
        own.size, whole.size, own.count, whole.count = own_size, whole_size, own_count, whole_count
        own.touched = whole.touched = True
        self.schedule.touched_stores.add(self)
        return True

    def keep_own(self, size: int) -> None:
        """Account the broker's own kept message of this size in place of the previous one; 0: none."""
        before, self.own_bytes = self.own_bytes, size
        if size:
            self.add_size(size, 1)
        if before:
            self.add_size(-before, -1)

    def _over(self) -> None:
        self.full = True

    def _under(self) -> None:
        self.full = False
        self.check_released()

    def check_released(self) -> bool:
        """Grant waiting requests for credits unless the store is still full or blocked (spec 2.6). True: granted."""
        if self.blocked_by_operator or self.full or self.limits.global_full:
            return False
        self.blocking = False
        if self.waiting and not self.release_scheduled:
            self.release_scheduled = True
            self.later(self._release)
        return True

    def _release(self) -> None:
        self.release_scheduled = False
        waiting, self.waiting = self.waiting, deque()
        self.schedule.touched_stores.add(self)
        for grant in waiting:
            grant()

    # gate A

    def lets_in(self) -> bool:
        """Return whether ``check_memory`` would grant at once."""
        limits = self.limits
        if self.blocked_by_operator or limits.disk_full:
            return False
        policy = self.policy
        return policy is PAGE or policy is DROP or not (self.full or limits.global_full)

    def check_memory(self, grant: Grant, *, keep_refused: bool = True) -> bool:
        """Ask for permission to send more (spec 2.6); ``grant`` runs now or later. Return False if refused.

        ``keep_refused``: the grant of a refused request runs at the next release.
        """
        limits = self.limits
        if self.blocked_by_operator:
            self._wait(grant)
            return False
        if limits.disk_full and self.profile.disk_policy:
            if self.disk_policy is DiskFullPolicy.FAIL:
                if keep_refused:
                    self._wait(grant)
                    limits.blocked_stores[self.address] = self
                return False
            if self.disk_policy is not DiskFullPolicy.DROP:
                self._block(grant)
                return True
            grant()
            return True
        if self.policy is FAIL and (self.limited or limits.disk_full):
            if self.full or limits.global_full:
                if keep_refused and self.profile.keeps_grants_of_failed:
                    self._wait(grant)
                    if self.profile.releases_failed_with_disk:
                        limits.blocked_stores[self.address] = self
                return False
        elif limits.disk_full or (self.policy is BLOCK and self.limited and (self.full or limits.global_full)):
            self._block(grant)
            return True
        grant()
        return True

    def _wait(self, grant: Grant) -> None:
        self.waiting.append(grant)
        self.schedule.touched_stores.add(self)

    def _block(self, grant: Grant) -> None:
        self._wait(grant)
        self.limits.blocked_stores[self.address] = self
        self.blocking = True

    def forget(self, grant: Grant) -> None:
        """Remove a grant whose waiting client has gone."""
        self.waiting = deque(waiting for waiting in self.waiting if waiting != grant)
        self.schedule.touched_stores.add(self)

    @property
    def rejecting(self) -> bool:
        """Return whether AMQP deliveries are refused before routing (max-size-bytes-reject-threshold).

        See protocols.md 2.4.
        """
        return self.policy is BLOCK and self.reject_threshold != -1 and self.metric.size > self.reject_threshold

    # gate B

    def gate(self) -> Gate:
        """Return what happens to a message that arrived for queues of this address (spec 2.3)."""
        limits = self.limits
        if limits.disk_full:
            if self.disk_policy is DiskFullPolicy.FAIL:
                return Gate.FAIL
            if self.disk_policy is DiskFullPolicy.DROP:
                return Gate.DROP
        policy = self.policy
        if policy is PAGE:
            if self.page_full and (self.paging or self.profile.page_full_without_paging):
                return Gate.FAIL if self.page_full_policy is PageFullPolicy.FAIL else Gate.DROP
            return Gate.PAGE if self.paging else MEMORY
        if policy is BLOCK or not (self.full or limits.global_full):
            return MEMORY
        return Gate.FAIL if policy is FAIL else Gate.DROP

    # pages

    def start_paging(self) -> None:
        """Enter page mode; messages go to pages from now on."""
        if self.current is None:
            self.open_new_page()
        self.paging = self.ask_all = True
        self.schedule.touched_stores.add(self)

    def stop_paging(self) -> None:
        """Leave page mode; cursors and queues follow."""
        if self.paging:
            self.paging = False
            self.page_full = False
        for cursor in self.cursors.values():
            cursor.leave_page_mode()
            self.schedule.touch(cursor.queue)
        if self.limits.settings.purge_page_folders:
            self.later(self._purge_folder)

    def _purge_folder(self) -> None:
        if self.paging:
            return
        self.pages.clear()
        self.files = []
        self.current = None
        self.number_of_pages = 0
        self.had_folder = False
        for cursor in self.cursors.values():
            cursor.pages.clear()

    def write(self, record: PagedMessage) -> None:
        """Write a record to the current page, or to a new one if it would exceed the page size (spec 2.5)."""
        size = record.size + RECORD_FRAME
        self.current_bytes += size
        page = self.current
        if page is None or (self.current_bytes > self.page_size and page.count):
            page = self.open_new_page(forced=page is None)
            self.current_bytes += size
        self.records_written += 1
        self.ask_all = True
        record.page = page.number
        record.nr = page.count
        page.count += 1
        page.records.append(record)
        page.bytes += size

    def open_new_page(self, *, forced: bool = True) -> WrittenPage:
        """Open the next page and return it; ``forced`` means for another reason than that the previous one is full."""
        self.number_of_pages += 1
        self.check_number_of_pages()
        self.current_id += 1
        page = self.current = self.pages[self.current_id] = WrittenPage(self.current_id)
        page.forced = forced
        self.files = [*self.files, self.current_id]
        self.current_bytes = 0
        self.had_folder = True
        if self.current_id < self.first_page:
            self.first_page = self.current_id
        return page

    def forget_page(self, number: int) -> None:
        """Remove a page whose file was deleted."""
        if self.pages.pop(number, None) is not None:
            self.files = [file for file in self.files if file != number]

    def page_to_read(self, number: int) -> WrittenPage:
        """Return the page of this number, or an empty one if there is no file."""
        return self.pages.get(number) or WrittenPage(number)

    def below_page_limit(self) -> bool:
        """Return whether page-limit-bytes leaves room for another page."""
        return self.estimated_max_pages is None or self.number_of_pages <= self.estimated_max_pages

    def check_number_of_pages(self) -> None:
        """Close the store if the page limit in bytes is passed."""
        if not self.below_page_limit():
            self.page_full = True

    def check_page_limit(self) -> None:
        """Open the store again if neither page limit applies any more (spec 2.8)."""
        largest = max((cursor.counter.value for cursor in self.cursors.values()), default=0)
        limit = self.page_limit_messages
        if self.below_page_limit() and (limit is None or largest < limit):
            self.page_full = False
            self.schedule.touched_stores.add(self)

    def later(self, task: Callable[[], None]) -> None:
        """Run a task on the store's executor, after the work in progress."""
        self.schedule.touched_stores.add(self)
        self.schedule.tasks.append(task)
