"""Data directories broken in the ways that keep a broker from starting, or make it lose what is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from page_damage import queues_of, spans

from pagefmt.change.salvage.quick_check import proves_sound
from pagefmt.codec.pages.routes import routed_exactly
from pagefmt.directory.locate import within
from pagefmt.journal.files import HEADER, Journal
from pagefmt.journal.listing import list_files
from pagefmt.journal.load import load_journal
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import RecordKind
from pagefmt.journal.scan import scan


class NotHere(Exception):
    """The directory has nothing that could be broken so."""


def _pages(data: Path) -> list[Path]:
    """Return the pages of more than two records, from the store that has most of them."""
    stores = [
        [path for path in sorted(store.glob("*.page")) if len(spans(path)) > 2] for store in data.glob("*paging/*")
    ]
    found = max(stores, key=len, default=[])
    if not found:
        raise NotHere
    return found


def _middle(data: Path) -> Path:
    """Return a page in the middle, because a cut last page looks like one that a crash left."""
    pages = _pages(data)
    if len(pages) < 2:
        raise NotHere
    return pages[(len(pages) - 1) // 2]


def _put(path: Path, at: int, new: bytes) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + len(new)] = new
    path.write_bytes(bytes(content))


def _journal(data: Path, kind: Journal) -> tuple[Path, list[tuple[int, int]]]:
    """Return the journal file with the most records, and start and end of each record."""
    place = within(data)
    folder = place.journal if kind is Journal.MESSAGES else place.bindings
    assert folder is not None
    found: tuple[Path, list[tuple[int, int]]] | None = None
    for file in list_files(folder, kind).files:
        records = [(frame.at, frame.at + frame.total) for frame in scan(file.path.read_bytes(), file.header)]
        if found is None or len(records) > len(found[1]):
            found = file.path, records
    if found is None or len(found[1]) < 3:
        raise NotHere
    return found


def _cut_page(data: Path) -> None:
    path = _middle(data)
    path.write_bytes(path.read_bytes()[: spans(path)[1][1] + 9])


def _cut_last_page(data: Path) -> None:
    path = _pages(data)[-1]
    path.write_bytes(path.read_bytes()[:-9])


def _zero_page(data: Path) -> None:
    path = _middle(data)
    start, end, _ = spans(path)[1]
    _put(path, start, bytes(end - start))


def _noise(data: Path) -> None:
    _middle(data).write_bytes(b"This is not a page.\n" * 20)


def _empty_page(data: Path) -> None:
    _middle(data).write_bytes(b"")


def _without_properties(data: Path) -> None:
    """Make a message's properties invalid, so that brokers read the record and stop when they deliver it."""
    path = _middle(data)
    for start, end, _ in spans(path)[1:]:
        record = path.read_bytes()[start:end]
        if record[13:15] != b"\0\1":
            continue  # no core message of 2.x
        for at in (record.rfind(b"\0\0\0" + bytes([size]) + b"\0") for size in range(2, 60, 2)):
            changed = record[:at] + b"\x20" + record[at + 1 :]
            if at > 60 and not proves_sound(changed, 0, len(record) - 6) and routed_exactly(changed, 0):
                _put(path, start, changed)
                return
    raise NotHere


def queue_twice(data: Path) -> None:
    """Repeat the queues in the last record of a page, which is no damage."""
    path = _middle(data)
    start, end, _ = spans(path)[-1]
    record = path.read_bytes()[start:end]
    count = queues_of(record)
    queues = record[-1 - 8 * count : -1]
    payload = record[5 : -5 - 8 * count] + (2 * count).to_bytes(4, "big") + queues + queues
    path.write_bytes(path.read_bytes()[:start] + b"{" + len(payload).to_bytes(4, "big") + payload + b"}")


def linked_page(data: Path) -> None:
    """Replace a page by a link, which a broker follows and pagectl reports."""
    path = _middle(data)
    path.symlink_to(shutil.move(path, data.parent / "elsewhere.page"))


def _another_name(data: Path) -> None:
    path = _middle(data)
    path.rename(path.with_name(f"{int(path.stem)}.page"))


def _first_gone(data: Path) -> None:
    _pages(data)[0].unlink()


def _of_no_type(kind: Journal) -> Callable[[Path], None]:
    """Return a function that gives a nonexistent type to the first record that a broker loads."""

    def change(data: Path) -> None:
        place = within(data)
        folder = place.journal if kind is Journal.MESSAGES else place.bindings
        assert folder is not None
        loaded = load_journal(folder, kind)
        ids = {loaded.columns.ids[row] for row in loaded.rows}
        for file in loaded.files:
            for frame in scan(file.path.read_bytes(), file.header):
                if frame.kind in (RecordKind.ADD, RecordKind.ADD_TX) and frame.id in ids:
                    _put(file.path, frame.body - 1, b"\x63")
                    return
        raise NotHere

    return change


def _put_aside(data: Path) -> None:
    """Damage the first record and rename the page, as a broker does with a page that it cannot read."""
    path = _middle(data)
    _put(path, spans(path)[0][0], b"?")
    path.rename(path.with_name(path.name + ".invalidPage"))


def _undecodable_last(data: Path) -> None:
    path = _pages(data)[-1]
    start, end, _ = spans(path)[1]
    _put(path, end - 5 - 8 * queues_of(path.read_bytes()[start:end]), b"\xff" * 4)


def _bad_name(data: Path) -> None:
    path = _middle(data)
    shutil.copy(path, path.with_name("extra.page"))


def _address(text: bytes | None) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        path = _middle(data).parent / "address.txt"
        if text is None:
            path.unlink()
        else:
            path.write_bytes(text)

    return change


