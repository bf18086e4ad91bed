"""A broker that is looked at again and again: its disks, and what is outstanding in its pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from pagectl.opening.broker import open_broker
from pagectl.opening.monitored_disks import monitored_disks
from pagectl.options.disk import DiskQuery
from pagectl.options.disk_thresholds import Thresholds
from pagectl.running.repeated import Repeated
from pageengine.disk.samples import DiskSample, DiskSamples

if TYPE_CHECKING:
    from pagectl.opening.monitored_disks import MonitoredDisks
    from pagectl.outputs.disk_report import DiskReport
    from pagectl.outputs.forecast_report import Forecast
    from pagefmt.outstanding.watch import BrokerBacklog, PagesWatch

T = TypeVar("T")

OPENED_AGAIN: Final = 600.0
"""Seconds: after so long the configuration is read again."""
LOOKED_FOR: Final = 60.0
"""The same where a directory was not there yet."""


class DisksSeen(NamedTuple):
    """One look at the disks."""

    report: DiskReport
    forecast: Forecast


class _Opened(Generic[T]):
    """What a configuration says, as it was read some time ago; read again after whatever was raised."""

    def __init__(self, read: Callable[[], T], whole: Callable[[T], bool]) -> None:
        self._read = read
        self._whole = whole
        self._found: tuple[T, float] | None = None

    def forget(self) -> None:
        self._found = None

    def now(self) -> T:
        found, self._found = self._found, None
        if found is None or found[1] <= time.monotonic():
            value = self._read()
            found = value, time.monotonic() + (OPENED_AGAIN if self._whole(value) else LOOKED_FOR)
        self._found = found
        return found[0]


class WatchedBroker:
    """A broker whose disks and pages are each read in a thread. ``name`` is the value of the label ``broker``."""

    def __init__(self, query: DiskQuery, interval: float) -> None:
        self.name, shown = query.broker, str(query.subject)
        self._disks = _Opened(lambda: monitored_disks(query), _all_there)
        self._place = _Opened(
            lambda: open_broker(query.path, query.broker_xml, query.options).place,
            lambda place: None not in (place.paging, place.journal, place.bindings),
        )
        self._samples = DiskSamples(self.name)
        self._watch: PagesWatch | None = None
        self.disks = Repeated(f"{shown}: disks", self._look_at_disks, interval)
        self.pages = Repeated(f"{shown}: pages", self._look_at_pages, interval)

    def _look_at_disks(self) -> DisksSeen:
        from pagectl.outputs.disk_report import DiskReport
        from pagectl.outputs.forecast_report import Forecast

        state = self._disks.now().state()
        used = {one.file_system.mount: (one.space.total - one.space.usable, one.space.total) for one in state.stores}
        self._samples = self._samples.added(DiskSample(time.monotonic(), used))
        return DisksSeen(DiskReport(state, Thresholds()), Forecast.of(state, self._samples, None, None))

    def _look_at_pages(self) -> BrokerBacklog:
        from pagefmt.outstanding.watch import PagesWatch

        place = self._place.now()
        if self._watch is None or self._watch.place != place:
            self._watch = PagesWatch(place)
        try:
            return self._watch.look()
        except Exception:
            self._place.forget()
            raise


def _all_there(disks: MonitoredDisks) -> bool:
    return all(path.is_dir() for path in disks.directories.values())
