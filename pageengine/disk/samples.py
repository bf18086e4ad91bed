"""Samples of how full the disks were, kept in a small file from run to run. Standard library alone.

One JSON object: ``{"pagectl_disk_samples": 1, "dir": …, "samples": [{"time", "stores": {mount: [used, total]},
"addresses": {address: bytes}}, …]}``. ``used`` is the size less what was usable, so that a grown or shrunk file system
does not look like messages coming or going. A file that is anything else is never written to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pageengine.disk.forecast import Point
from pageengine.errors import PageEngineError

MARK: Final = "pagectl_disk_samples"
KEPT: Final = 400
# Seconds; older samples are dropped.
OLDEST: Final = 14 * 86400.0
ADDRESSES: Final = 20


class SamplesError(PageEngineError):
    """Error for a file that does not contain samples of this directory."""


@dataclass(frozen=True, slots=True)
class DiskSample:
    """Sample. ``stores``: (used, total) in bytes by mount point; ``addresses``: bytes of the largest."""

    time: float
    stores: Mapping[str, tuple[int, int]]
    addresses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DiskSamples:
    """All samples kept of one place, in the order of time. ``forgotten``: the number of samples from the future."""

    place: str
    samples: tuple[DiskSample, ...] = ()
    forgotten: int = 0

    def added(self, sample: DiskSample) -> DiskSamples:
        """Return the samples with one more.

        After the clock was set back, samples from the future are dropped; of several at one time the last counts.
        """
        past = [old for old in self.samples if old.time < sample.time]
        future = sum(1 for old in self.samples if old.time > sample.time)
        kept = [old for old in past if old.time >= sample.time - OLDEST]
        return replace(self, samples=tuple(_fewer([*kept, sample])), forgotten=future)

    def store(self, mount: str) -> list[Point]:
        """Return the bytes used of one file system over time."""
        return [(sample.time, float(sample.stores[mount][0])) for sample in self.samples if mount in sample.stores]

    def address(self, name: str) -> list[Point]:
        """Return the bytes of one address over time."""
        return [(sample.time, float(sample.addresses[name])) for sample in self.samples if name in sample.addresses]

    def names(self) -> list[str]:
        """Return the addresses of the last sample."""
        return list(self.samples[-1].addresses) if self.samples else []

    def as_text(self) -> str:
        """Return the content of the state file."""
        rows = [
            {"time": sample.time, "stores": sample.stores, "addresses": sample.addresses} for sample in self.samples
        ]
        return json.dumps({MARK: 1, "dir": self.place, "samples": rows}, separators=(",", ":")) + "\n"


def largest(sizes: Iterable[tuple[str, int]], before: Iterable[str]) -> dict[str, int]:
    """Return the addresses worth keeping: the largest, and those kept last time."""
    rows = sorted(sizes, key=lambda row: (-row[1], row[0]))
    kept_before = set(before)
    return dict(rows[:ADDRESSES]) | {name: size for name, size in rows[ADDRESSES:] if name in kept_before}


def _fewer(samples: list[DiskSample]) -> list[DiskSample]:
    """Drop every second sample of the older half if there are too many, so that old times are known less closely."""
    if len(samples) <= KEPT:
        return samples
    half = len(samples) // 2
    return samples[:half:2] + samples[half:]


def parse_samples(text: str, place: str, shown: str) -> DiskSamples:
    """Parse a state file, which may be empty; raise ``SamplesError`` for any other content."""
    if not text.strip():
        return DiskSamples(place)
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or content.get(MARK) != 1:
            raise ValueError("it contains something else")
        owner = str(content["dir"])
        samples = tuple(map(_sample, content["samples"]))
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise SamplesError(
            f"{shown}: not a sample file ({err}), so it is left unchanged; name another --state"
        ) from err
    if owner != place:
        raise SamplesError(f"{shown}: contains samples of {owner}, not of {place}; name another --state")
    return DiskSamples(place, tuple(sorted(samples, key=lambda sample: sample.time)))


def _sample(row: dict[str, Any]) -> DiskSample:
    stores = {str(mount): (int(used), int(total)) for mount, (used, total) in row["stores"].items()}
    return DiskSample(float(row["time"]), stores, {str(name): int(size) for name, size in row["addresses"].items()})
