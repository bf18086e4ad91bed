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
OLDEST: Final = 14 * 86400.0
"""Seconds."""
ADDRESSES: Final = 20


class SamplesError(PageEngineError):
    """The file does not hold samples of this directory."""


@dataclass(frozen=True, slots=True)
class DiskSample:
    """One look. ``stores``: (used, total) in bytes by mount point; ``addresses``: bytes of the largest."""

    time: float
    stores: Mapping[str, tuple[int, int]]
    addresses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DiskSamples:
    """All that is kept of one place, in the order of time. ``forgotten``: samples from a time that has not come."""

    place: str
    samples: tuple[DiskSample, ...] = ()
    forgotten: int = 0

    def added(self, sample: DiskSample) -> DiskSamples:
        """With one more. After the clock was set back, samples from the future go; of one time the last counts."""
        past = [old for old in self.samples if old.time < sample.time]
        future = sum(1 for old in self.samples if old.time > sample.time)
        kept = [old for old in past if old.time >= sample.time - OLDEST]
        return replace(self, samples=tuple(_fewer([*kept, sample])), forgotten=future)

    def store(self, mount: str) -> list[Point]:
        """Bytes used of one file system over time."""
        return [(one.time, float(one.stores[mount][0])) for one in self.samples if mount in one.stores]

    def address(self, name: str) -> list[Point]:
        """The samples of one address."""
        return [(one.time, float(one.addresses[name])) for one in self.samples if name in one.addresses]

    def names(self) -> list[str]:
        """The addresses of the last sample."""
        return list(self.samples[-1].addresses) if self.samples else []

    def as_text(self) -> str:
        """The content of the state file."""
        rows = [{"time": one.time, "stores": one.stores, "addresses": one.addresses} for one in self.samples]
        return json.dumps({MARK: 1, "dir": self.place, "samples": rows}, separators=(",", ":")) + "\n"


def largest(sizes: Iterable[tuple[str, int]], before: Iterable[str]) -> dict[str, int]:
    """The addresses worth keeping: the largest, and those that were kept last time."""
    rows = sorted(sizes, key=lambda row: (-row[1], row[0]))
    known = set(before)
    return dict(rows[:ADDRESSES]) | {name: size for name, size in rows[ADDRESSES:] if name in known}


def _fewer(samples: list[DiskSample]) -> list[DiskSample]:
    """Of the older half every second goes when there are too many: what is old is known less closely."""
    if len(samples) <= KEPT:
        return samples
    half = len(samples) // 2
    return samples[:half:2] + samples[half:]


def parse_samples(text: str, place: str, shown: str) -> DiskSamples:
    """The samples of a state file, none of an empty one. Raises SamplesError for any other content."""
    if not text.strip():
        return DiskSamples(place)
    try:
        found = json.loads(text)
        if not isinstance(found, dict) or found.get(MARK) != 1:
            raise ValueError("it contains something else")
        owner = str(found["dir"])
        samples = tuple(map(_sample, found["samples"]))
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise SamplesError(
            f"{shown}: not a sample file ({err}), so it is left unchanged; name another --state"
        ) from err
    if owner != place:
        raise SamplesError(f"{shown}: contains samples of {owner}, not of {place}; name another --state")
    return DiskSamples(place, tuple(sorted(samples, key=lambda one: one.time)))


def _sample(row: dict[str, Any]) -> DiskSample:
    stores = {str(mount): (int(used), int(total)) for mount, (used, total) in row["stores"].items()}
    return DiskSample(float(row["time"]), stores, {str(name): int(size) for name, size in row["addresses"].items()})
