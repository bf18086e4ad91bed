"""One disk forecast as a monitoring line, as text and as an object."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pagectl.terminal.nagios import Perf, Range, Status, lines
from pageengine.disk.forecast import TimeLeft, Trend, time_left, trend
from pageengine.disk.monitor import Unmonitored
from pageengine.disk.samples import DiskSamples
from pageengine.disk.state import DiskState, FileStoreState
from pagefmt.quantities import SECOND, count_text, duration_text, size_text

if TYPE_CHECKING:
    from pagectl.reports.disk_check import DiskForecast, FilledFileSystem

SERVICE = "DISK FORECAST"
SHOWN = 5


@dataclass(frozen=True, slots=True)
class StoreForecast:
    """One file system: how fast it fills, and how long that lasts."""

    state: FileStoreState
    trend: Trend | None
    left: TimeLeft | None

    @property
    def mount(self) -> str:
        """Return the mount point of the file system."""
        return self.state.file_system.mount


@dataclass(frozen=True, slots=True)
class Growth:
    """One address. ``left``: seconds until the broker blocks if it alone went on growing."""

    address: str
    bytes: int
    trend: Trend
    left: TimeLeft | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """All stores and the addresses that grow, fastest first. Limits in seconds; None where not asked for."""

    state: DiskState
    stores: tuple[StoreForecast, ...]
    growing: tuple[Growth, ...]
    samples: DiskSamples
    warn_within: float | None
    critical_within: float | None

    @classmethod
    def of(cls, state: DiskState, samples: DiskSamples, warn: float | None, critical: float | None) -> Forecast:
        """Return the forecast for a state and its samples; ``warn`` and ``critical`` are in seconds."""
        stores = tuple(_store(store, samples) for store in state.stores)
        return cls(state, stores, _growing(state, samples), samples, warn, critical)

    @property
    def status(self) -> Status:
        """Return the gravest status of the stores."""
        return Status.worst(self.store_status(store) for store in self.stores)

    def store_status(self, store: StoreForecast) -> Status:
        """Return the status of a store.

        A store that blocks is critical; a forecast alerts only if growth is certain.
        """
        if not store.state.within:
            return Status.CRITICAL
        if store.left is None or store.trend is None or not store.trend.grows:
            return Status.OK
        if self.critical_within is not None and store.left.seconds <= self.critical_within:
            return Status.CRITICAL
        warned = self.warn_within is not None and store.left.seconds <= self.warn_within
        return Status.WARNING if warned else Status.OK

    @property
    def first(self) -> StoreForecast:
        """Return the store that blocks first, as far as samples can say."""
        return min(self.stores, key=lambda store: (store.state.within, store.left.seconds if store.left else math.inf))


def _store(state: FileStoreState, samples: DiskSamples) -> StoreForecast:
    growth = trend(samples.store(state.file_system.mount))
    return StoreForecast(state, growth, time_left(state.margin, growth))


def _growing(state: DiskState, samples: DiskSamples) -> tuple[Growth, ...]:
    pages = next((store for store in state.stores if "paging" in store.file_system.names), state.stores[0])
    rows = []
    for name in samples.names():
        points = samples.address(name)
        growth = trend(points)
        if growth is not None and growth.rate > 0:
            rows.append(Growth(name, int(points[-1][1]), growth, time_left(pages.margin, growth)))
    return tuple(sorted(rows, key=lambda row: (-row.trend.rate, row.address)))


def summary(forecast: Forecast) -> str:
    """Return a sentence about the store that blocks first."""
    first = forecast.first
    most = f"; {forecast.growing[0].address} grows most, {_rate(forecast.growing[0].trend)}" if forecast.growing else ""
    return f"{first.mount}: {outlook(forecast, first)}{most}"


def outlook(forecast: Forecast, store: StoreForecast) -> str:
    """Return the outlook of one store in words."""
    limit = forecast.state.limit
    if isinstance(limit, Unmonitored):
        return f"no disk monitor: {limit.value}"
    if not store.state.within:
        return f"the broker blocks now: {size_text(store.state.to_free)} must be freed"
    if store.state.margin is None:
        return "the broker never blocks here"
    room = f"{size_text(store.state.margin)} to go"
    if store.trend is None:
        count = len(forecast.samples.samples)
        return f"{room}, learning the rate ({count_text(count, 'sample')} so far)"
    if store.left is None:
        return f"{room}, not filling ({_rate(store.trend)}, {_basis(store.trend)})"
    if not store.trend.grows:
        return f"{room}, no certain growth ({_basis(store.trend)}; at {_rate(store.trend)} {_about(store.left)})"
    return f"{_about(store.left)} until the broker blocks, {room} at {_rate(store.trend)} ({_basis(store.trend)})"


def _about(left: TimeLeft) -> str:
    likely, soonest, latest = (duration_text(seconds * SECOND) for seconds in (left.seconds, left.soonest, left.latest))
    return f"{likely} ({soonest} to {latest})"


def _rate(fill: Trend) -> str:
    return f"{size_text(round(fill.rate))}/s" if abs(fill.rate) >= 1 else f"{size_text(round(fill.rate * 3600))}/h"


def _basis(fill: Trend) -> str:
    return f"{count_text(fill.samples, 'sample')} over {duration_text(fill.span * SECOND)}, sureness {fill.sureness}"


def nagios(forecast: Forecast, assumed: str, *, details: bool = False) -> str:
    """Return the plugin's line, followed by more lines with ``details``.

    ``assumed`` is the origin of an edition that was not named, "" if it was named.
    """
    more = [*detail_lines(forecast)] if details else []
    if details and assumed:
        more.append(f"judged as {forecast.state.edition.value} ({assumed}); --edition names another")
    return lines(SERVICE, forecast.status, summary(forecast), performance(forecast), more)


def performance(forecast: Forecast) -> Iterator[Perf]:
    """Per file system: seconds left (U while nobody knows), growth in bytes a second, bytes to go."""
    warn, critical = (
        None if limit is None else Range(limit, math.inf) for limit in (forecast.warn_within, forecast.critical_within)
    )
    for store in forecast.stores:
        left = None if store.left is None else round(store.left.seconds)
        yield Perf(f"{store.mount} left", left, "s", warn, critical, 0)
        yield Perf(f"{store.mount} rate", None if store.trend is None else store.trend.rate)
        if store.state.margin is not None:
            yield Perf(f"{store.mount} margin", store.state.margin, "B", None, Range(1, math.inf))


def detail_lines(forecast: Forecast) -> Iterator[str]:
    """Every store, the addresses that grow most, notes."""
    for store in forecast.stores:
        yield f"{store.mount} ({', '.join(store.state.file_system.names)}): {outlook(forecast, store)}"
    for row in forecast.growing[:SHOWN]:
        alone = f"; alone it would last {duration_text(row.left.seconds * SECOND)}" if row.left else ""
        yield f"growing: {row.address} {_rate(row.trend)}, {size_text(row.bytes)} now ({_basis(row.trend)}){alone}"
    yield from (f"note: {note}" for note in notes(forecast))


def notes(forecast: Forecast) -> list[str]:
    """Return the remarks beside the figures."""
    gone = forecast.samples.forgotten
    clock = [f"the clock was set back: dropped {count_text(gone, 'sample')} from later"] if gone else []
    return [*clock, *forecast.state.notes()]


def disk_forecast(forecast: Forecast, took_for: str) -> DiskForecast:
    """Return the answer as an object; ``took_for``: what the path was recognised as."""
    from pagectl.reports.disk_check import DiskForecast, GrowingAddress, left_values, trend_values

    return DiskForecast(
        status=forecast.status.word,
        exit_status=forecast.status.value,
        text=summary(forecast),
        took_for=took_for,
        edition=forecast.state.edition.value,
        samples=len(forecast.samples.samples),
        warn_within=forecast.warn_within,
        critical_within=forecast.critical_within,
        stores=[_filled(forecast, store) for store in forecast.stores],
        addresses=[
            GrowingAddress(address=row.address, bytes=row.bytes, **trend_values(row.trend), **left_values(row.left))
            for row in forecast.growing
        ],
        notes=notes(forecast),
    )


def _filled(forecast: Forecast, store: StoreForecast) -> FilledFileSystem:
    from pagectl.reports.disk_check import FilledFileSystem, left_values, trend_values

    state = store.state
    return FilledFileSystem(
        mount=store.mount,
        directories=list(state.file_system.names),
        status=forecast.store_status(store).word,
        blocked=not state.within,
        usable=state.space.usable,
        total=state.space.total,
        usage_percent=state.usage_percent,
        blocks_at=state.blocks_at,
        margin=state.margin,
        **trend_values(store.trend),
        **left_values(store.left),
    )
