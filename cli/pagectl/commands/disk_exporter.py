"""``pagectl disk exporter``: metrics of brokers for Prometheus."""

from __future__ import annotations

import re
import signal
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from pagectl.opening.broker import NO_DIR, from_environment, same
from pagectl.options.disk import DiskOptions, DiskQuery, IntervalOption, MaxDiskUsage, MinDiskFree, disk_query
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
    given: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DIR…", parser=Path, help="Broker instances or data directories [default: $ARTEMIS_INSTANCE]."
        ),
    ] = None,
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="HOST:PORT",
            help="Address and port to listen on; 0.0.0.0 is every address of this host.",
        ),
    ] = "127.0.0.1:9872",
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--broker",
            metavar="NAME",
            help="Value of the label broker in metrics; repeatable, once for each DIR [default: the name of the "
            "instance's folder].",
        ),
    ] = None,
    interval: IntervalOption = 15.0,
    max_disk_usage: MaxDiskUsage = None,
    min_disk_free: MinDiskFree = None,
    broker: BrokerOptions = BrokerOptions(),
    edition: EditionOption = None,
) -> int:
    """Serve metrics for Prometheus: page usage by address and queue, and when the disk monitor blocks.

    Can run beside running brokers, and rereads only what changed. Unknown values have no sample. Ends on SIGTERM.
    """
    places: list[Path | None] = [*given] if given else [from_environment()]
    if any(vars(broker).values()) and len(places) > 1:
        raise CallError(
            "configuration options work with one DIR only; name instances, which have their own configuration"
        )
    if not interval <= LONGEST_INTERVAL:
        raise CallError(f"--every {interval}: give seconds, at most {LONGEST_INTERVAL:.0f}")
    host, port = _address(listen)
    options = DiskOptions(**vars(broker), edition=edition, max_disk_usage=max_disk_usage, min_disk_free=min_disk_free)
    if name and len(name) != len(places):
        raise CallError(
            f"--broker names {len(name)} of {len(places)} brokers; give it once for each DIR, in their order"
        )
    queries = [disk_query(place, options, name=each) for place, each in zip_longest(places, name or ())]
    _check(queries)
    from pagectl.opening.watched_broker import WatchedBroker
    from pagectl.serving.metrics import MetricsServer

    brokers = [WatchedBroker(query, interval) for query in queries]
    try:
        with MetricsServer(host, port, brokers) as server:
            for each in brokers:
                each.disks.start()
                each.pages.start()
            shown = f"[{host}]" if ":" in host else host
            note(f"serving http://{shown or '0.0.0.0'}:{server.port}/metrics")
            collected_as_usual()
            server.serve_forever()
    except EndedBySignal as err:
        if err.status != 128 + signal.SIGTERM:
            raise
    return Exit.OK


def _address(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]\s]*)):([0-9]{1,5})", text)
    if found is None or int(found[3]) > 65535:
        raise CallError(f"--listen {text}: write HOST:PORT, such as 127.0.0.1:9872 or [::1]:9872")
    return found[1] or found[2], int(found[3])


def _check(queries: list[DiskQuery]) -> None:
    """A name that is wrong is told now; what is not in it yet is looked for again and again."""
    paths = [query.path for query in queries]
    for number, path in enumerate(paths):
        if path is None:
            if queries[number].broker_xml is None:
                raise CallError(NO_DIR)
            continue
        if not (path.is_dir() or (path.suffix == ".xml" and path.is_file())):
            raise CallError(f"{path}: no such folder; name a broker instance or a data directory")
        if any(same(path, other) for other in paths[:number]):
            raise CallError(f"{path}: named twice; name each broker once")
    names: dict[str, object] = {}
    for query in queries:
        if names.setdefault(query.broker, query.subject) != query.subject:
            raise CallError(
                f"{names[query.broker]} and {query.subject} are both called {query.broker} in metrics; "
                "give --broker NAME once for each DIR"
            )
