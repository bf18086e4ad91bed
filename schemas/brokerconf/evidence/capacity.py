"""Worst case that settings allow: heap and disk by address, and what stops producers first.

An address holds as much in memory as its limit says before its policy acts; while it pages, each queue reads ahead and
the open page is kept. Pages have no bound unless a page limit *and* a page-full-policy are set; the disk monitor is the
last resort (docs/spec/paging-engine.md, docs/spec/disk-monitor.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from brokerconf.evidence.queue_declarations import QueueDeclarations
from brokerconf.evidence.without_effect import exempt_prefix
from brokerconf.reading.secrets import masked
from brokerconf.settings.address_settings import Values
from brokerconf.settings.comparison import example_of
from brokerconf.settings.effective import EffectiveSettings
from pagefmt.findings import some


@dataclass(frozen=True, slots=True)
class AddressCapacity:
    """Capacity of one address, or of an example of a match, in bytes; None: no bound.

    ``on_disk`` is the present size of its pages, or None if that is unknown. ``messages`` is the limit by number, which
    says nothing about bytes.
    """

    address: str
    policy: str
    queues: int
    memory: int | None
    messages: int | None
    read_ahead: int | None
    pages: int | None
    disk: int | None
    on_disk: int | None
    stops: str

    @property
    def boundless(self) -> bool:
        """Return whether the address has no limit of its own."""
        return self.memory is None and self.messages is None

    @property
    def heap(self) -> int | None:
        """Return memory and read-ahead together in bytes, or None if either has no bound."""
        return None if self.memory is None or self.read_ahead is None else self.memory + self.read_ahead


@dataclass(frozen=True, slots=True)
class Capacity:
    """Memory and disk that the settings allow, in bytes.

    ``global_limit`` is None if it is off, or a share of an unknown heap. ``disk_limit`` is the part of ``disk`` that
    may be used; None if the disk is unknown, or without a limit.
    """

    heap: int | None
    global_limit: int | None
    global_off: bool
    disk: int | None
    disk_limit: int | None
    disk_rule: str
    addresses: tuple[AddressCapacity, ...]
    first: tuple[str, ...]

    @property
    def memory_sum(self) -> int | None:
        """Return the bytes of memory of all addresses; None if one of them has no bound."""
        return _sum(address.memory for address in self.addresses)

    @property
    def disk_sum(self) -> int | None:
        """Return the bytes of pages of all addresses; None if one of them has no bound."""
        return _sum(address.disk for address in self.addresses)


def capacity(
    settings: EffectiveSettings,
    declared: QueueDeclarations,
    *,
    disk: int | None = None,
    on_disk: Mapping[str, int] | None = None,
) -> Capacity:
    """Return the capacity of declared addresses, of those on the disk, and of an example of each match.

    ``on_disk`` maps addresses to the bytes of their pages, ``disk`` is the size of the volume in bytes.
    """
    settings.supposed = {}
    stored = dict(on_disk or {})
    every = {*declared.addresses, *stored, *(example_of(match, settings) for match in settings.settings)} - {""}
    queues = Counter(address for address, _ in declared.queues)
    prefix = exempt_prefix(settings)
    exempt = sorted(name for name in every if prefix is not None and name.startswith(prefix))
    names = sorted(every.difference(exempt) or {"any"})
    lying = {name: None if on_disk is None else stored.get(name, 0) for name in names}
    broker = settings.broker()
    limit, off = _global(broker)
    addresses = tuple(_address(settings, name, max(queues[name], 1), lying[name]) for name in names)
    addresses = tuple(replace(item, stops=NEVER_FULL) if off and item.boundless else item for item in addresses)
    disk_limit, rule = _disk_limit(broker, disk)
    bare = Capacity(settings.heap, limit, off, disk, disk_limit, rule, addresses, ())
    supposed = [settings.document.supposed] if settings.document.supposed else []
    supposed += [
        f"{name} is {masked(text, name)}, which only the running broker knows: taken as the default; -D defines it"
        for name, text in sorted(settings.supposed.items())
    ]
    if exempt:
        supposed.append(f"{some(exempt)}: no limit ever applies to management addresses, which are left out")
    return Capacity(settings.heap, limit, off, disk, disk_limit, rule, addresses, (*supposed, *_first(bare)))


def _address(settings: EffectiveSettings, name: str, queues: int, on_disk: int | None) -> AddressCapacity:
    values = settings.address(name)
    policy = str(values["address-full-policy"].value or "?")
    limit = _limit(values, "max-size-bytes")
    page_size = values["page-size-bytes"].value
    page = page_size if isinstance(page_size, int) else 10 << 20
    pages = policy == "PAGE"
    ahead = _limit(values, "max-read-page-bytes") if "max-read-page-bytes" in values else limit
    read_ahead = (None if ahead is None else queues * ahead + page) if pages else 0
    most = _most_pages(values, page) if pages else 0
    room = None if most is None else most * page
    messages = _limit(values, "max-size-messages")
    return AddressCapacity(
        name, policy, queues, limit, messages, read_ahead, most, room, on_disk, _stops(values, policy, most)
    )


def _limit(values: Values, name: str) -> int | None:
    """Return a limit, or None if it is off (below 0) or the edition lacks it."""
    value = values[name].value if name in values else None
    return value if isinstance(value, int) and value >= 0 else None


def _most_pages(values: Values, page: int) -> int | None:
    """Return how many page files may exist, including the one that exceeds the limit; None: no bound."""
    limit, policy = _limit(values, "page-limit-bytes"), values.get("page-full-policy")
    if limit is None or policy is None or policy.value is None:
        return None
    return limit // page + 1


NEVER_FULL = "never full: the heap runs out"
_STOPS = {"BLOCK": "producers block", "FAIL": "producers are refused", "DROP": "messages are dropped", "?": "?"}


def _stops(values: Values, policy: str, most: int | None) -> str:
    """Return, in words, what happens to producers of the address when it is full."""
    if policy != "PAGE":
        return _STOPS[policy]
    if most is None:
        return "pages until the disk limit"
    return "messages are dropped" if values["page-full-policy"].value == "DROP" else "producers are refused"


def _global(broker: Values) -> tuple[int | None, bool]:
    size = broker.get("global-max-size")
    if size is None or (isinstance(size.value, int) and size.value <= 0):
        return None, True
    return size.value if isinstance(size.value, int) else None, False


def _disk_limit(broker: Values, disk: int | None) -> tuple[int | None, str]:
    period = broker["disk-scan-period"].value if "disk-scan-period" in broker else 0
    if isinstance(period, int) and period < 0:
        return None, f"no disk limit: disk-scan-period {period}, the limits are never checked"
    free = broker["min-disk-free"].value if "min-disk-free" in broker else -1
    if isinstance(free, int) and free > 0:
        return None if disk is None else max(disk - free, 0), f"min-disk-free {free}"
    percent = broker["max-disk-usage"].value if "max-disk-usage" in broker else -1
    if not isinstance(percent, int) or percent < 0:
        return None, "no disk limit"
    return None if disk is None else disk * percent // 100, f"max-disk-usage {percent} %"


def _first(result: Capacity) -> list[str]:
    """Return the remarks about which limit acts first, in the order in which they would."""
    remarks = []
    bounded = [address for address in result.addresses if address.memory is not None]
    unbounded = [address.address for address in result.addresses if address.boundless]
    total = result.memory_sum
    if result.global_off and unbounded:
        remarks.append(f"memory is unlimited: {some(unbounded)} without max-size-bytes, and the global limit is off")
    elif unbounded:
        remarks.append(f"the global limit applies first for {some(unbounded)}: there is no max-size-bytes")
    if result.global_limit is not None and bounded and total is not None and total > result.global_limit:
        remarks.append(
            f"the limits of the addresses add up to more than the global limit of {result.global_limit} bytes"
        )
    if result.heap is not None:
        remarks += _against_heap(result, result.heap)
    remarks += _against_disk(result)
    return remarks


def _against_heap(result: Capacity, heap: int) -> list[str]:
    remarks = []
    total = sum(address.memory or 0 for address in result.addresses)
    if result.global_off and total >= heap:
        remarks.append(
            f"the addresses may hold {total} bytes together, but the heap has {heap}, and there is no global limit"
        )
    if result.global_limit is not None and result.global_limit >= heap:
        remarks.append("the global limit is not below the heap: memory runs out before any policy applies")
    ahead = _sum(address.read_ahead for address in result.addresses)
    if ahead is not None and ahead > heap // 4:
        remarks.append(f"reading ahead alone may take {ahead} bytes, more than a quarter of the heap")
    return remarks


def _against_disk(result: Capacity) -> list[str]:
    paging = [address for address in result.addresses if address.policy == "PAGE" and address.stops != NEVER_FULL]
    endless = [address.address for address in paging if address.disk is None]
    remarks = [f"pages of {some(endless)} are limited only by the disk: {result.disk_rule}"] if endless else []
    if result.disk_limit is not None and result.disk_sum is not None and result.disk_sum > result.disk_limit:
        remarks.append(f"the page limits allow {result.disk_sum} bytes, but the disk limit only {result.disk_limit}")
    return remarks


def _sum(parts: Iterable[int | None]) -> int | None:
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total
