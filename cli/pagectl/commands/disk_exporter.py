"""``pagectl disk exporter``: metrics of brokers for Prometheus."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from pagectl.opening.broker import from_environment
from pagectl.opening.monitored_disks import refuse_same_brokers
from pagectl.options.disk import (
    BrokerNamesOption,
    DiskOptions,
    DiskQuery,
    IntervalOption,
    ListenOption,
    MaxDiskUsage,
    MinDiskFree,
    disk_queries,
    listen_address,
)
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import EditionOption
from pagectl.running.collector import collected_as_usual
from pagectl.running.exits import CallError, EndedBySignal, Exit
from pagectl.terminal.streams import note

LONGEST_INTERVAL = 86400.0
EXAMPLES = (
    ("Metrics of one broker, for a Prometheus on this host", "disk exporter /var/lib/broker"),
    ("Of two brokers, for a Prometheus elsewhere", "disk exporter /srv/one /srv/two --listen 0.0.0.0:9872"),
)


def command(
    directories: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR…", parser=Path, help="Broker instances or data directories [default: $ARTEMIS_INSTANCE]."
        ),
    ] = None,
    listen: ListenOption = "127.0.0.1:9872",
    name: BrokerNamesOption = None,
    interval: IntervalOption = 15.0,
    max_disk_usage: MaxDiskUsage = None,
    min_disk_free: MinDiskFree = None,
    broker: BrokerOptions = BrokerOptions(),
    edition: EditionOption = None,
) -> int:
    """Serve metrics for Prometheus: page usage by address and queue, and when the disk monitor blocks.

    Can run beside running brokers, and rereads only what changed. Unknown values have no sample. Ends on SIGTERM.
    """
    places: list[Path | None] = [*directories] if directories else [from_environment()]
    if any(vars(broker).values()) and len(places) > 1:
        raise CallError(
            "configuration options work with one DIR only; name instances, which have their own configuration"
        )
    if not interval <= LONGEST_INTERVAL:
        raise CallError(f"--every {interval}: give seconds, at most {LONGEST_INTERVAL:.0f}")
    host, port = listen_address(listen)
    options = DiskOptions(**vars(broker), edition=edition, max_disk_usage=max_disk_usage, min_disk_free=min_disk_free)
    queries = disk_queries(places, options, name or [])
    refuse_same_brokers(queries)
    _serve(host, port, queries, interval)
    return Exit.OK


def _serve(host: str, port: int, queries: list[DiskQuery], interval: float) -> None:
    """Serve metrics until SIGTERM."""
    from pagectl.opening.watched_broker import WatchedBroker
    from pagectl.serving.metrics import MetricsServer

    brokers = [WatchedBroker(query, interval) for query in queries]
    try:
        with MetricsServer(host, port, brokers) as server:
            for watched in brokers:
                watched.disks.start()
                watched.pages.start()
            shown = f"[{host}]" if ":" in host else host
            note(f"serving http://{shown or '0.0.0.0'}:{server.port}/metrics")
            collected_as_usual()
            server.serve_forever()
    except EndedBySignal as err:
        if err.status != 128 + signal.SIGTERM:
            raise
