"""Prometheus text exposition, as a node exporter's textfile collector reads it too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge with its samples: labels and value."""

    name: str
    help: str
    samples: tuple[tuple[Mapping[str, str], float | int], ...]


def exposition(metrics: Iterable[Gauge]) -> str:
    """Text format 0.0.4. Metrics without samples are left out."""
    lines: list[str] = []
    for metric in metrics:
        if not metric.samples:
            continue
        lines += [f"# HELP {metric.name} {_escaped(metric.help)}", f"# TYPE {metric.name} gauge"]
        lines += [f"{metric.name}{_labels(labels)} {_value(value)}" for labels, value in metric.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    pairs = [f'{name}="{_quoted(value)}"' for name, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def label_text(text: str) -> str:
    """The text with what UTF-8 does not have as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _quoted(text: str) -> str:
    return _escaped(label_text(text)).replace('"', '\\"')


def _value(value: float | int) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(value)
