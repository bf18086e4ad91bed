"""The limits of the broker as a whole: the global memory limit and the disk (docs/spec/paging-engine.md 1.5, 2.6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from pageengine.model.metric import METRICS
from pageengine.model.ports import GatePort
from pageengine.settings.profiles import Profile
from pageengine.settings.settings import EngineSettings


class Limits:
    """Limits of the broker as a whole.

    ``global_full``: the global limit is reached or the disk is full. ``uses_global``: there is a global limit.
    ``waiting``: grants for links without an address; a broker runs them only when it also releases stores.
    """

    def __init__(self, settings: EngineSettings, profile: Profile) -> None:
        self.settings = settings
        self.profile = profile
        self.waiting: deque[Callable[[], None]] = deque()
        self.blocked_stores: dict[str, GatePort] = {}
        self.disk_full = False
        self.global_over = False
        self.global_full = False
        self.uses_global = profile.global_limit and settings.global_max_size > 0
        messages = settings.global_max_messages if profile.counts_messages else -1
        limits = (settings.global_max_size, messages) if self.uses_global else (-1, -1)
        self.metric = METRICS[profile.full_when](*limits, self._over, self._under)

    def _over(self) -> None:
        self.global_over = True
        self.global_full = True

    def _under(self) -> None:
        self.global_over = False
        self.global_full = self.disk_full
        self.check_released()

    def set_disk_full(self, full: bool) -> None:
        """Apply the disk monitor's report of a full disk, or of room again."""
        self.disk_full = full
        self.global_full = full or self.global_over
        if not full:
            self.check_released()

    def check_released(self) -> None:
        """Let producers of blocked stores go on, as far as nothing holds them back."""
        if self.global_full or not self.blocked_stores:
            return
        waiting, self.waiting = self.waiting, deque()
        for grant in waiting:
            grant()
        for address, gates in list(self.blocked_stores.items()):
            if gates.check_released():
                del self.blocked_stores[address]
