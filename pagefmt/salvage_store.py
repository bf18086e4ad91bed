"""Salvage of a store folder, or of one page: into pages that a broker loads, with a report of what was lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pagefmt.compaction.disk_steps import RealDisk
from pagefmt.compaction.stubs import stub
from pagefmt.disk import MappedFile
from pagefmt.errors import PageFmtError
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.page import open_page
from pagefmt.paging import ADDRESS_FILE, EntryKind, PageFile, Store, page_name, read_store
from pagefmt.record import Layout, decode_record
from pagefmt.salvage import Fortune, Piece, Rebuilt, rebuild

PAGE_SIZE: Final = 10 << 20
"""New pages are no larger than the broker's default, unless one record is."""
_STANDS: Final = (Fortune.WHOLE, Fortune.MENDED)


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
class Salvaged:
    """``kept``: records that stay where they are, ``mended`` of them with a mark or length put right; ``rescued``:
    those moved to new pages; ``repeated``: left out because the store has their message id elsewhere."""

    folder: str
    address: str | None
    damaged: list[str] = field(default_factory=list)
    kept: int = 0
    mended: int = 0
    rescued: int = 0
    repeated: int = 0
    new_pages: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)


@dataclass(slots=True)
class Rescue:
    """What to write: pages by number, and records for new pages. ``last``: no number up to it may be used."""

    report: Salvaged
    pages: dict[int, bytes | None] = field(default_factory=dict)
    loose: list[Piece] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)
    last: int = 0


def salvage_store(store: Store, journal: MessageJournal | None, layout: Layout, queues: set[int]) -> Rescue | None:
    """``None`` where nothing is damaged. ``queues``: of the address; pages that their records name are not reused."""
    rescue = Rescue(Salvaged(store.name, store.address))
    for page in store.pages:
        _page(page, journal, layout, rescue)
    for entry in store.others:
        if entry.kind is EntryKind.PUT_ASIDE:
            _put_aside(store.folder / entry.name, layout, rescue)
    if not rescue.report.damaged:
        return None
    if journal is not None:
        indexes = (journal.ack_index, journal.complete_index)
        named = (page for index in indexes for queue, page in index.pages() if queue in queues)
        rescue.last = max(rescue.last, max(named, default=0))
    if rescue.report.address is None:
        rescue.report.address = _address_of(rescue)
    return rescue


def salvage_page(path: Path, layout: Layout) -> Rescue:
    """One page file by itself, without a journal: numbers are kept where they are sure."""
    rescue = Rescue(Salvaged(path.parent.name, None))
    number = _number_of(path.name)
    with MappedFile(path) as file:
        rebuilt = rebuild(file.buf, layout)
    rescue.report.damaged.append(path.name)
    _take(rebuilt, path.name, number, layout, rescue, None)
    rescue.report.address = read_store(path.parent).address or _address_of(rescue)
    return rescue


def _number_of(name: str) -> int:
    digits = name.partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and 0 < int(digits) < 1 << 31 else 1


def _page(page: PageFile, journal: MessageJournal | None, layout: Layout, rescue: Rescue) -> None:
    rescue.last = max(rescue.last, page.number)
    with open_page(page.path) as opened:
        routes = list(opened.routes())
        sound = opened.damage is None and opened.odd is None
    if sound:
        rescue.ids.update(route[5] for route in routes)
        rescue.report.kept += len(routes)
        rescue.pages[page.number] = None
        return
    rescue.report.damaged.append(page.name)
    with MappedFile(page.path) as file:
        _take(rebuild(file.buf, layout), page.name, page.number, layout, rescue, journal)


def _take(
    rebuilt: Rebuilt, name: str, number: int, layout: Layout, rescue: Rescue, journal: MessageJournal | None
) -> None:
    """Numbered records stay in their page; the others, and those that nobody counted, become loose."""
    rescue.last = max(rescue.last, number)
    parts = []
    for piece in rebuilt.numbered:
        if piece.fortune in _STANDS and _uncounted(piece, number, journal):
            rescue.loose.append(piece)
            parts.append(stub(layout, piece.message))
            continue
        parts.append(piece.data)
        rescue.report.kept += piece.fortune in _STANDS
        rescue.report.mended += piece.fortune is Fortune.MENDED
        if piece.fortune in _STANDS:
            rescue.ids.add(piece.message)
    rescue.loose += rebuilt.unnumbered
    rescue.pages[number] = b"".join(parts)
    rescue.report.losses += [Loss(name, piece.start, piece.end, piece.detail) for piece in rebuilt.lost]


