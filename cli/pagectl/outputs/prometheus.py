"""Prometheus text exposition, and the file that a node exporter's textfile collector reads."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Metric:
    """A gauge with its samples: labels and value."""

    name: str
    help: str
    samples: tuple[tuple[Mapping[str, str], float | int], ...]


def exposition(metrics: Iterable[Metric]) -> str:
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


def _quoted(text: str) -> str:
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return _escaped(safe).replace('"', '\\"')


def _value(value: float | int) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(value)


def write_textfile(path: Path, text: str) -> None:
    """Write beside and rename: the collector sees the old file or the new one, never half of one. Raises OSError.

    The name of the file beside does not end in ``.prom``: the collector leaves it alone.
    """
    target = Path(os.path.realpath(path))
    handle, beside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fchmod(out.fileno(), _mode(target))
            os.fsync(out.fileno())
        os.replace(beside, target)  # noqa: PTH105 (a str, and the pair of mkstemp)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)  # noqa: PTH108
        raise


def _mode(target: Path) -> int:
    """As the file had it; readable by the collector when it is new."""
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        return 0o644
