"""Data directories that grow in one respect.

The respects are pages, addresses, queues, acknowledgements, journal messages, large messages and transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from struct import pack
from typing import Final

from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage, HeaderBlock
from pagefmt.codec.messages.persisted import encode_persisted
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, string
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteWriter
from pagefmt.directory.bindings import AddressBinding, QueueBinding, encode_address, encode_queue
from pagefmt.directory.paging import page_name
from pagefmt.journal.bodies import CursorAck, PageTransaction, encode_body
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal

SETTINGS: Final = {
    "filter": None, "metadata": "", "auto_created": 0, "max_consumers": -1, "purge_on_no_consumers": 0,
    "routing_type": 0, "exclusive": 0, "last_value": 0, "configuration_managed": 0, "consumers_before_dispatch": 0,
    "delay_before_dispatch": -1, "last_value_key": None, "non_destructive": 0, "group_rebalance": 0,
    "group_buckets": -1, "auto_delete": 0, "auto_delete_delay": 0, "auto_delete_message_count": 0,
    "group_first_key": None, "ring_size": -1, "enabled": 1, "group_rebalance_pause_dispatch": 0, "internal": 0,
}  # fmt: skip
RECORDS: Final = 3  # of a page


def core(number: int, address: str) -> CoreMessage:
    block = properties_bytes((Property("color", string("red")), Property("text", string(f"value of {number}"))))
    header = HeaderBlock(1000 + number, 1, address, 0, None, 4, 1, 0, 1_700_000_000_000 + number, 4, block)
    return CoreMessage(1000 + number, 1, address, b"\x07" * 40, header)


def page_content(first: int, count: int, address: str, queues: tuple[int, ...], tx: int = -1) -> bytes:
    records = (PageRecord(0, 0, tx, 0, Layout.NEW, 1, core(first + n, address), queues) for n in range(count))
    return b"".join(encode_record(record) for record in records)


def add(number: int, kind: RecordType, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.ADD, id=number, user_type=int(kind), body=body)


def journal_message(number: int, queues: tuple[int, ...], *, large: bool = False) -> Iterator[JournalRecord]:
    """Yield the journal records of a message and its references."""
    out, message = ByteWriter(), core(number, "orders")
    encode_persisted(out, CoreLargeMessage(message.header) if large else message)
    yield add(1000 + number, RecordType.ADD_LARGE_MESSAGE if large else RecordType.ADD_MESSAGE_PROTOCOL, out.done())
    for queue in queues:
        kind = int(RecordType.ADD_REF)
        yield JournalRecord(RecordKind.UPDATE, id=1000 + number, user_type=kind, body=pack(">q", queue))


class GrowingStore:
    """A data directory that is being made. ``queues``: id → address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.queues = {3: "orders", 7: "orders"}
        self.records: list[JournalRecord] = []
        for name in ("paging", "large-messages", "bindings", "journal"):
            (folder / name).mkdir(parents=True)

    def pages(self, address: str, count: int, records: int, queues: tuple[int, ...], *, tx: bool = False) -> None:
        """Write a store. ``tx``: each page has a transaction of its own."""
        number = len(list((self.folder / "paging").iterdir()))
        store = self.folder / "paging" / f"{number:08x}-0000-11f0-8000-000000000001"
        store.mkdir()
        (store / "address.txt").write_text(f"{address}\n")
        for n in range(count):
            content = page_content(n * records, records, address, queues, 500_000 + n if tx else -1)
            (store / page_name(n + 1)).write_bytes(content)

    def end(self) -> None:
        """Write both journals."""
        bindings = []
        for n, address in enumerate(dict.fromkeys(self.queues.values())):
            body = encode_address(AddressBinding(100_000 + n, address, (0,), 0, 0))
            bindings.append(add(100_000 + n, RecordType.ADDRESS_BINDING_RECORD, body))
        for queue, address in self.queues.items():
            fields = {"name": f"{address}.{queue}", "address": address, **SETTINGS}
            bindings.append(add(queue, RecordType.QUEUE_BINDING_RECORD, encode_queue(QueueBinding(queue, fields))))
        write_journal(self.folder / "bindings", "activemq-bindings-{}.bindings", bindings)
        write_journal(self.folder / "journal", "activemq-data-{}.amq", self.records or journal_message(-900, (3,)))


