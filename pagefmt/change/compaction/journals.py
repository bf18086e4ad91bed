"""Compaction of message journal, bindings and JMS journal: planned, and applied in place.

New files replace all old ones of a journal at once: they are written beside them with ``.cmp`` after their names, then
a control file says what is deleted and what is renamed (docs/spec/journal.md 4, 8.7). If the run is killed before that,
the old files count; after it, a starting broker of any edition, or the next run, carries it out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagefmt.change.compaction.apply import BACKUP_ELSEWHERE, COPY_ELSEWHERE, SPARE, check_room, device_of, unchanged
from pagefmt.change.compaction.backup import (
    LIST,
    Backup,
    BackupError,
    BackupStands,
    ChecksumStream,
    check_still,
    emptied,
    new_backup,
    read_backup,
    settle_journal,
    sum_of,
    switch_journal,
)
from pagefmt.change.compaction.planning import CannotCompact, roots_of
from pagefmt.directory.locate import DataLocation
from pagefmt.journal.compaction_files import UNFINISHED
from pagefmt.journal.damage import UNREAD
from pagefmt.journal.files import FileProblem, Journal, JournalFile, JournalListing
from pagefmt.journal.listing import BROKERS_NAME, list_files
from pagefmt.journal.load import LoadedJournal, load_journal
from pagefmt.journal.packing import PackedJournal, packed
from pagefmt.storage.file_snapshot import FileSnapshot, Fingerprint, fingerprint, take_snapshot
from pagefmt.storage.writing import Disk, refuse_links

JOURNALS: Final = (("journal", Journal.MESSAGES), ("bindings", Journal.BINDINGS), ("bindings", Journal.JMS))
UNSOUND: Final = UNREAD | {FileProblem.SAME_ID}
LARGEST_ID: Final = 1 << 62
_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class NewJournalFile:
    """A journal file that will be written. ``like``: the old file whose owner and rights it takes over."""

    name: str
    file_id: int
    like: Path
    number: int
    packed: PackedJournal

    def content(self) -> Iterator[bytes | memoryview]:
        """Yield the bytes of the file in blocks."""
        return self.packed.content(self.number, self.file_id)


@dataclass(frozen=True, slots=True)
class JournalPlan:
    """The compaction of one journal.

    ``made`` is empty if nothing would be freed, or if the journal is left alone, which ``why`` explains. ``seen``: its
    files with their fingerprints. ``remark``: describes damage.
    """

    root: str
    journal: Journal
    folder: Path
    loaded: LoadedJournal
    seen: tuple[tuple[JournalFile, Fingerprint], ...]
    made: tuple[NewJournalFile, ...]
    why: str | None = None
    remark: str | None = None

    @property
    def size(self) -> int:
        """Return the bytes of all its files."""
        return sum(file.size for file, _ in self.seen)

    @property
    def after(self) -> int:
        """Return the bytes of the new files; 0 if there are none."""
        return self.made[0].packed.total if self.made else 0

    @property
    def freed(self) -> int:
        """Return the bytes that the compaction frees."""
        return self.size - self.after if self.made else 0

    @property
    def records(self) -> int:
        """Return the number of records in all files, dead ones included."""
        return sum(scanned.records for _, scanned in self.loaded.torn)

    @property
    def live(self) -> int:
        """Return the number of records that remain, those of prepared transactions included."""
        return len(self.loaded.rows) + sum(
            len(branch.rows) + len(branch.deletes) + 1 for branch in self.loaded.prepared
        )


@dataclass(frozen=True, slots=True)
class JournalsPlan:
    """The compaction of all journals of a broker.

    ``roots``: its directories by name. ``sources``: all files, as they were before the plan.
    """

    roots: dict[str, Path]
    journals: tuple[JournalPlan, ...]
    sources: FileSnapshot

    @property
    def size(self) -> int:
        """Return the bytes of all journal files."""
        return sum(plan.size for plan in self.journals)

    @property
    def freed(self) -> int:
        """Return the bytes that the compaction of all journals frees."""
        return sum(plan.freed for plan in self.journals)

    @property
    def needs(self) -> int:
        """Return the bytes of free space needed while old and new files exist together."""
        return sum(plan.after for plan in self.journals)

    def needs_in(self, backup: Path) -> int:
        """Return the bytes of free space that a backup on another file system needs, with a reserve.

        0 for a backup on the same file system.
        """
        device = device_of(backup)
        apart = [plan for plan in self.journals if plan.made and device_of(plan.folder) != device]
        return sum(plan.size for plan in apart) + SPARE if apart else 0

    @property
    def remarks(self) -> list[str]:
        """Return a description of the damage in each damaged journal."""
        return [plan.remark for plan in self.journals if plan.remark is not None]

    @property
    def incomplete(self) -> bool:
        """Return whether a journal is damaged, and so left alone, or lost records earlier."""
        return any(plan.why or plan.remark for plan in self.journals)


@dataclass(frozen=True, slots=True)
class JournalFiles:
    """One journal as it was loaded."""

    root: str
    journal: Journal
    folder: Path
    loaded: LoadedJournal

    @property
    def name(self) -> str:
        """Return the name of the journal in lower case."""
        return self.journal.name.lower()


def _roots_read(place: DataLocation) -> dict[str, Path]:
    """Return the directories by name; of journal files by themselves only what was given, not bindings beside it."""
    roots = roots_of(place)
    if place.has_names_beside:
        roots.pop("bindings", None)
    return roots


def read_journals(place: DataLocation) -> list[JournalFiles]:
    """Return the journals that have files. Raise ``NotAJournal``."""
    roots = _roots_read(place)
    every = [
        JournalFiles(root, journal, roots[root], load_journal(roots[root], journal))
        for root, journal in JOURNALS
        if root in roots
    ]
    return [
        journal
        for journal in every
        if journal.loaded.files or (journal.loaded.notes and journal.journal is not Journal.JMS)
    ]


def listings(place: DataLocation) -> Iterator[JournalListing]:
    """Their files in load order, and what cannot be read of them."""
    roots = _roots_read(place)
    for root, journal in JOURNALS:
        if root in roots:
            yield list_files(roots[root], journal)


def freeable(journal: JournalFiles) -> int | None:
    """Return the bytes that a compaction frees; None if it leaves the journal alone."""
    try:
        plan = _plan(journal.root, journal.journal, journal.folder, journal.loaded)
    except CannotCompact:
        return None
    return None if plan.why else plan.freed


def plan_journals(place: DataLocation) -> JournalsPlan:
    """Read the journals and plan their compaction.

    Raises ``CannotCompact`` if the message journal is not sound, ``NotAJournal``.
    """
    if place.kind.is_journal:
        raise CannotCompact(f"{place.given}: {place.kind.value}; name the whole data directory or the instance")
    roots = roots_of(place)
    if "journal" not in roots and "bindings" not in roots:
        raise CannotCompact(f"{place.given}: no journal and no bindings; name the data directory or the instance")
    sources = take_snapshot(roots.values())
    try:
        plans = [_plan(files.root, files.journal, files.folder, files.loaded) for files in read_journals(place)]
    except CannotCompact as err:
        raise CannotCompact(f"{err}; resolve it first: {place.call('journal verify')}") from err
    return JournalsPlan(roots, tuple(plan for plan in plans if plan.seen or plan.why), sources)


def _plan(root: str, journal: Journal, folder: Path, loaded: LoadedJournal) -> JournalPlan:
    seen = tuple((file, fingerprint(file.path)) for file in loaded.files)
    why = _unsound(journal, folder, loaded)
    remark = f"{folder.name}: {loaded.damage.place}" if loaded.damage is not None and why is None else None
    new_files: tuple[NewJournalFile, ...] = ()
    if why is None and seen:
        new_files = tuple(_made(folder, packed(loaded)))
        if sum(file.size for file, _ in seen) <= new_files[0].packed.total:
            new_files = ()
    return JournalPlan(root, journal, folder, loaded, seen, new_files, why, remark)


def _unsound(journal: Journal, folder: Path, loaded: LoadedJournal) -> str | None:
    """Why it is left alone. Raises ``CannotCompact`` for the message journal."""
    note = next((note for note in loaded.notes if note.kind in UNSOUND and note.file.endswith(journal.value)), None)
    why = f"{note.file}: {note.kind.value}: {note.detail}" if note else None
    if why is None and loaded.files and len({_name(file) for file in loaded.files} - {None}) != 1:
        why = f"{loaded.files[0].name}: its name does not show which broker's files these are"
    if why is None and any(file.header.file_id >= LARGEST_ID for file in loaded.files):
        why = f"{loaded.files[-1].name}: no file id can follow {loaded.files[-1].header.file_id}"
    if why is None and journal is not Journal.MESSAGES and loaded.damage is not None:
        why = f"damaged: {loaded.damage.place}"
    if why is not None and journal is Journal.MESSAGES:
        raise CannotCompact(f"{folder}: {why}")
    return why


def _name(file: JournalFile) -> str | None:
    """Return the file's name with ``{}`` in place of its number, or None if no broker would name a file like this."""
    return _DIGITS.sub("{}", file.name) if BROKERS_NAME.fullmatch(file.name) else None


