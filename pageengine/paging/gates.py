"""Gates of an address: gate A decides when producers may send, gate B what happens to messages that have arrived.

Source: docs/spec/paging-engine.md 2.3 and 2.6.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Final

from pageengine.model.ports import GatePort, StorePort
from pageengine.model.schedule import Schedule
from pageengine.paging.limits import Limits
from pageengine.paging.page_limits import PageLimits
from pageengine.settings.settings import AddressFullPolicy, AddressSettings, DiskFullPolicy, PageFullPolicy

Grant = Callable[[], None]


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


class AddressGates(GatePort):
    """The gates of one address, and the grants that wait at gate A.

    ``full``: a memory limit of the address is reached. ``blocking``: producers wait for room in memory or on the disk,
    and the broker has logged it. ``limited``: there is a memory limit, of the address or of the broker.
    """

    def __init__(self, store: StorePort, limits: Limits, schedule: Schedule, page_limits: PageLimits) -> None:
        self.store = store
        self.limits = limits
        self.schedule = schedule
        self.page_limits = page_limits
        self.profile = limits.profile
        self.full = False
        self.blocked_by_operator = False
        self.blocking = False
        self.waiting: deque[Grant] = deque()
        self.release_scheduled = False

    def apply_settings(self, settings: AddressSettings, *, limited: bool) -> None:
        """Apply settings from now on."""
        self.policy = settings.policy
        self.limited = limited
        self.disk_policy = settings.disk_full_policy if self.profile.disk_policy else None
        self.reject_threshold = settings.max_size_bytes_reject_threshold

    def close(self) -> None:
        """Note that a memory limit of the address is reached."""
        self.full = True

    def open(self) -> None:
        """Note that the memory limits of the address are no longer reached, and release producers."""
        self.full = False
        self.check_released()

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
                    limits.blocked_stores[self.store.address] = self
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
                        limits.blocked_stores[self.store.address] = self
                return False
        elif limits.disk_full or (self.policy is BLOCK and self.limited and (self.full or limits.global_full)):
            self._block(grant)
            return True
        grant()
        return True

    def _wait(self, grant: Grant) -> None:
        self.waiting.append(grant)
        self.schedule.touched_stores.add(self.store)

    def _block(self, grant: Grant) -> None:
        self._wait(grant)
        self.limits.blocked_stores[self.store.address] = self
        self.blocking = True

    def forget(self, grant: Grant) -> None:
        """Remove a grant whose waiting client has gone."""
        self.waiting = deque(waiting for waiting in self.waiting if waiting != grant)
        self.schedule.touched_stores.add(self.store)

    def check_released(self) -> bool:
        """Grant waiting requests for credits unless the address is still full or blocked (spec 2.6). True: granted."""
        if self.blocked_by_operator or self.full or self.limits.global_full:
            return False
        self.blocking = False
        if self.waiting and not self.release_scheduled:
            self.release_scheduled = True
            self.schedule.touched_stores.add(self.store)
            self.schedule.tasks.append(self._release)
        return True

    def _release(self) -> None:
        self.release_scheduled = False
        waiting, self.waiting = self.waiting, deque()
        self.schedule.touched_stores.add(self.store)
        for grant in waiting:
            grant()

    def rejects(self, size: int) -> bool:
        """Return whether ``size`` bytes in memory are above max-size-bytes-reject-threshold (protocols.md 2.4)."""
        return self.policy is BLOCK and self.reject_threshold != -1 and size > self.reject_threshold

    # gate B

    def decide_arrival(self) -> Gate:
        """Return what happens to a message that arrived for queues of this address (spec 2.3)."""
        limits = self.limits
        if limits.disk_full:
            if self.disk_policy is DiskFullPolicy.FAIL:
                return Gate.FAIL
            if self.disk_policy is DiskFullPolicy.DROP:
                return Gate.DROP
        policy = self.policy
        if policy is PAGE:
            paging = self.store.paging
            if self.page_limits.reached and (paging or self.profile.page_full_without_paging):
                return Gate.FAIL if self.page_limits.policy is PageFullPolicy.FAIL else Gate.DROP
            return Gate.PAGE if paging else MEMORY
        if policy is BLOCK or not (self.full or limits.global_full):
            return MEMORY
        return Gate.FAIL if policy is FAIL else Gate.DROP