def many_pages(store: GrowingStore, count: int) -> None:
    store.pages("orders", count, RECORDS, (3, 7))


def many_addresses(store: GrowingStore, count: int) -> None:
    store.queues = {10 + n: f"a{n}" for n in range(count)}
    for queue, address in store.queues.items():
        store.pages(address, 1, RECORDS, (queue,))


def many_queues(store: GrowingStore, count: int) -> None:
    """Add ``count`` queues to one address, each with its own messages in pages and journal."""
    store.queues = {10 + n: "orders" for n in range(count)}
    store.pages("orders", 1, 1, (10,))
    folder = next((store.folder / "paging").iterdir())
    content = (page_content(n, 1, "orders", (10 + n,)) for n in range(count))
    (folder / page_name(2)).write_bytes(b"".join(content))
    for n in range(count):
        store.records += journal_message(100_000 + n, (10 + n,))


def many_acknowledgements(store: GrowingStore, count: int) -> None:
    """Add two pages, and acknowledge each message of the first for one of its two queues."""
    store.pages("orders", 2, count, (3, 7))
    for n in range(count):
        body = encode_body(CursorAck(3 if n % 2 else 7, 1, n))
        store.records.append(add(2_000_000 + n, RecordType.ACKNOWLEDGE_CURSOR, body))


def many_journal_messages(store: GrowingStore, count: int) -> None:
    store.pages("orders", 1, RECORDS, (3, 7))
    for n in range(count):
        store.records += journal_message(100_000 + n, (3, 7))


def many_large_messages(store: GrowingStore, count: int) -> None:
    """Add ``count`` large-message files, of which every other has a record in the journal."""
    store.pages("orders", 1, RECORDS, (3, 7))
    for n in range(count):
        if n % 2:
            store.records += journal_message(100_000 + n, (3, 7), large=True)
        (store.folder / "large-messages" / f"{101_000 + n}.msg").write_bytes(b"x" * 50)


def many_transactions(store: GrowingStore, count: int) -> None:
    """Add ``count`` pages with a transaction each, of which every other is in the journal."""
    store.pages("orders", count, RECORDS, (3, 7), tx=True)
    for n in range(0, count, 2):
        body = encode_body(PageTransaction(500_000 + n, 2 * RECORDS))
        store.records.append(add(500_000 + n, RecordType.PAGE_TRANSACTION, body))


KINDS: Final[dict[str, Callable[[GrowingStore, int], None]]] = {
    "pages": many_pages, "addresses": many_addresses, "queues": many_queues,
    "acknowledgements": many_acknowledgements, "journal messages": many_journal_messages,
    "large messages": many_large_messages, "transactions": many_transactions,
}  # fmt: skip
READING: Final = (
    "pages ls", "pages outstanding", "pages outstanding --positions --format json", "pages verify",
    "pages decode --format jsonl", "pages decode --format csv", "pages compact", "pages seal --to {out}",
    "messages ls", "messages top", "messages check", "messages find --id 1001 --format jsonl",
    "messages decode --format jsonl", "messages decode --format csv", "messages verify", "messages xml --to {out}",
    "journal ls", "journal verify", "journal inspect", "journal compact", "large ls", "large verify", "disk usage",
    "recover --out {out}", "pages salvage --out {out}", "queue drop {data} {queue} --dry-run",
    "queue purge {data} {queue} --all --dry-run",
)  # fmt: skip
"""Commands that read a whole directory, which is their last word unless ``{data}`` stands for it.

``{out}``: where they write; ``{queue}``: the first queue of the directory.
"""


def words(command: str, data: Path, out: Path) -> list[str]:
    """Split a call of ``READING`` into words and fill in the directory, the output and the id of a queue."""
    queue = next(data.glob("queue-*")).name.removeprefix("queue-")
    if "{data}" not in command:
        command += " {data}"
    return [each.format(data=data, out=out, queue=queue) for each in command.split()]


def made(kind: str, folder: Path, count: int) -> Path:
    """Write a data directory with ``count`` units of a kind."""
    store = GrowingStore(folder)
    KINDS[kind](store, count)
    store.end()
    number, address = next(iter(store.queues.items()))
    (folder / f"queue-{address}.{number}").touch()
    return folder
