"""Writing what salvage found: a store folder that is ready to take the place of the damaged one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pagefmt.bytes.files import MappedFile
from pagefmt.bytes.writing import RealDisk
from pagefmt.pages.paging import ADDRESS_FILE, Store, page_name
from pagefmt.salvage.store import CannotSalvage, SalvagedStore, SalvagePlan

PAGE_SIZE: Final = 10 << 20
"""New pages are no larger than the broker's default, unless one record is."""


def write(rescue: SalvagePlan, source: Store | None, out: Path) -> SalvagedStore:
    """``out/<folder>``: the whole store. ``source``: the folder that it was."""
    report, disk = rescue.report, RealDisk()
    folder = out / report.folder
    folder.mkdir(parents=True)
    if source is not None and source.address is not None:
        shutil.copyfile(source.folder / ADDRESS_FILE, folder / ADDRESS_FILE)
    elif report.address is not None:
        disk.create(folder / ADDRESS_FILE, [report.address.encode() + b"\n"])
    for number, content in rescue.pages.items():
        if isinstance(content, bytes):
            disk.create(folder / page_name(number), [content])
        else:
            _copy(content, folder / page_name(number), disk)
    _write_new(rescue, folder, disk)
    disk.sync_folder(folder)
    return report


def copy_store(source: Store, out: Path) -> None:
    """A store that needs nothing: its address and its pages, as they are."""
    disk, folder = RealDisk(), out / source.name
    folder.mkdir(parents=True)
    if source.address is not None:
        shutil.copyfile(source.folder / ADDRESS_FILE, folder / ADDRESS_FILE)
    for page in source.pages:
        _copy(page.path, folder / page.name, disk)
    disk.sync_folder(folder)


def _copy(path: Path, to: Path, disk: RealDisk) -> None:
    with MappedFile(path) as file:
        disk.create(to, [file.buf])


def _write_new(rescue: SalvagePlan, folder: Path, disk: RealDisk) -> None:
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


def check_target(out: Path, sources: list[Path]) -> None:
    """Raises ``CannotSalvage``: never into a folder that is there, or into what is being read."""
    if out.exists():
        raise CannotSalvage(f"{out}: exists already; name a folder that does not")
    for source in sources:
        if out.absolute().is_relative_to(source.resolve()):
            raise CannotSalvage(f"{out}: lies inside {source}; name a folder elsewhere")
