"""The backup of ``--in-place``: hard links to the replaced files, and a list of what replaced them.

Files of a journal count together: old and new ones change places by a control file, as a broker's own compaction
leaves it (docs/spec/journal.md 4), forth and back.

``<backup>/list.jsonl``: first a line with the owner (directories, node id), and with size and CRC-32C of the journal
files. Then a line for each file, written and synced before the file is touched:
``{"root", "path", "old": [size, crc32c], "new": [size, crc32c]}``, either of them null where there is no such file, the
path relative to one of the four directories. A line ``{"discarding": true}``: the backup is being dropped;
``"restored"``: as everything was put back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pagefmt.directory.locks import node_id
from pagefmt.errors import PageFmtError
from pagefmt.journal.compaction_files import CONTROL_FILE, UNFINISHED, RenameControl, encode_control, read_control
from pagefmt.storage.files import NotReadable, file_pieces, open_stream
from pagefmt.storage.writing import NEW_SUFFIX, Disk, refuse_links

LIST: Final = "list.jsonl"
NAME: Final = "pagectl-backup"
JOURNALS: Final = frozenset(("journal", "bindings"))

SizeAndSum = tuple[int, int]  # size in bytes and CRC-32C of a file


class BackupError(PageFmtError):
    """The backup is damaged, belongs to another broker, or cannot be restored."""


class BackupStands(BackupError):
    """A backup exists, which must be dropped first, or restored if it ``can_be_restored``."""

    def __init__(self, message: str, *, can_be_restored: bool) -> None:
        super().__init__(message)
        self.can_be_restored = can_be_restored


def sum_of(path: Path) -> SizeAndSum:
    """Return size and CRC-32C of a file. Raise ``NotReadable``."""
    from crc32c import crc32c

    size = crc = 0
    for piece in file_pieces(path):
        size, crc = size + len(piece), crc32c(piece, crc)
    return size, crc


def sum_of_buffer(buf: bytes | memoryview) -> SizeAndSum:
    """Return size and CRC-32C of bytes in memory."""
    from crc32c import crc32c

    return len(buf), crc32c(buf)


@dataclass(frozen=True, slots=True)
class BackupOwner:
    """The broker that a backup belongs to: directories by name, node id if known, and the path of the backup."""

    directories: dict[str, str]
    folder: str
    node: str | None

    def is_same(self, other: BackupOwner) -> bool:
        """Return whether both are one broker, also if its directories were moved, alone or with the backup.

        Directories that were moved are recognised by the node id. A copy has the same one, so the directories that the
        backup names must be gone.
        """
        if self.node and other.node and self.node != other.node:
            return False
        common = self.directories.keys() & other.directories.keys()
        same_paths = all(self.directories[name] == other.directories[name] for name in common)
        same_relative_paths = all(self._relative(name) == other._relative(name) for name in common)
        if common and (same_paths or same_relative_paths):
            return True
        gone = not any(os.path.lexists(folder) for folder in self.directories.values())
        return gone and self.node is not None and self.node == other.node

    def _relative(self, name: str) -> str:
        return os.path.relpath(self.directories[name], self.folder)

    def __str__(self) -> str:
        node = f" (node {self.node})" if self.node else ""
        return f"{self.directories.get('paging', min(self.directories.values(), default='?'))}{node}"


def owner_of(folder: Path, roots: dict[str, Path]) -> BackupOwner:
    """Return the broker with these directories as the owner of a backup in ``folder``."""
    directories = {name: str(root.resolve()) for name, root in roots.items()}
    return BackupOwner(directories, str(folder.resolve()), node_id(roots.get("journal")))


class ChecksumStream:
    """An iterator over parts; ``total`` is size and CRC-32C of those already yielded."""

    __slots__ = ("_parts", "total")

    def __init__(self, parts: Iterable[bytes | memoryview]) -> None:
        self._parts = parts
        self.total: SizeAndSum = (0, 0)

    def __iter__(self) -> Iterator[bytes | memoryview]:
        from crc32c import crc32c

        size = crc = 0
        for part in self._parts:
            size += len(part)
            crc = crc32c(part, crc)
            self.total = (size, crc)
            yield part


@dataclass(slots=True)
class BackupEntry:
    """One file that was replaced, removed (``new`` ``None``) or made (``old`` ``None``)."""

    root: str
    path: str
    old: SizeAndSum | None
    new: SizeAndSum | None


@dataclass(slots=True)
class Backup:
    """The old files of an in-place compaction, for restoring them.

    ``roots``: the directories by name. ``journals``: size and checksum of the journal files before, by root and name.
    """

    folder: Path
    roots: dict[str, Path]
    journals: dict[str, SizeAndSum]
    entries: dict[tuple[str, str], BackupEntry] = field(default_factory=dict)
    discarding: bool = False
    restored: bool = False

    @property
    def changed(self) -> list[str]:
        """Return the names of the directories in which files were replaced; ``paging`` if there are no entries yet."""
        return sorted({entry.root for entry in self.entries.values()}) or sorted({*self.roots} & {"paging"})

    def written(self, disk: Disk) -> AbstractContextManager[None]:
        """Return a context in which the backup and the directories may be changed."""
        return disk.below(*self.roots.values(), self.folder.parent)

    def copy_of(self, entry: BackupEntry) -> Path:
        """Return the path of an entry's old file within the backup."""
        return self.folder / entry.root / entry.path

    def original_of(self, entry: BackupEntry) -> Path:
        """Return the path of an entry's file within the data directory."""
        return self.roots[entry.root] / entry.path

    def keep(self, disk: Disk, path: Path, old: SizeAndSum, new: SizeAndSum | None) -> None:
        """Keep a file that is about to be replaced. An older keep of the same file stays: it is the original."""
        root, relative = self._root_and_path(path)
        before = self.entries.get((root, relative))
        entry = BackupEntry(root, relative, before.old if before else old, new)
        kept = self.copy_of(entry)
        if kept.exists() and sum_of(kept) != entry.old:  # of a run that was cut off while it copied
            disk.remove(kept)
        if not kept.exists():
            disk.make_folder(kept.parent)
            disk.link(path, kept)
            disk.sync_folder(kept.parent)
        self._listed(disk, entry)

    def made(self, disk: Disk, path: Path, new: SizeAndSum) -> None:
        """Note a file that is about to be made, and was not there before."""
        self._listed(disk, BackupEntry(*self._root_and_path(path), None, new))

    def _root_and_path(self, path: Path) -> tuple[str, str]:
        root = next(name for name, folder in self.roots.items() if path.is_relative_to(folder))
        return root, path.relative_to(self.roots[root]).as_posix()

    def _listed(self, disk: Disk, entry: BackupEntry) -> None:
        line = {"root": entry.root, "path": entry.path, "old": entry.old, "new": entry.new}
        disk.append(self.folder / LIST, _line(line))
        self.entries[entry.root, entry.path] = entry


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def new_backup(disk: Disk, folder: Path, roots: dict[str, Path], journals: dict[str, SizeAndSum]) -> Backup:
    """Return an empty backup whose list is written and synced before any data changes."""
    with disk.below(folder.parent):
        disk.make_folder(folder)
        head = {"schema": 1, "journals": journals, "owner": asdict(owner_of(folder, roots))}
        disk.write(folder / LIST, [_line(head)])
    return Backup(folder, roots, journals)


