"""One disk check as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pagectl.outputs.prometheus import Gauge

if TYPE_CHECKING:
    from pagectl.outputs.disk_report import DiskReport
    from pagectl.outputs.forecast_report import Forecast
    from pagectl.terminal.nagios import Status


def status_metric(status: Status) -> Gauge:
    """The status as a gauge."""
    return Gauge("pagectl_disk_status", "0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.", (({}, int(status)),))


def metrics(report: DiskReport) -> Iterable[Gauge]:
    """Gauges named ``pagectl_disk_…``, one sample per file system (label ``mount``)."""
    stores = report.state.stores

    def gauge(name: str, text: str, values: Iterable[float | int | None]) -> Gauge:
        pairs = zip(stores, values, strict=True)
        return Gauge(name, text, tuple(({"mount": s.file_system.mount}, v) for s, v in pairs if v is not None))

    yield status_metric(report.status)
    yield gauge("pagectl_disk_blocked", "1 while the broker blocks producers.", [int(not s.within) for s in stores])
    yield gauge("pagectl_disk_usage_ratio", "Usage by the broker's formula.", [s.space.usage for s in stores])
    yield gauge("pagectl_disk_usable_bytes", "Bytes the broker may still use.", [s.space.usable for s in stores])
    yield gauge("pagectl_disk_size_bytes", "Size of the file system.", [s.space.total for s in stores])
    yield gauge(
        "pagectl_disk_blocks_at_bytes", "Usable bytes at which the broker blocks.", [s.blocks_at for s in stores]
    )
    yield gauge("pagectl_disk_margin_bytes", "Bytes left until the broker blocks.", [s.margin for s in stores])
    yield gauge("pagectl_disk_inodes", "Inodes of the file system.", [s.file_system.inodes or None for s in stores])
    usable = [s.file_system.inodes_usable if s.file_system.inodes else None for s in stores]
    yield gauge("pagectl_disk_inodes_usable", "Inodes left.", usable)


def forecast_metrics(forecast: Forecast) -> Iterable[Gauge]:
    """How fast each file system fills, and how long that lasts; no sample where it is not known."""
    trends = [({"mount": store.mount}, store.trend.rate) for store in forecast.stores if store.trend is not None]
    yield Gauge("pagectl_disk_fill_bytes_per_second", "Growth, by the samples seen so far.", tuple(trends))
    left = [
        ({"mount": store.mount}, store.left.seconds)
        for store in forecast.stores
        if store.left is not None and store.trend is not None and store.trend.grows
    ]
    yield Gauge("pagectl_disk_seconds_left", "Until the broker blocks at that rate, if growth is certain.", tuple(left))
