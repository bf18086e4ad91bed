"""Salvage of a store folder, or of one page: what stands in which page, what moves to new ones, what is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from pagefmt.bytes.files import MappedFile
from pagefmt.bytes.wire import Undecodable
from pagefmt.errors import PageFmtError
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import EntryKind, PageFile, Store, StoreEntry, read_store
from pagefmt.pages.record import FRAME, Layout, decode_record
from pagefmt.pages.stubs import stub
from pagefmt.salvage.segments import PageSegment, RebuiltPage, SegmentOutcome, rebuild

_READABLE: Final = (SegmentOutcome.WHOLE, SegmentOutcome.MENDED)


class CannotSalvage(PageFmtError):
    """Nothing that could be salvaged, or nowhere to write it."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Bytes of a file that no message was made of."""

    file: str
    start: int
    end: int
    detail: str


@dataclass(slots=True)
class SalvagedStore:
    """``kept``: records that stay where they are, ``mended`` of them with a mark or length put right; ``rescued``:
    those moved to new pages; ``repeated``: left out because the store has their message id elsewhere. ``merged``:
    folders of the same address whose messages are in this one now. ``unnamed``: the folder said no address."""

    folder: str
    address: str | None
    unnamed: bool = False
    merged: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    kept: int = 0
    mended: int = 0
    rescued: int = 0
    repeated: int = 0
    new_pages: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)


@dataclass(slots=True)
class SalvagePlan:
    """What to write: pages by number, as bytes or as the file that is copied; records for new pages; files that become
    new pages as they are. ``last``: no number up to it may be used."""

    report: SalvagedStore
    pages: dict[int, bytes | Path] = field(default_factory=dict)
    loose: list[PageSegment] = field(default_factory=list)
    moved: list[Path] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)
    last: int = 0


def salvage_store(
    store: Store, journal: MessageJournal | None, layout: Layout, queues: set[int], others: Sequence[Store] = ()
) -> SalvagePlan | None:
    """``None`` where all is well. ``queues``: of the address; pages that their records name are not reused.

    ``others``: folders of the same address, of which a broker reads one only (2.1). What acknowledgements name is the
    position in this one, so all that is in the others becomes new pages.
    """
    rescue = SalvagePlan(SalvagedStore(store.name, store.address))
    for page in store.pages:
        _page(page, journal, layout, rescue)
    for entry in store.others:
        _other(entry, store.folder, layout, rescue, journal)
    for other in others:
        _merge(other, layout, rescue)
    report = rescue.report
    if report.address is None:
        report.address = address_of(store)
        report.unnamed = report.address is not None
    if not report.damaged and not report.merged and not report.unnamed:
        return None
    if journal is not None:
        indexes = (journal.ack_index, journal.complete_index)
        named = (page for index in indexes for queue, page in index.pages() if queue in queues)
        rescue.last = max(rescue.last, max(named, default=0))
    return rescue


def salvage_page(path: Path, layout: Layout) -> SalvagePlan:
    """One page file by itself, without a journal: numbers are kept where they are sure."""
    store = read_store(path.parent)
    rescue = SalvagePlan(SalvagedStore(path.parent.name, store.address))
    number = _number_of(path.name)
    with MappedFile(path) as file:
        rebuilt = rebuild(file.buf, layout)
    rescue.report.damaged.append(path.name)
    _take(rebuilt, path.name, number, layout, rescue, None)
    if store.address is None:
        rescue.report.address = _named_by([segment.data for segment in rebuilt.segments])
    return rescue


def address_of(store: Store) -> str | None:
    """The address that the first records of its pages name, if it is one."""
    first = []
    for path in [*(page.path for page in store.pages), *_strays(store)]:
        with open_page(path) as page:
            first += [bytes(page.buf[at : at + FRAME + length]) for _, at, length, *_ in islice(page.routes(), 1)]
    return _named_by(first)


def _named_by(records: Iterable[bytes]) -> str | None:
    """The address that all of these name, of those that can be read in full."""
    named = set()
    for data in filter(None, records):
        with suppress(Undecodable):
            message = decode_record(data, 0, int.from_bytes(data[1:5], "big")).message
            named.add(getattr(message, "address", None))
    named.discard(None)
    return named.pop() if len(named) == 1 else None


def _strays(store: Store) -> list[Path]:
    """Page files that a broker does not open as such: put aside, or under a name that it does not look for."""
    kinds = (EntryKind.PUT_ASIDE, EntryKind.OVERLOOKED, EntryKind.BAD_NAME)
    return [store.folder / entry.name for entry in store.others if entry.kind in kinds and entry.size is not None]


def _number_of(name: str) -> int:
    digits = name.partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and 0 < int(digits) < 1 << 31 else 1