def read_backup(folder: Path, roots: dict[str, Path]) -> Backup:
    """Return the backup in ``folder`` of the broker with these directories.

    Raises ``BackupError``, also if the backup is another broker's, and ``LinkRefused``. A line that was cut off is one
    that nothing was done for yet.
    """
    try:
        refuse_links(folder)
        if emptied(folder):
            if not _is_usual_place(folder, roots) and not any(folder.iterdir()):
                raise BackupError(f"{folder}: is empty, so it is no backup; remove it if nothing needs it")
            return Backup(folder, roots, {}, discarding=True, restored=True)
        with open_stream(folder / LIST) as file:
            text, *lines = file.read().split(b"\n")
        head = json.loads(text)
        journals = {name: (int(size), int(crc)) for name, (size, crc) in head["journals"].items()}
        backup = Backup(folder, roots, journals)
        for line in lines:
            value = _whole(line)
            if value is not None:
                _take_line(backup, value)
        if "owner" in head:
            _refuse_other_owner(folder, _owner(head["owner"]), owner_of(folder, roots))
        elif not _is_usual_place(folder, roots) and not _has_files_of(backup):
            raise BackupError(
                f"{folder}: does not say whose backup it is, and none of its files is one of "
                f"{owner_of(folder, roots)}; name its broker, or remove the folder if nothing needs it"
            )
    except (OSError, NotReadable, ValueError, KeyError, TypeError, IndexError, AttributeError) as err:
        raise BackupError(f"{folder}: not a backup of pagectl, or its {LIST} cannot be read: {err}") from err
    return backup


