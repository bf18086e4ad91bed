"""A real data directory from the engine's state: pages, message journal, bindings, large messages.

    write_data_directory(run, Path("data"))

What a broker of the profile's edition finds there is what the engine holds: messages in memory are journal records,
paged ones lie in pages, acknowledgements of paged ones are cursor records. Editions with the layout of 1.x and
HornetQ are not written.

    bindings/activemq-bindings-1.bindings    addresses, queues, the id counter
    journal/activemq-data-N.amq              messages, references, page transactions, acknowledgements
    large-messages/ID.msg                    bodies of large messages
    paging/NUMBER/address.txt, 00000000N.page

Source: docs/spec/page-files.md, docs/spec/journal.md, docs/spec/messages.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pageengine.data_directory.encoding import CannotWrite, body_file_of
from pageengine.data_directory.journal_content import binding_records, journal_records
from pageengine.data_directory.page_encoding import encoded_page
from pageengine.running.crash import alive_references
from pagefmt.directory.paging import ADDRESS_FILE, page_name
from pagefmt.journal.writing import write_journal
from pagefmt.storage.writing import Disk, check_new_folder, whole_folder

if TYPE_CHECKING:
    from pageengine.clients.run import Run
    from pageengine.model.message import Message
    from pageengine.paging.store import AddressStore


def check_target(run: Run, target: Path) -> None:
    """Raise ``TargetRefused`` if the folder exists with content, ``CannotWrite`` for editions of the old layout."""
    if run.profile.old_layout:
        raise CannotWrite(f"{target}: data directories of {run.profile.edition.value} cannot be written; choose 2.x")
    check_new_folder(target)


def write_data_directory(run: Run, target: Path, disk: Disk | None = None) -> None:
    """Write a new directory, which appears whole or not at all. Raises as ``check_target`` does, and ``OSError``."""
    check_target(run, target)
    with whole_folder(target, disk=disk) as (folder, disk):
        for name in ("bindings", "journal", "large-messages", "paging"):
            disk.make_folder(folder / name)
        write_journal(folder / "bindings", "activemq-bindings-{}.bindings", binding_records(run), disk)
        write_journal(folder / "journal", "activemq-data-{}.amq", journal_records(run), disk)
        bodies = _Bodies(folder / "large-messages", disk)
        for number, store in enumerate(run.broker.stores.values(), start=1):
            if store.pages:
                _write_store(run, store, folder / "paging" / f"{number:08d}", bodies, disk)
        for queue in run.broker.queues.values():
            for ref in alive_references(run, queue) if queue.durable else ():
                bodies.write(ref.message)


def _write_store(run: Run, store: AddressStore, folder: Path, bodies: _Bodies, disk: Disk) -> None:
    disk.make_folder(folder)
    disk.create(folder / ADDRESS_FILE, [f"{store.address}\n".encode()])
    for number in store.files:
        page = store.pages[number]
        disk.create(folder / page_name(number), [encoded_page(run, page).data])
        for record in page.records:
            bodies.write(record.message)


class _Bodies:
    """Writer of the files of large messages, each written once."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder, self._disk = folder, disk
        self._written: set[int] = set()

    def write(self, message: Message) -> None:
        """Write the body of a large message, unless it was written before; ignore any other message."""
        if message.large and message.id not in self._written:
            self._written.add(message.id)
            suffix = "msg" if message.durable else "tmp"
            self._disk.create(self._folder / f"{message.id}.{suffix}", body_file_of(message))
