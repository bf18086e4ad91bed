"""One disk check as Prometheus metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from brokerconf.reading.decoding import read_at_most

from pagectl.outputs.prometheus import Gauge, exposition
from pagectl.running.exits import CallError
from pagectl.terminal.nagios import Status
from pagectl.terminal.streams import warning
from pagefmt.errors import PageFmtError
from pagefmt.storage.writing import refuse_input, write_text

if TYPE_CHECKING:
    from pagectl.outputs.disk_report import DiskReport
    from pagectl.outputs.forecast_report import Forecast


def status_metric(status: Status) -> Gauge:
    """Return the status as a gauge."""
    return Gauge("pagectl_disk_status", "0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.", (({}, int(status)),))


def metrics(report: DiskReport) -> Iterable[Gauge]:
    """Return gauges named ``pagectl_disk_…``, one sample per file system (label ``mount``)."""
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
    """Yield gauges of how fast each file system fills and how long it lasts; without a sample if not known."""
    trends = [({"mount": store.mount}, store.trend.rate) for store in forecast.stores if store.trend is not None]
    yield Gauge("pagectl_disk_fill_bytes_per_second", "Growth, by the samples seen so far.", tuple(trends))
    left = [
        ({"mount": store.mount}, store.left.seconds)
        for store in forecast.stores
        if store.left is not None and store.trend is not None and store.trend.grows
    ]
    yield Gauge("pagectl_disk_seconds_left", "Until the broker blocks at that rate, if growth is certain.", tuple(left))


def exposed(broker: str, report: DiskReport | None) -> str:
    """Return the report as exposition text; without a report, that the status is unknown."""
    return exposition(broker, metrics(report) if report else [status_metric(Status.UNKNOWN)])


def _brokers(text: str) -> set[str]:
    return set(re.findall(r'\bbroker="((?:[^"\\]|\\.)*)"', text))


def _beginning(file: Path) -> str:
    """Return what a regular file has first; nothing of any other."""
    if not file.is_file():
        return ""
    with suppress(OSError):
        return read_at_most(file, 1 << 20).decode("utf-8", "replace")
    return ""


def keep_metrics(textfile: Path, broker: str, report: DiskReport) -> None:
    """Write the metrics to a file; if that fails, raise the error, or only warn of it if the report has an alarm."""
    try:
        write_textfile(textfile, broker, report)
    except (PageFmtError, CallError, OSError) as err:
        if report.status is Status.OK:
            raise
        warning(f"--textfile: {err}")


def write_textfile(textfile: Path, broker: str, report: DiskReport | None) -> None:
    """Write the metrics to a file, unless it has those of another broker.

    Raises ``CallError``, ``PageFmtError`` or ``OSError``.
    """
    refuse_input(textfile)
    text = exposed(broker, report)
    if others := _brokers(_beginning(textfile)) - _brokers(text):
        raise CallError(
            f"{textfile}: has the metrics of another broker, {min(others)}; name a file for each broker, or delete it "
            "if that broker is gone"
        )
    write_text(textfile, text, 0o644, updated=True)