def _made(folder: Path, new: PackedJournal) -> Iterator[NewJournalFile]:
    """Yield the new files, with ids and names that no file has or had: a control file may be carried out twice."""
    files = new.loaded.files
    name = next(filter(None, map(_name, files)))
    used = [int(number) for path in folder.iterdir() for number in _DIGITS.findall(path.name)]
    first = max(file.header.file_id for file in files)
    first = max([first, *(number for number in used if number < LARGEST_ID)]) + 1
    for number in range(len(new.files)):
        yield NewJournalFile(name.format(first + number), first + number, files[0].path, number, new)


def settle(place: DataLocation, disk: Disk) -> None:
    """Finish what a compaction, a broker's or ours, was cut off with; the journals mean the same before and after."""
    for name, folder in roots_of(place).items():
        if name in ("journal", "bindings"):
            refuse_links(folder.resolve())
            with disk.below(folder):
                settle_journal(disk, folder)


def apply_journals(
    plan: JournalsPlan, disk: Disk, folder: Path | None, passed: Callable[[int], object] = lambda size: None
) -> None:
    """Compact the journals in place, with a backup in ``folder`` unless it is None.

    Raises ``CompactionStopped``, ``BackupError``, ``OSError``.
    """
    check_journals(plan, folder)
    with disk.below(*plan.roots.values()):
        backup = None if folder is None else _backup(plan, disk, folder)
        with backup.written(disk) if backup else nullcontext():
            for journal in plan.journals:
                if journal.made:
                    _replace(journal, disk, backup, passed)