def _owner(value: dict[str, Any]) -> BackupOwner:
    directories = {str(name): str(folder) for name, folder in value["directories"].items()}
    return BackupOwner(directories, str(value["folder"]), None if value["node"] is None else str(value["node"]))


def _refuse_other_owner(folder: Path, owner: BackupOwner, current: BackupOwner) -> None:
    if not owner.is_same(current):
        raise BackupError(
            f"{folder}: is the backup of {owner}, not of {current}; name the directory of that broker, or another "
            "--backup-dir"
        )


def _is_usual_place(folder: Path, roots: dict[str, Path]) -> bool:
    """Return whether a folder is where a backup of these directories is made if no --backup-dir is given."""
    return folder.name == NAME and folder.resolve().parent in {root.resolve().parent for root in roots.values()}


def _has_files_of(backup: Backup) -> bool:
    """Return whether the files of the backup's list belong to its directories; older lists do not name their owner.

    The name of a store folder is unique. Journals of all brokers have the same names, so all of them have to be as the
    list says.
    """
    entries = backup.entries.values()
    if any(entry.root == "paging" and backup.original_of(entry).parent.is_dir() for entry in entries):
        return True
    sums: list[tuple[str, str, SizeAndSum | None, SizeAndSum | None]]
    sums = [(*name.partition("/")[::2], checksum, checksum) for name, checksum in backup.journals.items()]
    sums += [(entry.root, entry.path, entry.old, entry.new) for entry in entries]
    return bool(sums) and all(
        root in backup.roots and (sum_of(path) if (path := backup.roots[root] / name).is_file() else None) in (old, new)
        for root, name, old, new in sums
    )


def emptied(folder: Path) -> bool:
    """Return whether the folder contains no backup: a run stopped right after creating it, or while removing it."""
    return {path.name for path in folder.iterdir()} <= {LIST + NEW_SUFFIX}


