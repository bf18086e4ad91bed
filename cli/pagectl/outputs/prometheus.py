"""Prometheus metrics of brokers, and their exposition text, which prometheus-client writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge of one broker with its samples: labels (without ``broker``) and value."""

    name: str
    help: str
    samples: tuple[tuple[Mapping[str, str], float | int], ...]


class Brokers:
    """The gauges of brokers as a registry of prometheus-client: the label ``broker`` of each sample names its broker.

    Gauges without samples are left out.
    """

    def __init__(self, brokers: Iterable[tuple[str, Iterable[Gauge]]]) -> None:
        self._brokers = brokers

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return one metric family for each name, with the samples of all brokers."""
        from prometheus_client.core import GaugeMetricFamily

        families: dict[str, GaugeMetricFamily] = {}
        for broker, gauges in self._brokers:
            for gauge in gauges:
                for labels, value in gauge.samples:
                    if gauge.name not in families:
                        names = ["broker", *labels]
                        families[gauge.name] = GaugeMetricFamily(gauge.name, gauge.help, labels=names)
                    families[gauge.name].add_metric([*map(_as_utf8, (broker, *labels.values()))], value)
        return families.values()


def exposition(broker: str, gauges: Iterable[Gauge]) -> str:
    """Return the gauges of a broker in text format 0.0.4, which a node exporter's textfile collector reads too."""
    from prometheus_client.exposition import generate_latest  # loads HTTP and TLS: 0.1 s that other formats do not need

    return generate_latest(Brokers([(broker, gauges)])).decode()


def _as_utf8(text: str) -> str:
    """Return a text with the characters that UTF-8 does not have as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
