"""Salvage of a store folder, or of one page: what stays in which page, what moves to new ones, what is lost.

One page is in memory at a time.
"""

from __future__ import annotations

import mmap
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from struct import Struct
from types import MappingProxyType
from typing import Final

from pagefmt.change.salvage.loose import PAGE_SIZE, FreeNumbers, LooseRecords, MessageIds
from pagefmt.change.salvage.owners import PageIds, named_by, page_files, page_ids, specials, strays
from pagefmt.change.salvage.segments import Hole, PageSegment, RebuiltPage, SegmentOutcome, rebuild
from pagefmt.codec.pages.page import LARGEST_FILE, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import NO_TRANSACTION, Layout
from pagefmt.codec.pages.stubs import STUB_SIZE, stub
from pagefmt.directory.paging import ADDRESS_FILE, EntryKind, Store, StoreEntry, page_name, read_store
from pagefmt.errors import PageFmtError
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.parallel import one_ahead
from pagefmt.quantities import count_text
from pagefmt.storage.files import NotReadable, file_pieces, fill, open_file
from pagefmt.storage.writing import Disk

_SECTOR: Final = 512
_I64: Final = Struct(">q")
_TX_AT: Final = 5  # offset in a record, after mark and length
_LARGEST_STEP: Final = 1 << 20
_MOST_STUBS: Final = PAGE_SIZE // max(STUB_SIZE.values())
_READABLE: Final = (SegmentOutcome.WHOLE, SegmentOutcome.MENDED)
AgainNames = Callable[[Iterable[tuple[int, int]]], object]  # called with pairs of message id and queue id


class CannotSalvage(PageFmtError):
    """Nothing that could be salvaged, or nowhere to write it."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Bytes of a file without a readable message, which contained at least ``fewest`` and at most ``most`` messages.

    ``message``: the id of one of them, or 0 if it cannot be read. ``number``: its number in the page, if certain.
    """

    file: str
    start: int
    end: int
    detail: str
    fewest: int
    most: int
    message: int
    number: int | None = None


@dataclass(slots=True)
class SalvagedStore:
    """What a salvage did with one store.

    ``kept``: number of messages that keep their position; ``mended``: how many of them had a wrong mark or length.
    ``rescued``: number of messages in new pages; ``delivered_again``: how many of them were acknowledged at their old
    position, None if unknown. ``repeated``: left out because the store has their message id elsewhere. ``merged``:
    folders of the same address whose messages are in this one now. ``readdressed``: the folder named no address, or
    another one. ``unread``: pages that the system cannot read completely.
    """

    folder: str
    address: str | None
    readdressed: bool = False
    merged: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    kept: int = 0
    mended: int = 0
    rescued: int = 0
    delivered_again: int | None = 0
    repeated: int = 0
    new_pages: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)

    @property
    def lost(self) -> tuple[int, int]:
        """Return the lowest and the highest possible number of lost messages."""
        return sum(loss.fewest for loss in self.losses), sum(loss.most for loss in self.losses)