def _emptied(kind: Journal, *, folder: bool = False) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        place = within(data)
        root = place.journal if kind is Journal.MESSAGES else place.bindings
        assert root is not None
        for path in root.iterdir():
            if path.name.endswith(kind.value):
                path.unlink()
        if folder:
            shutil.rmtree(root)

    return change


def _main_gone(data: Path) -> None:
    _journal(data, Journal.MESSAGES)[0].unlink()


def _header(kind: Journal, new: bytes) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        _put(_journal(data, kind)[0], 0, new)

    return change


def _cut(kind: Journal) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        path, records = _journal(data, kind)
        path.write_bytes(path.read_bytes()[: records[len(records) * 2 // 3][1] - 5])

    return change


def _cut_to(kind: Journal, size: int) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        path, _ = _journal(data, kind)
        path.write_bytes(path.read_bytes()[:size])

    return change


def _flipped(kind: Journal) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        path, records = _journal(data, kind)
        end = records[len(records) // 2][1]
        _put(path, end - 2, b"\x7f\x7f")

    return change


def _sector(kind: Journal) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        path, records = _journal(data, kind)
        at = records[len(records) // 3][0]
        if at + 512 >= records[-1][0]:
            raise NotHere
        _put(path, at, bytes(512))

    return change


def _bad_message(data: Path) -> None:
    """Give a journal message an unknown persister, or if it is of an old format, a body offset out of range."""
    place = within(data)
    assert place.journal is not None
    loaded = load_journal(place.journal)
    rows = [*loaded.rows_of(RecordType.ADD_MESSAGE_PROTOCOL), *loaded.rows_of(RecordType.ADD_MESSAGE)]
    if not rows:
        raise NotHere
    columns = loaded.columns
    new = b"\x09" if columns.types[rows[0]] == RecordType.ADD_MESSAGE_PROTOCOL else b"\x7f\xff\xff\xff"
    _put(columns.file_of(rows[0]).path, columns.places[rows[0]], new)


def _short(data: Path) -> None:
    path, _ = _journal(data, Journal.MESSAGES)
    path.write_bytes(b"")


def _bodies(empty: bool) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        found = list(data.glob("*large*/*.msg"))
        if not found:
            raise NotHere
        for path in found:
            if empty:
                path.write_bytes(b"")
            else:
                path.unlink()

    return change


def _leftovers(data: Path) -> None:
    path, _ = _journal(data, Journal.MESSAGES)
    path.with_name("journal-rename-control.ctr").write_bytes(b"\0" * 100)
    path.with_name(path.name + ".cmp").write_bytes(path.read_bytes()[: 1 << 12])
    _put(path, 0, bytes(HEADER.size))


def _several(data: Path) -> None:
    _cut_page(data)
    _header(Journal.MESSAGES, bytes(HEADER.size))(data)
    _emptied(Journal.BINDINGS)(data)


def _everything(data: Path) -> None:
    _undecodable_last(data)
    _address(None)(data)
    _emptied(Journal.BINDINGS, folder=True)(data)
    _emptied(Journal.MESSAGES, folder=True)(data)


MESSAGES, BINDINGS = Journal.MESSAGES, Journal.BINDINGS
BREAKS: dict[str, Callable[[Path], None]] = {
    "page cut": _cut_page,
    "last page cut": _cut_last_page,
    "record of a page zeroed": _zero_page,
    "page of noise": _noise,
    "page empty": _empty_page,
    "page put aside": _put_aside,
    "last page undecodable": _undecodable_last,
    "page with a bad name": _bad_name,
    "no address.txt": _address(None),
    "empty address.txt": _address(b""),
    "wrong address.txt": _address(b"nowhere\n"),
    "no journal files": _emptied(MESSAGES),
    "no journal folder": _emptied(MESSAGES, folder=True),
    "main journal file gone": _main_gone,
    "journal file empty": _short,
    "journal header zeroed": _header(MESSAGES, bytes(HEADER.size)),
    "journal format unknown": _header(MESSAGES, b"\0\0\0\x63"),
    "journal file id flipped": _header(MESSAGES, b"\0\0\0\x02\0\0\0\0\x40"),
    "journal cut": _cut(MESSAGES),
    "journal record flipped": _flipped(MESSAGES),
    "journal sector zeroed": _sector(MESSAGES),
    "journal message undecodable": _bad_message,
    "leftover compaction": _leftovers,
    "no bindings files": _emptied(BINDINGS),
    "no bindings folder": _emptied(BINDINGS, folder=True),
    "bindings header zeroed": _header(BINDINGS, bytes(HEADER.size)),
    "bindings cut": _cut(BINDINGS),
    "bindings record flipped": _flipped(BINDINGS),
    "large bodies missing": _bodies(empty=False),
    "large bodies empty": _bodies(empty=True),
    "properties undecodable": _without_properties,
    "page under another name": _another_name,
    "first page gone": _first_gone,
    "journal record of no type": _of_no_type(MESSAGES),
    "bindings record of no type": _of_no_type(BINDINGS),
    "journal cut to its header": _cut_to(MESSAGES, HEADER.size),
    "several": _several,
    "everything": _everything,
}
OTHER_BROKER = "bindings of another broker"


def broken(original: Path, way: str, to: Path, other: Path | None = None) -> Path:
    """Copy a data directory and break it in one way, or replace its bindings by those of the directory ``other``.

    Raises:
        NotHere: The directory has nothing to break in this way.
    """
    shutil.copytree(original, to)
    if way == OTHER_BROKER:
        assert other is not None
        mine, theirs = within(to).bindings, within(other).bindings
        assert mine is not None and theirs is not None
        shutil.rmtree(mine)
        shutil.copytree(theirs, mine)
    else:
        BREAKS[way](to)
    return to
