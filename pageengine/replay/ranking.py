"""Order in which people read a replay: the worst first, else address2 before address10."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pageengine.replay.recording import Recording
from pageengine.replay.records import AddressRecord

_NUMBER = re.compile(r"([0-9]{1,1000})")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key for sorting names in which numbers are compared as numbers."""
    return tuple((0, int(part), "") if n % 2 else (1, 0, part) for n, part in enumerate(_NUMBER.split(name)))


def worst_first(recording: Recording) -> list[AddressRecord]:
    """Return the addresses, worst first: by lost messages, then blocked producers, limits, page mode, and peaks."""
    end = recording.end

    def key(record: AddressRecord) -> tuple[object, ...]:
        lost = sum(record.sends[kind] + record.sends[f"released {kind}"] for kind in ("dropped", "failed"))
        waited = (record.blocked_ns, record.sends["blocked"])
        paged = (record.page_full.until(end), record.page_full.times, record.paging.until(end), record.paging.times)
        weights = (lost, *waited, *paged, record.disk.value, record.memory.value)
        return (*(-weight for weight in weights), natural(record.name))

    return sorted(recording.addresses.values(), key=key)


def summed(records: Iterable[AddressRecord], name: str, end: int) -> AddressRecord:
    """Return one record for many addresses: counts and times added up, of peaks the highest."""
    total = AddressRecord(name)
    for record in records:
        total.sends += record.sends
        total.blocked_ns += record.blocked_ns
        total.paging.times += record.paging.times
        total.paging.total += record.paging.until(end)
        for peak, other in ((total.memory, record.memory), (total.disk, record.disk), (total.pages, record.pages)):
            peak.see(other.value, other.t, other.i)
    return total
