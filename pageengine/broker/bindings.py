"""Queues that receive the messages of an address: its own, and those of wildcard addresses that match it.

Source: docs/spec/paging-engine.md 2.2.
"""

from __future__ import annotations

from functools import lru_cache

from pageengine.model.message import Message
from pageengine.queues.queue import Queue
from pageengine.settings.settings import EngineSettings


class BoundGroup:
    """Queues of one address that get a message: in the order used for memory, and their ids in that used for pages."""

    __slots__ = ("address", "ids", "in_memory", "on_page")

    def __init__(self, address: str, queues: list[Queue]) -> None:
        self.address = address
        self.in_memory = sorted(queues, key=lambda queue: queue.durable)
        self.on_page = sorted(queues, key=lambda queue: not queue.durable)
        self.ids = tuple(queue.id for queue in self.on_page)


def _grouped(queues: list[Queue]) -> list[BoundGroup]:
    by_address: dict[str, list[Queue]] = {}
    for queue in queues:
        by_address.setdefault(queue.address, []).append(queue)
    order = table_order(list(by_address)) if len(by_address) > 1 else by_address
    return [BoundGroup(address, by_address[address]) for address in order]


class AddressBindings:
    """Queues that receive messages of an address, by routing name: for each name one queue gets a message, in turn.

    ``always`` holds the groups if every message goes to the same queues, so that nothing has to be chosen.
    """

    def __init__(self, names: list[list[Queue]]) -> None:
        self.names = names
        self.turns = [0] * len(names)
        plain = all(len(of_name) == 1 and _takes_all(of_name[0]) for of_name in names)
        self.always = _grouped([of_name[0] for of_name in names]) if plain else []

    def chosen(self, message: Message) -> list[BoundGroup]:
        """Return the queues that get a message, one per routing name; the turn of each name moves on."""
        picked = []
        for at, queues in enumerate(self.names):
            queue = self._next(at, queues, message)
            if queue is not None and not (queue.purge_on_no_consumers and not queue.consumers):
                picked.append(queue)
        return _grouped(picked)

    def _next(self, at: int, queues: list[Queue], message: Message) -> Queue | None:
        count = len(queues)
        position = self.turns[at] if self.turns[at] < count else 0
        fallback = -1
        for _ in range(count):
            queue = queues[position]
            if queue.filter is None or queue.filter(message):
                if count == 1 or _matches_filter(queue, message):
                    self.turns[at] = (position + 1) % count
                    return queue
                fallback = position if fallback == -1 else fallback
            position = (position + 1) % count
        if fallback == -1:
            return None
        self.turns[at] = (fallback + 1) % count
        return queues[fallback]


def _takes_all(queue: Queue) -> bool:
    return queue.filter is None and not queue.purge_on_no_consumers


def _matches_filter(queue: Queue, message: Message) -> bool:
    return any(consumer.selector is None or consumer.selector(message) for consumer in queue.consumers)


def java_hash(text: str) -> int:
    """Return the hash by which the broker's tables order a name: over the signed bytes of its UTF-16 form."""
    value = 0
    for byte in text.encode("utf-16-le", "surrogatepass"):
        value = (value * 31 + (byte - 256 if byte > 127 else byte)) & 0xFFFFFFFF
    return value


def table_order(names: list[str]) -> list[str]:
    """Return names, passed in the order of insertion, in the order in which a hash table of the broker lists them."""
    capacity = 16
    while len(names) > capacity * 3 // 4:
        capacity *= 2
    return sorted(names, key=lambda name: ((h := java_hash(name)) ^ (h >> 16)) & (capacity - 1))


@lru_cache(maxsize=4096)
def _takes(bound: str, address: str, delimiter: str, any_words: str, single_word: str) -> bool:
    """Return whether a wildcard address takes an address, in time in proportion to the words of both.

    Neither wildcard takes an empty word, but ``any_words`` at the start takes one that stands alone before a delimiter.
    """
    pattern, words = bound.split(delimiter), address.split(delimiter)

    def after(at: int) -> list[int]:
        places = [at]
        while at < len(pattern) and pattern[at] == any_words:
            at += 1
            places.append(at)
        return places

    # places in the pattern that may take the next word
    places = {0}
    if pattern[0] == any_words:
        places = {*([0] if words[0] else []), *after(1)}
        del words[0]
    for word in words:
        next_places: set[int] = set()
        for at in places:
            if at < len(pattern) and (pattern[at] == word or (word and pattern[at] in (any_words, single_word))):
                next_places.update(after(at + 1))
                next_places.update([at] if pattern[at] == any_words else [])
        places = next_places
    return len(pattern) in places


def _is_wild(settings: EngineSettings, address: str) -> bool:
    words = address.split(settings.delimiter)
    return settings.any_words in words or settings.single_word in words


def belongs(settings: EngineSettings, bound: str, address: str) -> bool:
    """Return whether something bound to one address, or to a wildcard, receives messages of another."""
    if bound == address:
        return True
    return settings.wildcard_routing and _takes(
        bound, address, settings.delimiter, settings.any_words, settings.single_word
    )


class BoundQueues:
    """Queues of a broker by the addresses they are bound to, each in the order of creation."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._by_address: dict[str, dict[int, Queue]] = {}
        self._wildcards: dict[str, None] = {}

    def add(self, queue: Queue) -> None:
        """Add a queue that was created."""
        self._by_address.setdefault(queue.address, {})[queue.id] = queue
        if self._settings.wildcard_routing and _is_wild(self._settings, queue.address):
            self._wildcards[queue.address] = None

    def remove(self, queue: Queue) -> None:
        """Remove a queue that was deleted."""
        there = self._by_address[queue.address]
        del there[queue.id]
        if not there:
            del self._by_address[queue.address]
            self._wildcards.pop(queue.address, None)

    def at(self, address: str) -> list[Queue]:
        """Return the queues bound to exactly this address."""
        return list(self._by_address.get(address, {}).values())

    def bindings(self, address: str) -> AddressBindings | None:
        """Return the bindings of an address, or None if no queue belongs to it."""
        name, of_one_queue, queue_name = address.partition("::")
        if of_one_queue:
            return next((AddressBindings([[queue]]) for queue in self.at(name) if queue.name == queue_name), None)
        taking = self.at(address)
        for bound in self._wildcards:
            if bound != address and belongs(self._settings, bound, address):
                taking += self.at(bound)
        by_name: dict[str, list[Queue]] = {}
        for queue in sorted(taking, key=lambda queue: queue.id):
            by_name.setdefault(queue.address if queue.anycast else queue.name, []).append(queue)
        return AddressBindings([by_name[name] for name in table_order(list(by_name))]) if by_name else None