def salvage_store(
    store: Store,
    others: Sequence[Store],
    report: SalvagedStore,
    journal: MessageJournal | None,
    queues: Iterable[int],
    layout: Layout,
    out: Path,
    disk: Disk,
    jobs: int,
    again: AgainNames | None = None,
) -> None:
    """Write the store anew below ``out``.

    ``others`` are folders of the same address, of which a broker reads only one (2.1). Acknowledgements name positions
    in ``store``, so everything in the others goes to new pages. ``queues`` are ids of the address's queues; page
    numbers in their acknowledgements are not used again. ``jobs`` processes read the pages. ``again`` is called with
    pairs of message and queue id for which the message may be delivered again.
    """
    far = store.out_of_reach
    near = store._replace(pages=store.pages[: len(store.pages) - len(far)])
    numbers = FreeNumbers(_used(near), _acknowledged_pages(journal, set(queues)))
    disk.make_folder(out / store.name, like=store.folder)
    like = next(iter(page_files(store)), store.folder / ADDRESS_FILE)
    if report.address is not None and report.address == store.address:
        copy(store.folder / ADDRESS_FILE, out / store.name, disk)
    elif report.address is not None:
        disk.create(out / store.name / ADDRESS_FILE, [report.address.encode() + b"\n"], like=like)
    with LooseRecords(out) as loose:
        named = _named_records(journal, set(queues))
        rescue = _Rescue(report, out / store.name, layout, journal, numbers, loose, disk, like, named, again)
        left = []
        sizes = (page.size for page in near.pages)
        with one_ahead(lambda page: page_ids(page.path), near.pages, sizes, jobs) as read:
            for page in near.pages:
                rescue.page(page, read(page))
        for page in far:
            report.damaged.append(page.name)
            rescue.loosen(page.path, page.name)
        for entry in strays(store):
            if entry.kind is EntryKind.OVERLOOKED and entry.number is not None and rescue.free(entry.number):
                report.damaged.append(entry.name)
                stray = PageFile(entry.number, store.folder, entry.name, entry.size or 0)
                rescue.page(stray, page_ids(stray.path))
            else:
                left.append(entry)
        for entry in specials(store):
            report.remarks.append(
                f"{entry.name} is not a regular file: it was not read, and it is not in the new folder"
            )
        for entry in left:
            rescue.stray(store.folder, entry)
        rescue.write_loose()
        for other in others:
            report.merged.append(other.name)
            for path in page_files(other):
                rescue.loosen(path, f"{other.name}/{path.name}")
        rescue.write_loose()
    report.delivered_again = rescue.delivered_again()


def salvage_page(path: Path, layout: Layout, out: Path, disk: Disk) -> SalvagedStore:
    """Salvage one page file without a journal; records keep their numbers as far as these are certain."""
    store = read_store(path.parent)
    report = SalvagedStore(path.parent.name, store.address)
    number = _number_in(path.name)
    disk.make_folder(out / report.folder, like=path.parent)
    with LooseRecords(out) as loose:
        numbers = FreeNumbers({*_used(store), number}, ())
        rescue = _Rescue(report, out / report.folder, layout, None, numbers, loose, disk, path)
        rebuilt = rescue.damaged(path, path.name, number)
        rescue.write_loose()
    report.delivered_again = rescue.delivered_again()
    if report.address is None:
        report.address = named_by(segment.data for segment in rebuilt.segments if segment.outcome in _READABLE)
    if report.address is not None:
        disk.create(out / report.folder / ADDRESS_FILE, [report.address.encode() + b"\n"], like=path)
    return report


def copy_store(source: Store, out: Path, disk: Disk) -> None:
    """Copy a sound store: its address and its pages."""
    folder = out / source.name
    disk.make_folder(folder, like=source.folder)
    if source.address is not None:
        copy(source.folder / ADDRESS_FILE, folder, disk)
    for page in source.pages:
        copy(page.path, folder, disk)


def copy(path: Path, folder: Path, disk: Disk, name: str | None = None) -> None:
    """Copy a file into ``folder``, under ``name`` if given."""
    disk.create(folder / (name or path.name), file_pieces(path), like=path)


def read_around(path: Path) -> tuple[memoryview, list[Hole]]:
    """Return the readable content of a file, and the holes where the system cannot read it.

    Steps over a hole grow, because a failing disk is slow. Data after ``LARGEST_FILE`` is not read, because no broker
    wrote it. Holes of a sparse file take no memory.
    """
    try:
        opened = open_file(path)
    except NotReadable as err:
        size = path.lstat().st_size
        return _zeros(min(size, LARGEST_FILE)), [Hole(0, size, err.reason)]
    try:
        size = opened.size()
        data, holes, step = _zeros(min(size, LARGEST_FILE)), list[Hole](), _SECTOR
        for at, upto in opened.filled(len(data)):
            while at < upto:
                count, problem = fill(opened, data[at:upto], at)
                at += count
                if problem is not None:
                    step = _SECTOR if count else min(2 * step, _LARGEST_STEP)
                    end = min(upto, at + step - at % _SECTOR)
                    holes.append(Hole(at, end, problem))
                    at = end
        if size > len(data):
            holes.append(Hole(len(data) - 1, size, f"{size} bytes; no broker reads a page of 2 GiB or more"))
        return data, holes
    finally:
        opened.close()


