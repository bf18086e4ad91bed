"""Metrics for Prometheus over HTTP: ``/metrics``, ``/healthz`` and ``/-/ready``."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from http.server import ThreadingHTTPServer
from typing import Any, Final

from prometheus_client import CollectorRegistry, MetricsHandler
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from pagectl.opening.watched_broker import WatchedBroker
from pagectl.outputs.disk_metrics import forecast_metrics, metrics, status_metric
from pagectl.outputs.page_metrics import page_metrics, send_metrics
from pagectl.outputs.prometheus import Brokers, Gauge
from pagectl.running.exits import CallError
from pagectl.running.repeated import Repeated
from pagectl.terminal.nagios import Status

REQUESTS: Final = 16  # connections served at once
PATIENCE: Final = 10.0  # seconds without a byte after which a connection is closed
FAIR_SHARE: Final = 1.0  # seconds after which a connection makes way for a new one, if all places are taken


class BrokerCollector(Collector):
    """All that is known of the brokers at the time of a scrape."""

    def __init__(self, brokers: Sequence[WatchedBroker]) -> None:
        self._brokers = brokers

    def describe(self) -> Iterable[Any]:
        """Return nothing, because the metrics are only known at a scrape."""
        return ()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return one metric family for each name, with the samples of all brokers."""
        return Brokers((broker.name, _gauges(broker)) for broker in self._brokers).collect()


def _gauges(broker: WatchedBroker) -> Iterator[Gauge]:
    disks, pages = broker.disks.seen().value, broker.pages.seen().value
    yield from _looks({"disks": broker.disks, "pages": broker.pages})
    if disks is None:
        yield status_metric(Status.UNKNOWN)
    else:
        yield from metrics(disks.report)
        yield from forecast_metrics(disks.forecast)
    if pages is not None:
        yield from page_metrics(pages.backlog, time.time())
        yield from send_metrics(pages.sends)


def _looks(looks: dict[str, Repeated[Any]]) -> Iterator[Gauge]:
    seen = [({"part": part}, reading.seen()) for part, reading in looks.items()]
    yield Gauge(
        "pagectl_up",
        "1 if the last reading of this part succeeded and is recent.",
        tuple((label, int(reading.value is not None)) for label, reading in seen),
    )
    yield Gauge(
        "pagectl_look_age_seconds",
        "Time since the last reading began.",
        tuple((label, reading.age) for label, reading in seen if reading.age is not None),
    )
    yield Gauge(
        "pagectl_look_cpu_seconds",
        "Processor time of the last reading.",
        tuple((label, reading.spent) for label, reading in seen if reading.spent is not None),
    )


class MetricsServer(ThreadingHTTPServer):
    """Listens at ``host`` and ``port``. Raises ``CallError`` where that cannot be."""

    request_queue_size = 4 * REQUESTS  # connections that wait to be accepted

    def __init__(self, host: str, port: int, brokers: Sequence[WatchedBroker]) -> None:
        self.brokers = brokers
        self._open: dict[socket.socket, float] = {}  # connections and when each was accepted (monotonic seconds)
        self._lock = threading.Lock()
        registry = CollectorRegistry(auto_describe=False)
        registry.register(BrokerCollector(brokers))
        where = f"--listen {host}:{port}"
        try:
            (self.address_family, *_, address), *_ = socket.getaddrinfo(
                host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            super().__init__((str(address[0]), port), type("Handler", (_Handler,), {"registry": registry}))
        except (OSError, UnicodeError) as err:
            reason = getattr(err, "strerror", None) or err
            raise CallError(f"{where}: {reason}; name an address of this host and a free port") from err

    def server_bind(self) -> None:
        """Without a question to the name service, which may take long."""
        socketserver.TCPServer.server_bind(self)

    @property
    def port(self) -> int:
        """Return the port on which the server listens."""
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own.

        If all places are taken, the oldest connection is closed: a scrape takes milliseconds, so clients that send or
        read a byte now and then cannot keep others out.
        """
        with self._lock:
            has_place = len(self._open) < REQUESTS or self._close_oldest()
            if has_place:
                self._open[request] = time.monotonic()
        if has_place:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def _close_oldest(self) -> bool:
        """Return whether a connection made way. Its own thread cleans up when it meets the closed socket."""
        oldest = min(self._open, key=self._open.__getitem__)
        if time.monotonic() - self._open[oldest] < FAIR_SHARE:
            return False
        del self._open[oldest]
        with suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)
        return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection, then give its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a connection: clients may disconnect or send nothing."""


class _Handler(MetricsHandler):
    timeout = PATIENCE
    server: MetricsServer

    def do_GET(self) -> None:  # noqa: N802 (the name that the base class calls)
        match self.path.partition("?")[0]:
            case "/metrics":
                self.path = "/metrics"  # everything is told, whatever names a query asks for
                super().do_GET()
            case "/healthz":
                self._say(200, "alive")
            case "/-/ready":
                waiting = [broker.name for broker in self.server.brokers if broker.pages.seen().age is None]
                self._say(503 if waiting else 200, f"not read yet: {', '.join(waiting)}" if waiting else "ready")
            case _:
                self._say(404, "there are /metrics, /healthz and /-/ready")

    def _say(self, status: int, text: str) -> None:
        content = f"{text}\n".encode("utf-8", "backslashreplace")
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
