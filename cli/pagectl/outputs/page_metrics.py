"""What is outstanding in page files as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pagectl.outputs.prometheus import Gauge

if TYPE_CHECKING:
    from pagefmt.outstanding.backlog import Backlog
    from pagefmt.outstanding.watch import BrokerBacklog

OF_ADDRESS: Final = {
    "artemis_page_files": "Page files of the address.",
    "artemis_page_bytes": "Bytes of the page files of the address.",
    "artemis_damaged_page_files": "Page files that are damaged.",
    "artemis_outstanding_unknown": "1 if it is not known what is outstanding for the queues of the address.",
}
OF_QUEUE: Final = {
    "artemis_outstanding_messages": "Messages in pages that are outstanding for the queue.",
    "artemis_outstanding_bytes": "Bytes of the records of these messages.",
    "artemis_in_doubt_messages": "Messages in pages that prepared transactions hold back.",
    "artemis_held_page_files": "Page files that the queue holds.",
    "artemis_held_page_bytes": "Bytes of the page files that the queue holds.",
    "artemis_held_alone_page_bytes": "Bytes of the page files that only this queue holds.",
    "artemis_oldest_outstanding_seconds": "Age of the first message that is outstanding for the queue.",
}

Rows = dict[tuple[str, ...], list[float | None]]


def page_metrics(backlog: BrokerBacklog, now: float) -> Iterator[Gauge]:
    """Gauges named ``artemis_…`` by address, and by address and queue; what is not known has no sample.

    ``now`` in seconds since the epoch. Of several folders, or queues, of one name there is one sample: their sum.
    """
    addresses: Rows = {}
    queues: Rows = {}
    for store in backlog.stores:
        _add(addresses, (store.address or "",), [store.pages, store.bytes, store.damaged, store.queues is None])
        for queue in store.queues or ():
            _add(queues, (store.address or "", str(queue.queue)), _values(queue, now))
    yield from _gauges(OF_ADDRESS, ("address",), addresses)
    yield from _gauges(OF_QUEUE, ("address", "queue"), {key: queues[key] for key in queues if _known(key, addresses)})
    yield Gauge("artemis_broker_running", "1 while a broker holds the lock of the journal.", (({}, int(backlog.live)),))
    damaged = "1 while journal or bindings are damaged: acknowledgements may be lost."
    yield Gauge("artemis_journal_damaged", damaged, (({}, int(backlog.damaged)),))


def _values(queue: Backlog, now: float) -> list[float | None]:
    return [queue.messages, queue.bytes, queue.in_doubt, queue.pages, queue.held, queue.alone, queue.age(now)]


def _known(key: tuple[str, ...], addresses: Rows) -> bool:
    """No folder of the address keeps what is outstanding to itself."""
    return not addresses[key[:1]][-1]


def _add(rows: Rows, key: tuple[str, ...], values: list[float | None]) -> None:
    """Counts are added up; of ages the greater one counts."""
    before = rows.get(key)
    if before is None:
        rows[key] = values
        return
    *counts, last = zip(before, values, strict=True)
    rows[key] = [(one or 0) + (other or 0) for one, other in counts]
    rows[key].append(max((value for value in last if value is not None), default=None))


def _gauges(names: dict[str, str], labels: tuple[str, ...], rows: Rows) -> Iterator[Gauge]:
    for at, (name, text) in enumerate(names.items()):
        samples = ((dict(zip(labels, key, strict=True)), values[at]) for key, values in rows.items())
        yield Gauge(name, text, tuple((label, value) for label, value in samples if value is not None))
