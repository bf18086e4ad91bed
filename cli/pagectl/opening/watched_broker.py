"""A broker that is looked at again and again: its disks, and what is outstanding in its pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from pagectl.opening.broker import OpenedBroker, open_broker
from pagectl.opening.monitored_disks import monitored_disks
from pagectl.options.disk import DiskQuery
from pagectl.options.disk_thresholds import Thresholds
from pagectl.running.repeated import Repeated
from pageengine.disk.samples import DiskSample, DiskSamples
from pagefmt.directory.locate import LAYOUT

if TYPE_CHECKING:
    from pagectl.opening.send_limits import SendLimits
    from pagectl.outputs.disk_report import DiskReport
    from pagectl.outputs.forecast_report import Forecast
    from pageengine.paging.next_send import AddressMemory, NextSend
    from pagefmt.outstanding.loaded_journals import KnownJournals
    from pagefmt.outstanding.state import PagingState
    from pagefmt.outstanding.watch import BrokerBacklog, PagesWatch

T = TypeVar("T")

REOPEN_AFTER: Final = 600.0  # seconds after which a configuration is read again
REOPEN_SOONER_AFTER: Final = 60.0  # seconds, if a directory was missing


class DiskReading(NamedTuple):
    """The result of one reading of the disks."""

    report: DiskReport
    forecast: Forecast


class BacklogReading(NamedTuple):
    """The result of one reading of pages and journal.

    ``sends`` says for each address what happens to new messages; it is empty without a configuration, or if something
    is not known.
    """

    backlog: BrokerBacklog
    sends: dict[str, NextSend]


class _Opened(Generic[T]):
    """What a configuration says, read again after a while, after an error, and when a missing directory appears.

    ``missing`` returns the directories that a value names and that do not exist. A broker makes its paging directory
    when it pages for the first time: what is in it must not wait until the configuration is read again.
    """

    def __init__(self, read: Callable[[], T], missing: Callable[[T], list[Path]]) -> None:
        self._read = read
        self._missing = missing
        self._opened: tuple[T, list[Path], float] | None = None

    def forget(self) -> None:
        self._opened = None

    def now(self) -> T:
        opened, self._opened = self._opened, None
        if opened is None or opened[2] <= time.monotonic() or any(path.is_dir() for path in opened[1]):
            value = self._read()
            missing = self._missing(value)
            opened = value, missing, time.monotonic() + (REOPEN_SOONER_AFTER if missing else REOPEN_AFTER)
        self._opened = opened
        return opened[0]


class WatchedBroker:
    """A broker whose disks and pages are each read in a thread. ``name`` is the value of the label ``broker``."""

    def __init__(self, query: DiskQuery, interval: float) -> None:
        self.name, shown = query.broker, str(query.subject)
        self._disks = _Opened(
            lambda: monitored_disks(query),
            lambda disks: [directory for directory in disks.directories.values() if not directory.is_dir()],
        )
        self._broker = _Opened(
            lambda: _with_limits(open_broker(query.path, query.broker_xml, query.options)),
            lambda opened: _missing_directories(opened[0]),
        )
        self._samples = DiskSamples(self.name)
        self._watch: PagesWatch | None = None
        self._memory: tuple[KnownJournals, Mapping[str, AddressMemory]] | None = None
        self.disks = Repeated(f"{shown}: disks", self._look_at_disks, interval)
        self.pages = Repeated(f"{shown}: pages", self._look_at_pages, interval)

    def _look_at_disks(self) -> DiskReading:
        from pagectl.outputs.disk_report import DiskReport
        from pagectl.outputs.forecast_report import Forecast

        state = self._disks.now().state()
        used = {
            disk.file_system.mount: (disk.space.total - disk.space.usable, disk.space.total) for disk in state.stores
        }
        self._samples = self._samples.added(DiskSample(time.monotonic(), used))
        return DiskReading(DiskReport(state, Thresholds()), Forecast.of(state, self._samples, None, None))

    def _look_at_pages(self) -> BacklogReading:
        from pagefmt.vectors import watch_pages

        broker, limits = self._broker.now()
        place = broker.place
        if self._watch is None or self._watch.place != place:
            self._watch = watch_pages(place)
        try:
            seen = self._watch.look()
            return BacklogReading(
                seen, {} if limits is None or seen.damaged is not False else self._sends(limits, seen)
            )
        except Exception:
            self._broker.forget()
            raise

    def _sends(self, limits: SendLimits, seen: BrokerBacklog) -> dict[str, NextSend]:
        from pageengine.data_directory.after_start import pages_after_start
        from pageengine.paging.next_send import PagesAtStart

        assert self._watch is not None
        state = self._watch.state()
        if state.unknown is not None:
            return {}
        pages = dict.fromkeys(state.addresses, PagesAtStart())
        for store in seen.stores:
            if store.address is not None and store.queues is not None:
                most = max((queue.messages or 0 for queue in store.queues), default=0)
                pages[store.address] = pages_after_start(
                    store.pages, store.waiting, store.newest_waits, store.bytes, most
                )
        unknown = {store.address for store in seen.stores if store.queues is None}
        sends = limits.next_sends(pages, partial(self._memory_of, limits, state))
        return {address: sends[address] for address in sends if address not in unknown}

    def _memory_of(self, limits: SendLimits, state: PagingState) -> Mapping[str, AddressMemory]:
        """Return the memory of each address; messages of the journal are decoded again only after it changed."""
        if self._memory is None or self._memory[0] is not state.known:
            self._memory = state.known, limits.memory(state)
        return self._memory[1]


def _missing_directories(broker: OpenedBroker) -> list[Path]:
    """Return where the directories that a broker lacks would be."""
    place, configuration = broker.place, broker.configuration
    present = {"paging": place.paging, "journal": place.journal, "bindings": place.bindings}
    if configuration is not None:
        expected = {name: [getattr(configuration.directories, name)] for name in present}
    else:
        data = place.paging.parent if place.paging is not None else place.given
        expected = {name: [data / folder for folder in LAYOUT[name]] for name in present}
    paths = (path for name, there in present.items() if there is None for path in expected[name])
    return [path for path in paths if not path.is_dir()]


def _with_limits(broker: OpenedBroker) -> tuple[OpenedBroker, SendLimits | None]:
    from pagectl.opening.send_limits import send_limits

    return broker, send_limits(broker)
