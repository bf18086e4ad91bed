"""What a running broker says of its addresses and queues, and where that differs from its files.

It is asked before the files are read and again behind them: what moved meanwhile is no difference.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from pagectl.running.exits import CallError
from pagectl.running.jolokia import Console, ask
from pagefmt.quantities import count_text

BROKERS: Final = "org.apache.activemq.artemis:broker=*"
# seconds between two readings at least; a consumer that acknowledges nothing in that time does not read
APART: Final = 3.0
_OF_BROKER: Final = ("Name", "Version", "NodeID")
_OF_ADDRESS: Final = ("Address", "Paging", "NumberOfPages")
_OF_QUEUE: Final = (
    "ID", "Name", "Address", "Durable", "MessageCount", "DurableMessageCount", "ConsumerCount", "DeliveringCount",
    "MessagesAdded", "MessagesAcknowledged", "MessagesExpired", "MessagesKilled", "Paused",
)  # fmt: skip

# address and queue
QueueName = tuple[str, str]


class LiveQueue(NamedTuple):
    """A queue as the broker counts. ``messages``: the durable ones, where it tells them apart; ``removed``: ever."""

    id: int
    durable: bool
    messages: int
    consumers: int
    delivering: int
    added: int
    acknowledged: int
    removed: int
    paused: bool


class LiveAddress(NamedTuple):
    """An address: whether it is in page mode, and how many pages the broker counts."""

    paging: bool
    pages: int


class LiveBroker(NamedTuple):
    """Which one answers; ``bean`` is its name as Jolokia takes it."""

    bean: str
    name: str
    version: str
    node: str


class LiveReading(NamedTuple):
    """One look, at a moment of the monotonic clock."""

    moment: float
    addresses: dict[str, LiveAddress]
    queues: dict[QueueName, LiveQueue]


class QueueFiles(NamedTuple):
    """What the files have for a queue: messages in the journal, and in pages, None: not known."""

    id: int
    journal: int
    pages: int | None

    @property
    def messages(self) -> int | None:
        """Return the messages in journal and pages, None if those in pages are not known."""
        return None if self.pages is None else self.journal + self.pages


class Difference(NamedTuple):
    """Something in which broker and files differ, or that its counts show."""

    rule: str
    address: str
    queue: str | None
    message: str


class LiveComparison(NamedTuple):
    """A running broker beside its files. ``look``: what it says after they are read; ``files``: what they have."""

    broker: LiveBroker
    look: LiveReading
    files: dict[QueueName, QueueFiles]
    differences: list[Difference]


def find_broker(place: Console, directory: object, node: str | None, name: str | None) -> LiveBroker:
    """Return the broker whose files these are: by its node id, else by its configured name; None stands for unknown.

    Raises ``CallError`` if the console belongs to another broker.
    """
    (beans,) = ask(place, [{"mbean": BROKERS, "attribute": _OF_BROKER}])
    brokers = [
        LiveBroker(bean, *(_typed(place, row, key, str) for key in _OF_BROKER)) for bean, row in _rows(place, beans)
    ]
    if not brokers:
        raise CallError(f"{place.url}: Jolokia answers, but there is no Artemis broker behind it")
    fitting = [broker for broker in brokers if (broker.node == node if node else name is None or broker.name == name)]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(f"{broker.name} (node {broker.node})" for broker in brokers[:3])
    own = f"node {node}" if node else f"a broker called {name}" if name else "one of several, it is not known which"
    raise CallError(
        f"{place.url}: is the console of {there}, but {directory} belongs to {own}; name the console of that broker"
    )


def look_at(place: Console, broker: LiveBroker) -> LiveReading:
    """Read addresses and queues of the running broker. Raise ``CallError``."""
    moment = time.monotonic()
    addresses, queues = ask(
        place,
        [
            {"mbean": f"{broker.bean},component=addresses,address=*", "attribute": _OF_ADDRESS},
            {
                "mbean": f"{broker.bean},component=addresses,address=*,subcomponent=queues,routing-type=*,queue=*",
                "attribute": _OF_QUEUE,
            },
        ],
    )
    return LiveReading(
        moment,
        {
            _typed(place, row, "Address", str): LiveAddress(
                _typed(place, row, "Paging", bool), _typed(place, row, "NumberOfPages", int)
            )
            for _, row in _rows(place, addresses)
        },
        dict(_queue(place, row) for _, row in _rows(place, queues)),
    )


def second_look(place: Console, broker: LiveBroker, first: LiveReading) -> LiveReading:
    """Read the broker again, at least ``APART`` seconds after the first reading."""
    time.sleep(max(0.0, first.moment + APART - time.monotonic()))
    return look_at(place, broker)


def _rows(place: Console, beans: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for bean, row in beans.items():
        if not isinstance(row, dict):
            raise CallError(f"{place.url}: not the answer of a broker's console about {bean:.40}")
        yield bean, row


def _typed(place: Console, row: dict[str, Any], key: str, kind: type[Any], default: Any = None) -> Any:
    value = row.get(key, default)
    if type(value) is not kind or (kind is int and not -(1 << 63) <= value < 1 << 63):
        raise CallError(f"{place.url}: not the answer of a broker's console: {key} is not of type {kind.__name__}")
    return value


def _queue(place: Console, row: dict[str, Any]) -> tuple[QueueName, LiveQueue]:
    def number(key: str, default: int | None = None) -> int:
        return int(_typed(place, row, key, int, default))

    acknowledged = number("MessagesAcknowledged")
    queue = LiveQueue(
        number("ID"),
        _typed(place, row, "Durable", bool),
        number("DurableMessageCount", number("MessageCount")),
        number("ConsumerCount"),
        number("DeliveringCount"),
        number("MessagesAdded"),
        acknowledged,
        acknowledged + number("MessagesExpired", 0) + number("MessagesKilled", 0),
        _typed(place, row, "Paused", bool, default=False),
    )
    return (_typed(place, row, "Address", str), _typed(place, row, "Name", str)), queue


def differences(
    before: LiveReading, after: LiveReading, files: Mapping[QueueName, QueueFiles], pages: Mapping[str, int]
) -> list[Difference]:
    """Return the differences in the order of address and queue.

    ``pages`` are the outstanding messages in the page files of each address.
    """
    names = sorted(before.queues.keys() & after.queues.keys() | files.keys())
    results = [difference for name in names for difference in _of_queue(name, before, after, files.get(name))]
    return results + list(_of_addresses(before, after, pages))


def _of_queue(
    name: QueueName, before: LiveReading, after: LiveReading, files: QueueFiles | None
) -> Iterable[Difference]:
    was, now = before.queues.get(name), after.queues.get(name)
    if files is None:
        if was is not None and now is not None and was.durable and now.durable:
            text = f"the broker has it, with {count_text(now.messages, 'message')}; the bindings on disk do not"
            yield Difference("only-in-broker", *name, text)
        return
    if was is None and now is None:
        held = "?" if files.messages is None else files.messages
        yield Difference("only-in-files", *name, f"on disk, with {held} messages; the broker does not have it")
    if was is None or now is None:
        return
    added, removed = now.added - was.added, now.removed - was.removed
    moved = max(added, 0) + max(removed, 0)
    slack = moved and moved + max(was.delivering, now.delivering, 0)
    least, most = min(was.messages, now.messages) - slack, max(was.messages, now.messages) + slack
    if files.messages is not None and not least <= files.messages <= most:
        text = f"the broker counts {now.messages} durable messages, its files have {files.messages}"
        yield Difference("count-differs", *name, f"{text} ({files.journal} in the journal, {files.pages} in pages)")
    if was.consumers > 0 and now.consumers > 0 and now.messages > 0 and now.acknowledged == was.acknowledged:
        text = f"{count_text(now.consumers, 'consumer')} connected and {count_text(now.messages, 'message')} waiting"
        seconds = f"nothing acknowledged in {after.moment - before.moment:.0f} s, {now.delivering} in delivery"
        yield Difference("not-reading", *name, f"{text}: {seconds}" + ("; the queue is paused" if now.paused else ""))


def _of_addresses(before: LiveReading, after: LiveReading, pages: Mapping[str, int]) -> Iterable[Difference]:
    for address in sorted(before.addresses.keys() & after.addresses.keys() & pages.keys()):
        if pages[address] and not (before.addresses[address].paging or after.addresses[address].paging):
            waiting = count_text(pages[address], "message")
            text = f"the broker says it is not in page mode, but {waiting} wait in its page files"
            yield Difference("not-paging", address, None, text)
