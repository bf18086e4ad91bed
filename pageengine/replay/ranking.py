"""The order in which people read a replay: the worst first, else address2 before address10."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pageengine.replay.recording import Recording
from pageengine.replay.records import AddressRecord

_NUMBER = re.compile(r"([0-9]{1,1000})")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key to sort names by: numbers in them count as numbers."""
    return tuple((0, int(part), "") if n % 2 else (1, 0, part) for n, part in enumerate(_NUMBER.split(name)))


def worst_first(recording: Recording) -> list[AddressRecord]:
    """Messages lost weigh most, then producers that waited, then limits, page mode, and peaks."""
    end = recording.end

    def key(one: AddressRecord) -> tuple[object, ...]:
        lost = sum(one.sends[kind] + one.sends[f"released {kind}"] for kind in ("dropped", "failed"))
        waited = (one.blocked_ns, one.sends["blocked"])
        paged = (one.page_full.until(end), one.page_full.times, one.paging.until(end), one.paging.times)
        weights = (lost, *waited, *paged, one.disk.value, one.memory.value)
        return (*(-weight for weight in weights), natural(one.name))

    return sorted(recording.addresses.values(), key=key)


def summed(records: Iterable[AddressRecord], name: str, end: int) -> AddressRecord:
    """Many addresses as one: counts and times are added up, of peaks the highest stays."""
    found = AddressRecord(name)
    for one in records:
        found.sends += one.sends
        found.blocked_ns += one.blocked_ns
        found.paging.times += one.paging.times
        found.paging.total += one.paging.until(end)
        for peak, other in ((found.memory, one.memory), (found.disk, one.disk), (found.pages, one.pages)):
            peak.see(other.value, other.t, other.i)
    return found
