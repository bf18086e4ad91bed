"""What waits in page files and in the journal as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from pagectl.outputs.prometheus import Gauge

if TYPE_CHECKING:
    from pageengine.paging.next_send import NextSend
    from pagefmt.outstanding.backlog import Backlog
    from pagefmt.outstanding.watch import BrokerBacklog

OF_ADDRESS: Final = {
    "artemis_page_files": "Page files of the address.",
    "artemis_page_bytes": "Bytes of the page files of the address.",
    "artemis_damaged_page_files": "Page files that are damaged.",
    "artemis_outstanding_unknown": "1 if it is not known what is outstanding for the queues of the address.",
}
WAITING: Final = "artemis_waiting_messages"
WAITING_HELP: Final = "Messages that wait for the queue, by where they lie: journal or pages."
OF_QUEUE: Final = {
    "artemis_outstanding_bytes": "Bytes of the records of messages that wait for the queue, in journal and pages.",
    "artemis_in_doubt_messages": "Messages that prepared transactions hold back, in journal and pages.",
    "artemis_held_page_files": "Page files that the queue holds.",
    "artemis_held_page_bytes": "Bytes of the page files that the queue holds.",
    "artemis_held_alone_page_bytes": "Bytes of the page files that only this queue holds.",
    "artemis_oldest_outstanding_seconds": "Age of the first message that waits for the queue.",
}
TOGETHER: Final = "artemis_held_together_page_bytes"
TOGETHER_HELP: Final = "Bytes of the page files that these queues hold together, of the largest such groups."
# groups of queues of one broker that get a sample at most
GROUPS: Final = 20

Rows = dict[tuple[str, ...], list[float | None]]


def page_metrics(backlog: BrokerBacklog, now: float) -> Iterator[Gauge]:
    """Yield gauges named ``artemis_…`` by address, and by address and queue; unknown values have no sample.

    ``now`` is in seconds since the epoch. Several folders or queues with one name have one sample: their sum.
    """
    addresses: Rows = {}
    queues: Rows = {}
    waiting: Rows = {}
    for store in backlog.stores:
        _add(addresses, (store.address or "",), [store.pages, store.bytes, store.damaged, store.queues is None])
    for queue in backlog.queues:
        key = queue.address or "", str(queue.queue)
        _add(queues, key, _values(queue, now))
        if backlog.journal is not None:
            _add(waiting, (*key, "journal"), [queue.journal, None])
        _add(waiting, (*key, "pages"), [(queue.messages or 0) - queue.journal, None])
    yield from _gauges(OF_ADDRESS, ("address",), addresses)
    unseen = any(store.address is None and store.queues is None for store in backlog.stores)
    countable = {key: row for key, row in waiting.items() if key[-1] == "journal" or _known(key, addresses, unseen)}
    yield from _gauges({WAITING: WAITING_HELP}, ("address", "queue", "where"), countable)
    of_queues = {key: queues[key] for key in queues if _known(key, addresses, unseen)}
    yield from _gauges(OF_QUEUE, ("address", "queue"), of_queues)
    yield Gauge(TOGETHER, TOGETHER_HELP, tuple(_together(backlog)))
    yield Gauge("artemis_broker_running", "1 while a broker holds the lock of the journal.", (({}, int(backlog.live)),))
    damaged = "1 while journal or bindings are damaged: acknowledgements may be lost."
    journal_damaged = None if backlog.damaged is None else int(backlog.damaged)
    yield Gauge("artemis_journal_damaged", damaged, () if journal_damaged is None else (({}, journal_damaged),))


def send_metrics(sends: Mapping[str, NextSend]) -> Iterator[Gauge]:
    """Yield gauges by address: what happens to the next send, and page limits. Addresses without one have no sample."""
    refused = tuple(({"address": address}, int(send.refusal is not None)) for address, send in sends.items())
    yield Gauge("artemis_producers_refused", "1 while what is sent is refused, dropped or held back.", refused)
    used = tuple(({"address": name}, send.limit.used) for name, send in sends.items() if send.limit is not None)
    yield Gauge("artemis_page_limit_used_ratio", "How much of the page limit is used, 0 to 1.", used)


def _together(backlog: BrokerBacklog) -> Iterator[tuple[dict[str, str], float | int]]:
    groups = [group for store in backlog.stores for group in store.groups]
    for group in sorted(groups, key=lambda group: -group.bytes)[:GROUPS]:
        yield {"address": group.address or "", "queues": ", ".join(group.queues)}, group.bytes


def _values(queue: Backlog, now: float) -> list[float | None]:
    return [queue.bytes, queue.in_doubt, queue.pages, queue.held, queue.alone, queue.age(now)]


def _known(key: tuple[str, ...], addresses: Rows, unseen: bool) -> bool:
    """Return whether it is known what is outstanding in all folders of the address.

    ``unseen``: there is a folder that cannot be read, of whichever address.
    """
    return not addresses[key[:1]][-1] if key[:1] in addresses else not unseen


def _add(rows: Rows, key: tuple[str, ...], values: list[float | None]) -> None:
    """Add values to the row of a key: counts are summed, and of ages the greater one is kept."""
    before = rows.get(key)
    if before is None:
        rows[key] = values
        return
    *counts, last = zip(before, values, strict=True)
    rows[key] = [(first or 0) + (second or 0) for first, second in counts]
    rows[key].append(max((value for value in last if value is not None), default=None))


def _gauges(names: dict[str, str], labels: tuple[str, ...], rows: Rows) -> Iterator[Gauge]:
    for at, (name, text) in enumerate(names.items()):
        samples = ((dict(zip(labels, key, strict=True)), values[at]) for key, values in rows.items())
        yield Gauge(name, text, tuple((label, value) for label, value in samples if value is not None))
