"""What sizes alone do not tell: how much of the journal is still needed, and whose the large messages are.

A large message is named by its id. Of one that lives in the journal the reference names the queue, and the queue its
address; of one that was paged the store is the address's own (docs/spec/journal.md 5, docs/spec/page-files.md 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagefmt.codec.messages.large import LargeFile, LargeMessages
from pagefmt.codec.pages.page import open_page
from pagefmt.directory.bindings import Bindings
from pagefmt.directory.paging import read_store
from pagefmt.directory.usage import BLOCK, AddressUsage, Counted, DirectoryUsage
from pagefmt.errors import PageFmtError
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.numbers import Numbers

RECORD: Final = 23  # bytes of a journal record besides its body, as compaction writes it (docs/spec/journal.md 2)


@dataclass(frozen=True, slots=True)
class JournalContent:
    """How much of a message journal is still needed.

    ``live``: bytes of needed records. ``live_files``: number of files with at least one of them. ``reclaimable``: bytes
    of whole files that 'journal compact' frees; None if it leaves the journal alone.
    """

    files: int
    live_files: int
    live_records: int
    live: int
    size: int
    reclaimable: int | None = None


def journal_content(loaded: LoadedJournal, reclaimable: int | None) -> JournalContent:
    """Return how much of a message journal is still needed; records of prepared transactions are."""
    columns, records, live = loaded.columns, 0, 0
    holding: set[int] = set()
    for rows in (loaded.rows, *(Numbers(branch.rows) for branch in loaded.prepared)):
        for some in rows.portions():
            records += len(some)
            live += RECORD * len(some) + columns.size_of(some)
            holding.update(columns.file_numbers(some))
    files = loaded.files
    return JournalContent(len(files), len(holding), records, live, sum(file.size for file in files), reclaimable)


@dataclass(slots=True)
class LargeOwners:
    """Finds the addresses of large-message files; ``unknown`` are those without one so far."""

    unknown: dict[int, LargeFile]
    usage: DirectoryUsage

    @classmethod
    def of(cls, directory: Path, usage: DirectoryUsage) -> LargeOwners:
        """Return all body files of a large-messages directory, with unknown owners."""
        files = LargeMessages(directory).files()
        return cls({file.id: file for file in files if file.id is not None}, usage)

    def from_journal(self, journal: MessageJournal, bindings: Bindings) -> None:
        """Assign owners by the references in the journal."""
        if not self.unknown:
            return
        queues = bindings.queues
        rows = {row.address: row for row in reversed(self.usage.addresses)}
        for message, queue, _done in journal.references():
            if message in self.unknown and queue in queues:
                address = queues[queue].address
                if address not in rows:
                    rows[address] = AddressUsage(address, None)
                    self.usage.addresses.append(rows[address])
                self._give(message, rows[address])

    def from_pages(self, paging: Path, counted: Counted) -> Iterator[str]:
        """Assign owners by the records of the pages until all are known. Yield descriptions of unreadable pages."""
        for row in self.usage.addresses:
            if not self.unknown or row.folder is None or not row.pages.files:
                continue
            try:
                for page in read_store(paging / row.folder).pages:
                    yield from self._page(page.path, row)
                    counted(page.size)
                    if not self.unknown:
                        return
            except PageFmtError as err:
                yield str(err)

    def _page(self, path: Path, row: AddressUsage) -> Iterator[str]:
        try:
            with open_page(path) as page:
                for route in page.routes():
                    if route[5] in self.unknown:
                        self._give(route[5], row)
        except PageFmtError as err:
            yield str(err)

    def _give(self, message: int, row: AddressUsage) -> None:
        file = self.unknown.pop(message)
        try:
            row.large.add(file.path.lstat())
        except OSError:
            row.large.files += 1
            row.large.bytes += file.size
            row.large.on_disk += -(-file.size // BLOCK) * BLOCK