def _zeros(size: int) -> memoryview:
    """Return this many zero bytes, which take memory only after they are written to."""
    return memoryview(mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))[:size]


def _used(store: Store) -> Iterator[int]:
    """Yield the numbers of pages, and of pages put aside: a broker may still have acknowledgements for them."""
    yield from (page.number for page in store.pages)
    yield from (_number_in(entry.name) for entry in store.others if entry.kind is EntryKind.PUT_ASIDE)


def _number_in(name: str) -> int:
    """Return the page number that a file name begins with, or 1."""
    match = re.match(r"0*([1-9][0-9]{0,9})(?![0-9])", name)
    return int(match[1]) if match and int(match[1]) < 1 << 31 else 1


def _acknowledged_pages(journal: MessageJournal | None, queues: set[int]) -> Iterator[int]:
    if journal is not None:
        for index in (journal.ack_index, journal.complete_index):
            yield from (page for queue, page in index.pages() if queue in queues)


def _named_records(journal: MessageJournal | None, queues: set[int]) -> dict[int, int]:
    """Return for each page how many records it had at least, judged by acknowledgements of these queues.

    Pages without any are absent, and so is every page if there is no journal.
    """
    named: dict[int, int] = {}
    for index, more in ((journal.ack_index, 1), (journal.complete_index, 0)) if journal is not None else ():
        for queue, page in index.pages():
            if queue in queues:
                named[page] = max(named.get(page, 0), max(index.numbers(queue, page)) + more)
    return named


def _acknowledged(rule: PageRule, number: int, queues: tuple[int, ...]) -> list[int]:
    """Return the queue ids that have acknowledged a record, possibly in a prepared transaction."""
    acked = rule.acked_by(number, queues)
    return [queue for queue in queues if queue in acked or number in rule.marks(queue)[2]]