def check_journals(plan: JournalsPlan, folder: Path | None) -> None:
    """Raise ``CompactionStopped`` or ``BackupError`` if the compaction, or its backup in ``folder``, has no room."""
    for journal in plan.journals:
        check_room(journal.folder, plan.needs + SPARE, COPY_ELSEWHERE)
    if folder is not None:
        if copied := plan.needs_in(folder):
            check_room(folder, copied, BACKUP_ELSEWHERE)
        standing_journal_backup(plan, folder)


def _replace(plan: JournalPlan, disk: Disk, backup: Backup | None, passed: Callable[[int], object]) -> None:
    for new in plan.made:
        content = ChecksumStream(new.content())
        fresh = plan.folder / (new.name + UNFINISHED)
        disk.create(fresh, content, like=new.like)
        disk.check_owner(fresh, new.like)
        if backup is not None:
            backup.made(disk, plan.folder / new.name, content.total)
        passed(new.packed.size)
    for file, _ in plan.seen if backup is not None else ():
        assert backup is not None
        backup.keep(disk, file.path.absolute(), sum_of(file.path), None)
    for file, seen in plan.seen:
        unchanged(file.path, seen)
    switch_journal(disk, plan.folder, [file.name for file, _ in plan.seen], [new.name for new in plan.made])


def standing_journal_backup(plan: JournalsPlan, folder: Path) -> Backup | None:
    """Return the backup that a stopped run of this compaction left, or None if the folder is absent or empty.

    Raises ``BackupStands`` if the folder contains another backup.
    """
    if not os.path.lexists(folder) or (not folder.is_symlink() and folder.is_dir() and emptied(folder)):
        return None
    backup = read_backup(folder, plan.roots)
    changed = {f"{journal.root}/{file.name}" for journal in plan.journals if journal.made for file, _ in journal.seen}
    try:
        fits = not backup.discarding and not changed & backup.journals.keys()
        check_still(backup)
    except BackupError:
        fits = False
    if not fits:
        raise BackupStands(
            f"{folder}: holds the backup of an earlier compaction; name another --backup-dir",
            can_be_restored=not backup.discarding,
        )
    return backup


def _backup(plan: JournalsPlan, disk: Disk, folder: Path) -> Backup:
    backup = standing_journal_backup(plan, folder)
    if backup is None:
        kept = [journal for journal in plan.journals if not journal.made]
        sums = {f"{journal.root}/{file.name}": sum_of(file.path) for journal in kept for file, _ in journal.seen}
        return new_backup(disk, folder, plan.roots, sums)
    with backup.written(disk):
        disk.append(folder / LIST, b"\n")  # ends a line that was cut off
    return backup


def copied(plan: JournalsPlan) -> tuple[dict[Path, None], list[tuple[str, NewJournalFile]]]:
    """Return the files that a copy leaves out, and the new files of each directory. Raise ``CannotCompact``."""
    for journal in plan.journals:
        if any(note.kind is FileProblem.CONTROL for note in journal.loaded.notes):
            raise CannotCompact(
                f"{journal.folder}: a compaction was interrupted; --in-place completes it, as a starting broker does"
            )
    changed = [journal for journal in plan.journals if journal.made]
    gone = {file.path.absolute(): None for journal in changed for file, _ in journal.seen}
    return gone, [(journal.root, new) for journal in changed for new in journal.made]
