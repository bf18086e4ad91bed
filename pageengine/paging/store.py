"""Paging state of one address: memory accounting, limits, and the pages being written.

Source: docs/spec/paging-engine.md 1, 2.4, 2.5 and 2.8.
"""

from __future__ import annotations

from collections.abc import Callable

from pageengine.model.metric import METRICS
from pageengine.model.page import PagedMessage, PageTransactionInfo, WrittenPage
from pageengine.model.ports import StorePort
from pageengine.model.reference import CursorPort
from pageengine.model.schedule import Schedule
from pageengine.model.sizes import RECORD_FRAME
from pageengine.paging.gates import DROP, PAGE, AddressGates
from pageengine.paging.limits import Limits
from pageengine.paging.page_limits import PageLimits
from pageengine.settings.profiles import ReadAhead
from pageengine.settings.settings import AddressSettings

NO_LIMIT = 1 << 62


def _below(limit: int) -> int:
    """Return the bound that a sum must stay below; a limit of 0 or less is none."""
    return limit if limit > 0 else NO_LIMIT


class AddressStore(StorePort):
    """Paging state of one address; sizes in bytes. ``current_id``: the number of the page being written, 0 if none.

    ``ask_all``: something happened that concerns every queue of the address; all are asked before the broker rests.
    ``own_bytes``: size of the one message that the broker itself keeps in this address, which belongs to no queue of a
    trace.
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
        self.page_limits = PageLimits(supported=self.profile.page_limits)
        self.gates = AddressGates(self, limits, schedule, self.page_limits)
        self.paging = False
        self.own_bytes = 0
        self.first_page = self.profile.first_page_none
        self.current_id = 0
        self.current: WrittenPage | None = None
        self.current_bytes = 0
        self.number_of_pages = 0
        self.pages: dict[int, WrittenPage] = {}
        self.files: list[int] = []
        self.cursors: dict[int, CursorPort] = {}
        self.had_folder = False
        self.records_written = 0
        self.settings_changed = False
        self.ask_all = False
        self.cleanup_scheduled = False
        self.metric = METRICS[self.profile.full_when](-1, -1, self.gates.close, self.gates.open)
        self.apply_settings(settings, first=True)

    # settings

    def apply_settings(self, settings: AddressSettings, *, first: bool = False) -> None:
        """Apply settings from now on (spec 2.4, 2.8)."""
        self.settings = settings
        self.settings_changed = not first
        self.ask_all = True
        self.max_size = settings.max_size_bytes
        max_messages = settings.max_size_messages if self.profile.counts_messages else -1
        cap = self.limits.settings.jdbc_max_page_size_bytes
        self.page_size = settings.page_size_bytes if cap is None else min(settings.page_size_bytes, cap)
        limited = self.max_size != -1 or max_messages != -1 or self.limits.uses_global
        self.gates.apply_settings(settings, limited=limited)
        self._read_limits(settings)
        self.metric.limits(self.max_size, max_messages)
        if self.page_limits.apply_settings(settings, self.page_size, self.number_of_pages) and not first:
            self.check_page_limit()

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

    # memory

    def add_size(self, size: int, count: int) -> None:
        """Add or subtract memory of a message (``count`` 1 or -1) or of a reference (0) (spec 1.4, 1.5)."""
        limits, gates = self.limits, self.gates
        self.schedule.touched_stores.add(self)
        limits.metric.add(size, count)
        self.metric.add(size, count)
        policy = gates.policy
        if policy is PAGE:
            if size > 0 and not self.paging and (gates.full or limits.global_full):
                self.start_paging()
        elif (
            policy is not DROP
            and (gates.waiting or gates.blocking)
            and ((limits.uses_global and not limits.global_full) or self.max_size != -1)
        ):
            gates.check_released()

    def add_quietly(self, size: int, count: int) -> bool:
        """Add memory if that changes nothing but the sums; return False, adding nothing, if it would.

        A fast path for ``add_size``: no limit is crossed and no producer waits.
        """
        limits, gates = self.limits, self.gates
        own, whole = self.metric, limits.metric
        if gates.full or gates.waiting or limits.global_full or own.over or whole.over:
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

    @property
    def rejecting(self) -> bool:
        """Return whether AMQP deliveries are refused before routing."""
        return self.gates.rejects(self.metric.size)

    def keep_own(self, size: int) -> None:
        """Account the broker's own kept message of this size in place of the previous one; 0: none."""
        before, self.own_bytes = self.own_bytes, size
        if size:
            self.add_size(size, 1)
        if before:
            self.add_size(-before, -1)

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
            self.page_limits.reached = False
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
        self.page_limits.check_pages(self.number_of_pages)
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

    def check_page_limit(self) -> None:
        """Open the store again if neither page limit applies any more (spec 2.8)."""
        most = max((cursor.counter.value for cursor in self.cursors.values()), default=0)
        if self.page_limits.check_end(self.number_of_pages, most):
            self.schedule.touched_stores.add(self)

    def later(self, task: Callable[[], None]) -> None:
        """Run a task on the store's executor, after the work in progress."""
        self.schedule.touched_stores.add(self)
        self.schedule.tasks.append(task)
