"""Writing what salvage found: a store folder that is ready to take the place of the damaged one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pagefmt.bytes.files import MappedFile
from pagefmt.bytes.writing import Disk
from pagefmt.pages.paging import ADDRESS_FILE, Store, page_name
from pagefmt.salvage.store import SalvagedStore, SalvagePlan

PAGE_SIZE: Final = 10 << 20
"""New pages are no larger than the broker's default, unless one record is."""


def write(rescue: SalvagePlan, source: Store | None, out: Path, disk: Disk) -> SalvagedStore:
    """``out/<folder>``: the whole store. ``source``: the folder that it was."""
    report = rescue.report
    folder = out / report.folder
    disk.make_folder(folder)
    if source is not None and source.address is not None:
        _copy(source.folder / ADDRESS_FILE, folder / ADDRESS_FILE, disk)
    elif report.address is not None:
        disk.create(folder / ADDRESS_FILE, [report.address.encode() + b"\n"])
    for number, content in rescue.pages.items():
        if isinstance(content, bytes):
            disk.create(folder / page_name(number), [content])
        else:
            _copy(content, folder / page_name(number), disk)
    _write_new(rescue, folder, disk)
    return report


def copy_store(source: Store, out: Path, disk: Disk) -> None:
    """A store that needs nothing: its address and its pages, as they are."""
    folder = out / source.name
    disk.make_folder(folder)
    if source.address is not None:
        _copy(source.folder / ADDRESS_FILE, folder / ADDRESS_FILE, disk)
    for page in source.pages:
        _copy(page.path, folder / page.name, disk)


def _copy(path: Path, to: Path, disk: Disk) -> None:
    with MappedFile(path) as file:
        disk.create(to, [file.buf])


def _write_new(rescue: SalvagePlan, folder: Path, disk: Disk) -> None:
    """Pages behind the last one: what lay behind damage first, then whole files."""
    for content in _filled(_fresh(rescue)):
        disk.create(_next(rescue, folder), [content])
    for path in rescue.moved:
        _copy(path, _next(rescue, folder), disk)


def _next(rescue: SalvagePlan, folder: Path) -> Path:
    rescue.last += 1
    rescue.report.new_pages.append(page_name(rescue.last))
    return folder / page_name(rescue.last)


def _fresh(rescue: SalvagePlan) -> Iterator[bytes]:
    for segment in rescue.loose:
        if segment.message in rescue.ids:
            rescue.report.repeated += 1
            continue
        rescue.ids.add(segment.message)
        rescue.report.rescued += 1
        yield segment.data


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