def _whole(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _take_line(backup: Backup, value: dict[str, Any]) -> None:
    if value.get("discarding"):
        backup.discarding, backup.restored = True, bool(value.get("restored"))
        return
    root, path = str(value["root"]), str(value["path"])
    if root not in backup.roots or not path or Path(path).is_absolute() or ".." in Path(path).parts:
        raise ValueError(f"the path {path!r} leads out of the backup")
    backup.entries[root, path] = BackupEntry(root, path, _sum(value["old"]), _sum(value["new"]))


def _sum(value: Any) -> SizeAndSum | None:
    return None if value is None else (int(value[0]), int(value[1]))


def left_overs(paging: Path) -> list[Path]:
    """Return the unfinished new files that a stopped run left in the store folders, by folder and name."""
    folders = [folder for folder in sorted(paging.iterdir()) if folder.is_dir() and not folder.is_symlink()]
    return [
        path
        for folder in folders
        for path in sorted(folder.glob(f"*{NEW_SUFFIX}"))
        if path.is_file() and not path.is_symlink()
    ]


def check_still(backup: Backup) -> list[BackupEntry]:
    """Return the entries to restore. Raise ``BackupError`` if a broker or another process changed files since."""
    for name, checksum in backup.journals.items():
        root, _, file = name.partition("/")
        path = backup.roots.get(root, backup.folder) / file
        if not path.exists() or sum_of(path) != checksum:
            raise BackupStands(
                f"{path}: changed since the compaction, so a broker has run; old pages could deliver messages again",
                can_be_restored=False,
            )
    waiting = []
    for entry in backup.entries.values():
        original = backup.original_of(entry)
        now = sum_of(original) if original.exists() else None
        if now == entry.old:
            continue
        if now != entry.new:
            raise BackupError(f"{original}: changed since the compaction; nothing is restored")
        if entry.old is None:
            waiting.append(entry)
            continue
        if not backup.copy_of(entry).exists() or sum_of(backup.copy_of(entry)) != entry.old:
            raise BackupError(f"{backup.copy_of(entry)}: the kept file is missing or changed; nothing is restored")
        waiting.append(entry)
    return waiting


def restore(disk: Disk, backup: Backup) -> list[BackupEntry]:
    """Restore all files, large-message files before the pages that name them, then drop the backup.

    Return the restored entries. Raise ``BackupStands`` if the backup is already being dropped.
    """
    waiting: list[BackupEntry] = []
    if backup.discarding and not backup.restored:
        raise BackupStands(f"{backup.folder}: is half dropped", can_be_restored=False)
    for name in ("paging", *JOURNALS):
        if name in backup.roots:
            refuse_links(backup.roots[name].resolve())
    with backup.written(disk):
        witnesses = {name.partition("/")[0] for name in backup.journals}
        for name in sorted(JOURNALS & backup.roots.keys() - (witnesses - {*backup.changed})):
            settle_journal(disk, backup.roots[name])
        if not backup.discarding:
            waiting = sorted(check_still(backup), key=lambda entry: (entry.root == "paging", entry.path))
        for path in left_overs(backup.roots["paging"]) if "paging" in backup.roots else ():
            disk.remove(path)
        for name in sorted({entry.root for entry in waiting} & JOURNALS):
            _journal_back(disk, backup, [entry for entry in waiting if entry.root == name])
        for entry in waiting:
            if entry.root in JOURNALS:
                continue
            place = backup.original_of(entry)
            fresh = place.with_name(place.name + NEW_SUFFIX)
            disk.remove_left_over(fresh)
            disk.link(backup.copy_of(entry), fresh)
            disk.replace(fresh, place)
            disk.sync_folder(place.parent)
    discard(disk, backup, restored=True)
    return waiting


def _journal_back(disk: Disk, backup: Backup, entries: list[BackupEntry]) -> None:
    folder = backup.roots[entries[0].root]
    old = [entry for entry in entries if entry.old is not None]
    for entry in old:
        disk.link(backup.copy_of(entry), folder / (entry.path + UNFINISHED))
    switch_journal(disk, folder, [entry.path for entry in entries if entry.old is None], [entry.path for entry in old])


def switch_journal(disk: Disk, folder: Path, delete: list[str], finish: list[str]) -> None:
    """Replace files of a journal by synced new ones in the same folder, which have ``.cmp`` after their names.

    The control file makes this one step: if it is interrupted, a starting broker or ``settle_journal`` completes it.
    """
    disk.sync_folder(folder)
    control = RenameControl(tuple(delete), tuple(name + UNFINISHED for name in finish), ())
    disk.write(folder / CONTROL_FILE, [encode_control(control)], like=folder / (finish[0] + UNFINISHED))
    settle_journal(disk, folder)


def settle_journal(disk: Disk, folder: Path) -> None:
    """Complete a pending compaction of the journal as a starting broker does, and remove unfinished files."""
    control = folder / CONTROL_FILE
    disk.remove_left_over(control.with_name(control.name + NEW_SUFFIX))
    if disk.mode(control):
        pending = read_control(control)
        for name in pending.delete if pending else ():
            if disk.mode(_inside(folder, name)):
                disk.remove(folder / name)
        for old, new in pending.renames() if pending else ():
            if disk.mode(_inside(folder, old)):
                disk.replace(folder / old, _inside(folder, new))
        disk.sync_folder(folder)
        disk.remove(control)
    for path in sorted(folder.glob(f"*{UNFINISHED}")):
        disk.remove_left_over(path)
    disk.sync_folder(folder)


def _inside(folder: Path, name: str) -> Path:
    if "/" in name or name in ("", ".", ".."):
        raise BackupError(
            f"{folder / CONTROL_FILE}: names {name!r}, which is not in its folder; check the folder and remove the file"
        )
    return folder / name


def discard(disk: Disk, backup: Backup, *, restored: bool = False) -> int:
    """Drop the backup and return the bytes of the files that it kept.

    ``restored``: their contents are back in place.
    """
    freed = 0
    with backup.written(disk):
        if not emptied(backup.folder):
            disk.append(backup.folder / LIST, _line({"discarding": True, "restored": restored}))
        for root in sorted(backup.roots):
            freed += _remove_folder(disk, backup.folder / root)
        for path in sorted(backup.folder.glob(f"{LIST}*")):
            disk.remove(path)
        disk.remove_folder(backup.folder)
    return freed


def _remove_folder(disk: Disk, folder: Path) -> int:
    """Remove a folder of the backup with everything in it. Return the bytes of the removed files.

    This includes files that a stopped run created before their entry in the list.
    """
    freed = 0
    for parent, _, files in os.walk(folder, topdown=False):
        for name in files:
            path = Path(parent) / name
            freed += path.lstat().st_size
            disk.remove(path)
        disk.remove_folder(Path(parent))
    return freed