def _page(page: PageFile, journal: MessageJournal | None, layout: Layout, rescue: SalvagePlan) -> None:
    rescue.last = max(rescue.last, page.number)
    ids = _sound(page.path)
    if ids is not None:
        rescue.ids.update(ids)
        rescue.report.kept += len(ids)
        rescue.pages[page.number] = page.path
        return
    rescue.report.damaged.append(page.name)
    with MappedFile(page.path) as file:
        _take(rebuild(file.buf, layout), page.name, page.number, layout, rescue, journal)


def _sound(path: Path) -> list[int] | None:
    """Message ids of a page that a broker reads to its last byte."""
    with open_page(path) as opened:
        ids = [route[5] for route in opened.routes()]
        return ids if opened.damage is None and opened.odd is None else None


def _other(
    entry: StoreEntry, folder: Path, layout: Layout, rescue: SalvagePlan, journal: MessageJournal | None
) -> None:
    if entry.size is None:
        return
    path, number = folder / entry.name, entry.number or 0
    match entry.kind:
        case EntryKind.PUT_ASIDE:
            _put_aside(path, layout, rescue)
        case EntryKind.OVERLOOKED if number > 0 and number not in rescue.pages:
            rescue.report.damaged.append(entry.name)
            _page(PageFile(number, path, entry.size), journal, layout, rescue)
        case EntryKind.OVERLOOKED | EntryKind.BAD_NAME:
            rescue.report.damaged.append(entry.name)
            _loosen(path, entry.name, layout, rescue)
        case _:
            pass


def _merge(other: Store, layout: Layout, rescue: SalvagePlan) -> None:
    rescue.report.merged.append(other.name)
    for path in [*(page.path for page in other.pages), *_strays(other)]:
        _loosen(path, f"{other.name}/{path.name}", layout, rescue)


def _loosen(path: Path, name: str, layout: Layout, rescue: SalvagePlan) -> None:
    """A file whose records no acknowledgement names: it becomes a new page, or its records go into new pages."""
    ids = _sound(path)
    if ids is not None and not rescue.ids.intersection(ids):
        rescue.ids.update(ids)
        rescue.report.rescued += len(ids)
        if ids:
            rescue.moved.append(path)
        return
    with MappedFile(path) as file:
        rebuilt = rebuild(file.buf, layout)
    rescue.loose += [segment for segment in rebuilt.segments if segment.outcome in _READABLE]
    rescue.report.losses += [Loss(name, segment.start, segment.end, segment.detail) for segment in rebuilt.lost]


def _take(
    rebuilt: RebuiltPage, name: str, number: int, layout: Layout, rescue: SalvagePlan, journal: MessageJournal | None
) -> None:
    """Numbered records stay in their page; the others, and those that nobody counted, become loose."""
    rescue.last = max(rescue.last, number)
    parts = []
    for segment in rebuilt.numbered:
        if segment.outcome in _READABLE and _uncounted(segment, number, journal):
            rescue.loose.append(segment)
            parts.append(stub(layout, segment.message))
            continue
        parts.append(segment.data)
        rescue.report.kept += segment.outcome in _READABLE
        rescue.report.mended += segment.outcome is SegmentOutcome.MENDED
        if segment.outcome in _READABLE:
            rescue.ids.add(segment.message)
    rescue.loose += rebuilt.unnumbered
    rescue.pages[number] = b"".join(parts)
    rescue.report.losses += [Loss(name, segment.start, segment.end, segment.detail) for segment in rebuilt.lost]


def _uncounted(segment: PageSegment, page: int, journal: MessageJournal | None) -> bool:
    """A queue finished the page when it could not see this record, and nobody acknowledged it."""
    if journal is None or segment.number is None:
        return False
    counts = [
        min(seen) for queue in segment.queues if (seen := journal.complete_index.numbers(queue, page))
    ]  # fmt: skip
    acked = any(journal.ack_index.has(queue, page, segment.number) for queue in segment.queues)
    return not acked and any(segment.number >= count for count in counts)


def _put_aside(path: Path, layout: Layout, rescue: SalvagePlan) -> None:
    """Every queue was done with what the broker could read of it; the rest was never delivered."""
    with MappedFile(path) as file:
        rebuilt = rebuild(file.buf, layout)
    rescue.last = max(rescue.last, _number_of(path.name))
    rescue.report.damaged.append(path.name)
    unread = False
    for segment in rebuilt.segments:
        unread |= segment.outcome is not SegmentOutcome.WHOLE
        if unread and segment.outcome in _READABLE:
            rescue.loose.append(segment)
    rescue.report.losses += [Loss(path.name, segment.start, segment.end, segment.detail) for segment in rebuilt.lost]