class _Rescue:
    """The folder that a salvage writes. New files get the rights of ``like``.

    ``journal``: None if acknowledgements are not known. ``named``: see ``_named_records``.
    """

    def __init__(
        self,
        report: SalvagedStore,
        folder: Path,
        layout: Layout,
        journal: MessageJournal | None,
        numbers: FreeNumbers,
        loose: LooseRecords,
        disk: Disk,
        like: Path,
        named: Mapping[int, int] = MappingProxyType({}),
        again: AgainNames | None = None,
    ) -> None:
        self._report = report
        self._folder = folder
        self._layout = layout
        self._journal = journal
        self._numbers = numbers
        self._loose = loose
        self._disk = disk
        self._like = like
        self._named = named
        self._report_delivered_again = again
        self._committed = journal.page_transactions.keys() - journal.in_doubt_sends if journal is not None else set()
        self._ids = MessageIds()
        self._repeats = 0

    def delivered_again(self) -> int | None:
        """Return how many messages in new pages were acknowledged; None if unknown, because there is no journal."""
        return None if self._journal is None and self._report.rescued else self._repeats

    def free(self, number: int) -> bool:
        """Return whether no page of the store has this number."""
        return number > 0 and number not in self._numbers.used

    def page(self, page: PageFile, read: PageIds) -> None:
        """Write a page that acknowledgements name, under its old number."""
        self._numbers.used.add(page.number)
        if not read.sound:
            self.damaged(page.path, page.name, page.number)
            return
        self._report.kept += len(read.messages)
        self._have(read.messages)
        copy(page.path, self._folder, self._disk, page_name(page.number))

    def _have(self, ids: array[int]) -> None:
        import numpy as np

        self._ids.add(np.array(ids, np.int64))

    def damaged(self, path: Path, name: str, number: int) -> RebuiltPage:
        """Write a damaged page. Records keep their position if it is certain; others go to new pages.

        Records that no queue counted go to new pages as well.
        """
        if name not in self._report.damaged:
            self._report.damaged.append(name)
        rebuilt = self._rebuilt(path, name)
        ids, parts = array("q"), list[bytes | memoryview]()
        for segment in rebuilt.numbered:
            if segment.outcome in _READABLE and segment.queues:
                if self._uncounted(segment, number):
                    self._loose.add(self._settled(segment.data), segment.message)
                    parts.append(stub(self._layout, segment.message))
                    continue
                ids.append(segment.message)
            self._report.mended += segment.outcome is SegmentOutcome.MENDED
            parts.append(segment.data)
        self._report.kept += len(ids)
        self._have(ids)
        self._loosen_all(rebuilt.unnumbered, number, len(rebuilt.numbered))
        if parts or number == max(self._numbers.used):  # a hole is legal, but the last number is never given again
            # messages to come would be taken as acknowledged in the place of records that are gone
            gone = min(self._named.get(number, 0), _MOST_STUBS) - len(parts)
            more = repeat(stub(self._layout, 0), max(0, gone))
            self._disk.create(self._folder / page_name(number), chain(parts, more), like=path)
        return rebuilt

    def _rebuilt(self, path: Path, name: str) -> RebuiltPage:
        data, holes = read_around(path)
        if holes:
            self._report.unread.add(name)
            size = sum(hole.end - hole.start for hole in holes)
            self._report.remarks.append(f"{name}: {count_text(size, 'byte')} not read: {holes[0].reason}")
        rebuilt = rebuild(data, holes, self._layout)
        self._report.losses += [
            Loss(
                name,
                segment.start,
                segment.end,
                segment.detail,
                segment.fewest,
                segment.most,
                segment.message,
                segment.number,
            )
            for segment in rebuilt.lost
        ]
        return rebuilt

    def stray(self, folder: Path, entry: StoreEntry) -> None:
        """Add the records of a file of the store that a broker does not open as a page."""
        self._report.damaged.append(entry.name)
        if entry.kind is not EntryKind.PUT_ASIDE:
            self.loosen(folder / entry.name, entry.name)
            return
        # every queue was done with what the broker could read of it; the rest was never delivered
        segments = self._rebuilt(folder / entry.name, entry.name).segments
        read = next(
            (n for n, segment in enumerate(segments) if segment.outcome is not SegmentOutcome.WHOLE), len(segments)
        )
        self._loosen_all(segments[read:], _number_in(entry.name), read)

    def loosen(self, path: Path, name: str) -> None:
        """Add a file whose records lose their positions: as a new page, or record by record to new pages."""
        import numpy as np

        (ids, _, sound), number = page_ids(path), _number_in(path.name)
        if not sound or self._ids.has(np.array(ids, np.int64)).any() or self._of_committed(path):
            self._loosen_all(self._rebuilt(path, name).segments, number, 0)
        elif ids:
            self._report.rescued += len(ids)
            self._repeats += self._acknowledged(path, number)
            self._have(ids)
            copy(path, self._folder, self._disk, self._new_page())

    def _of_committed(self, path: Path) -> bool:
        """Return whether a sound page has records of committed transactions, which must be written without them."""
        if not self._committed:
            return False
        with open_page(path) as page:
            return any(route[3] in self._committed for route in page.routes())

    def _acknowledged(self, path: Path, number: int) -> int:
        if self._journal is None or not self.free(number):
            return 0
        rule, count = PageRule(self._journal, None, number), 0
        with open_page(path) as page:
            for route in page.routes():
                acked = _acknowledged(rule, route[0], route[6])
                count += bool(acked)
                if acked and self._report_delivered_again is not None:
                    self._report_delivered_again((route[5], queue) for queue in acked)
        return count

    def _loosen_all(self, segments: Sequence[PageSegment], page: int, first: int) -> None:
        """Add segments to new pages. ``first`` is the lowest number that one of their records can have had."""
        rule = None if self._journal is None else PageRule(self._journal, None, page)
        acked_counts: dict[int, int] = {}
        assigned: Counter[int] = Counter()
        for segment in segments:
            if segment.outcome in _READABLE and segment.queues:
                again, acked = (
                    (False, ())
                    if rule is None
                    else self._acknowledged_by(segment, rule, page, first, acked_counts, assigned)
                )
                self._loose.add(self._settled(segment.data), segment.message, again, acked)

    def _settled(self, record: bytes | memoryview) -> bytes | memoryview:
        """Return a record of a committed transaction as one without a transaction.

        Queues to which it is delivered again would count it off the transaction once more; when the count reaches zero,
        brokers take what other queues still wait for as rolled back.
        """
        if not self._committed or _I64.unpack_from(record, _TX_AT)[0] not in self._committed:
            return record
        changed = bytearray(record)
        _I64.pack_into(changed, _TX_AT, NO_TRANSACTION)
        return bytes(changed)

    def _acknowledged_by(
        self,
        segment: PageSegment,
        rule: PageRule,
        page: int,
        first: int,
        acked_counts: dict[int, int],
        assigned: Counter[int],
    ) -> tuple[bool, Sequence[int]]:
        """Return whether the record counts as acknowledged, and the ids of the queues that may have acknowledged it.

        A record with a likely number counts as acknowledged if a queue has acknowledged that number. Otherwise the
        record may be any acknowledged one, so the first records of each queue count, up to its number of
        acknowledgements. Both mappings are by queue id and are updated: ``acked_counts`` has the acknowledgements of
        numbers from ``first`` on, ``assigned`` the records of the page seen so far.
        """
        if segment.likely is not None:
            acked_by = () if self._uncounted(segment, page) else _acknowledged(rule, segment.likely, segment.queues)
            return bool(acked_by), acked_by
        for queue in segment.queues:
            if queue not in acked_counts:
                complete, acked, _ = rule.marks(queue)
                acked_counts[queue] = (
                    max(self._complete(queue, page)) - first if complete else sum(n >= first for n in acked)
                )
        assigned.update(segment.queues)
        acked_by = [queue for queue in segment.queues if acked_counts[queue] > 0]
        return any(assigned[queue] <= acked_counts[queue] for queue in acked_by), acked_by

    def _complete(self, queue: int, page: int) -> array[int]:
        """Return the record counts of the page according to the queue's page-complete records."""
        return array("i") if self._journal is None else self._journal.complete_index.numbers(queue, page)

    def _uncounted(self, segment: PageSegment, page: int) -> bool:
        """Return whether a queue finished the page without seeing this record, and none acknowledged it."""
        if self._journal is None or segment.likely is None:
            return False
        counts = [min(seen) for queue in segment.queues if (seen := self._complete(queue, page))]
        acked = any(self._journal.ack_index.has(queue, page, segment.likely) for queue in segment.queues)
        return not acked and any(segment.likely >= count for count in counts)

    def write_loose(self) -> None:
        """Write the records that lost their positions to new pages, and add up their counts in the report."""
        for records in self._loose.pages(self._ids):
            self._disk.create(self._folder / self._new_page(), records, like=self._like)
        self._report.rescued += self._loose.written
        self._report.repeated += self._loose.repeated
        self._repeats += self._loose.delivered_again
        if self._report_delivered_again is not None:
            self._report_delivered_again(self._loose.acked)

    def _new_page(self) -> str:
        name = page_name(self._numbers.take())
        self._report.new_pages.append(name)
        return name