def _uncounted(piece: Piece, page: int, journal: MessageJournal | None) -> bool:
    """A queue finished the page when it could not see this record, and nobody acknowledged it."""
    if journal is None or piece.number is None:
        return False
    counts = [
        min(seen) for queue in piece.queues if (seen := journal.complete_index.numbers(queue, page))
    ]  # fmt: skip
    acked = any(journal.ack_index.has(queue, page, piece.number) for queue in piece.queues)
    return not acked and any(piece.number >= count for count in counts)


def _put_aside(path: Path, layout: Layout, rescue: Rescue) -> None:
    """Every queue was done with what the broker could read of it; the rest was never delivered."""
    with MappedFile(path) as file:
        rebuilt = rebuild(file.buf, layout)
    rescue.last = max(rescue.last, _number_of(path.name))
    rescue.report.damaged.append(path.name)
    unread = False
    for piece in rebuilt.pieces:
        unread |= piece.fortune is not Fortune.WHOLE
        if unread and piece.fortune in _STANDS:
            rescue.loose.append(piece)
    rescue.report.losses += [Loss(path.name, piece.start, piece.end, piece.detail) for piece in rebuilt.lost]


def _address_of(rescue: Rescue) -> str | None:
    """The address that the records themselves name, if it is one."""
    named = set()
    for data in [*rescue.pages.values(), *(piece.data for piece in rescue.loose)]:
        if data:
            length = int.from_bytes(data[1:5], "big")
            address = getattr(decode_record(data, 0, length).message, "address", None)
            if address is not None:
                named.add(address)
    return named.pop() if len(named) == 1 else None


def write(rescue: Rescue, source: Path | None, out: Path) -> Salvaged:
    """``out/<folder>``: the whole store, ready to take the place of the damaged one. ``source``: the folder it was."""
    report, disk = rescue.report, RealDisk()
    folder = out / report.folder
    folder.mkdir(parents=True)
    if source is not None and (source / ADDRESS_FILE).is_file() and read_store(source).address is not None:
        shutil.copyfile(source / ADDRESS_FILE, folder / ADDRESS_FILE)
    elif report.address is not None:
        disk.create(folder / ADDRESS_FILE, [report.address.encode() + b"\n"])
    for number, content in rescue.pages.items():
        target = folder / page_name(number)
        if content is not None:
            disk.create(target, [content])
        elif source is not None:
            with MappedFile(source / page_name(number)) as file:
                disk.create(target, [file.buf])
    _write_loose(rescue, folder, disk)
    disk.sync_folder(folder)
    return report


def _write_loose(rescue: Rescue, folder: Path, disk: RealDisk) -> None:
    for content in _filled(_fresh(rescue)):
        rescue.last += 1
        disk.create(folder / page_name(rescue.last), [content])
        rescue.report.new_pages.append(page_name(rescue.last))


def _fresh(rescue: Rescue) -> Iterator[bytes]:
    for piece in rescue.loose:
        if piece.message in rescue.ids:
            rescue.report.repeated += 1
            continue
        rescue.ids.add(piece.message)
        rescue.report.rescued += 1
        yield piece.data


def _filled(records: Iterator[bytes]) -> Iterator[bytes]:
    page: list[bytes] = []
    size = 0
    for record in records:
        if page and size + len(record) > PAGE_SIZE:
            yield b"".join(page)
            page, size = [], 0
        page.append(record)
        size += len(record)
    if page:
        yield b"".join(page)


def check_target(out: Path, sources: list[Path]) -> None:
    """Raises ``CannotSalvage``: never into a folder that is there, or into what is being read."""
    if out.exists():
        raise CannotSalvage(f"{out}: exists already; name a folder that does not")
    for source in sources:
        if out.absolute().is_relative_to(source.resolve()):
            raise CannotSalvage(f"{out}: lies inside {source}; name a folder elsewhere")
