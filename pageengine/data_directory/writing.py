"""A real data directory from the engine's state: pages, message journal, bindings, large messages.

    write_data_directory(engine, Path("data"))

What a broker of the profile's edition finds there is what the engine holds: messages in memory are journal records,
paged ones lie in pages, acknowledgements of paged ones are cursor records. Editions with the layout of 1.x and
HornetQ are not written.

    bindings/activemq-bindings-1.bindings    addresses, queues, the id counter
    journal/activemq-data-N.amq              messages, references, page transactions, acknowledgements
    large-messages/ID.msg                    bodies of large messages
    paging/NUMBER/address.txt, 00000000N.page

Source: spec/page-files.md, spec/journal.md, spec/messages.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pageengine.data_directory.encoding import large_body
from pageengine.data_directory.journal_content import binding_records, journal_records
from pageengine.data_directory.page_encoding import encoded_page
from pageengine.errors import PageEngineError
from pageengine.running.restart import alive_references
from pagefmt.journal.files import JournalHeader, encode_header
from pagefmt.journal.records import JournalRecord, encode
from pagefmt.pages.paging import page_name

if TYPE_CHECKING:
    from pageengine.model.message import Message
    from pageengine.paging.store import AddressStore
    from pageengine.running.engine import Engine

FILE_SIZE = 1024 * 1024
FORMAT = 2


class CannotWrite(PageEngineError):
    """The data directory cannot be written."""


def check_target(engine: Engine, target: Path) -> None:
    """Raises CannotWrite where it exists with content, or for editions of the old layout."""
    if engine.profile.old_layout:
        raise CannotWrite(f"{target}: data directories of {engine.profile.edition.value} are not written; choose 2.x")
    if target.exists() and not target.is_dir():
        raise CannotWrite(f"{target}: is not a directory; name a new one")
    if target.exists() and any(target.iterdir()):
        raise CannotWrite(f"{target}: the directory is not empty; name a new one")


def write_data_directory(engine: Engine, target: Path) -> None:
    """Writes a new directory. Raises CannotWrite as ``check_target`` does."""
    check_target(engine, target)
    for name in ("bindings", "journal", "large-messages", "paging"):
        (target / name).mkdir(parents=True, exist_ok=True)
    write_journal(target / "bindings", "activemq-bindings-{}.bindings", binding_records(engine))
    write_journal(target / "journal", "activemq-data-{}.amq", journal_records(engine))
    written: set[int] = set()
    for number, store in enumerate(engine.broker.stores.values(), start=1):
        if store.pages:
            _write_store(engine, store, target / "paging" / f"{number:08d}", written, target / "large-messages")
    for queue in engine.broker.queues.values():
        for ref in alive_references(engine, queue) if queue.durable else ():
            _write_body(ref.message, written, target / "large-messages")


def _write_store(engine: Engine, store: AddressStore, folder: Path, written: set[int], bodies: Path) -> None:
    folder.mkdir()
    (folder / "address.txt").write_text(store.address + "\n", "utf-8")
    for number in store.files:
        with (folder / page_name(number)).open("wb") as file:
            page = store.pages[number]
            file.write(encoded_page(engine, page).data)
            for record in page.records:
                _write_body(record.message, written, bodies)


def _write_body(message: Message, written: set[int], folder: Path) -> None:
    if message.large and message.id not in written:
        written.add(message.id)
        suffix = "msg" if message.durable else "tmp"
        (folder / f"{message.id}.{suffix}").write_bytes(large_body(message))


def write_journal(folder: Path, name: str, records: list[JournalRecord]) -> None:
    """Records in files of one size; what is left of each is zero."""
    file_id = 0
    content = bytearray()
    pending = list(reversed(records))
    while pending or file_id == 0:
        file_id += 1
        content = bytearray(encode_header(JournalHeader(FORMAT, 0, file_id)))
        while pending:
            encoded = encode(pending[-1], file_id, FORMAT)
            if len(content) + len(encoded) > FILE_SIZE and len(content) > 16:
                break
            content += encoded
            pending.pop()
        (folder / name.format(file_id)).write_bytes(content.ljust(FILE_SIZE, b"\0"))
