"""Compaction of message journal, bindings and JMS journal: planned, and applied in place.

New files take the place of all old ones of a journal at once: they are written beside them with ``.cmp`` behind their
names, then a control file says what is deleted and what is renamed (docs/spec/journal.md 4, 8.7). Killed before that,
the old files count; behind it a broker of any edition that starts, or the next run, carries it out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagefmt.bytes.file_snapshot import FileSnapshot, Fingerprint, fingerprint, take_snapshot
from pagefmt.bytes.writing import Disk, refuse_links
from pagefmt.compaction.apply import BACKUP_ELSEWHERE, COPY_ELSEWHERE, SPARE, check_room, device_of, unchanged
from pagefmt.compaction.backup import (
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
from pagefmt.compaction.planning import CannotCompact, roots_of
from pagefmt.directory.locate import DataLocation
from pagefmt.journal.compaction_files import UNFINISHED
from pagefmt.journal.files import FileProblem, Journal, JournalFile, JournalListing
from pagefmt.journal.listing import BROKERS_NAME, list_files
from pagefmt.journal.load import LoadedJournal, load_journal
from pagefmt.journal.packing import PackedJournal, packed

JOURNALS: Final = (("journal", Journal.MESSAGES), ("bindings", Journal.BINDINGS), ("bindings", Journal.JMS))
UNSOUND: Final = frozenset(
    (
        FileProblem.SAME_ID,
        FileProblem.VERSION,
        FileProblem.NOT_REGULAR,
        FileProblem.UNREADABLE,
        FileProblem.GONE,
        FileProblem.NOT_PERMITTED,
    )
)
LARGEST_ID: Final = 1 << 62
_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class NewJournalFile:
    """One that will be made. ``like``: an old one, whose owner and rights it gets."""

    name: str
    file_id: int
    like: Path
    number: int
    packed: PackedJournal

    def content(self) -> Iterator[bytes | memoryview]:
        """A part at a time."""
        return self.packed.content(self.number, self.file_id)


@dataclass(frozen=True, slots=True)
class JournalPlan:
    """One journal. ``made`` is empty where nothing would be freed, or where ``why`` says that it is left alone.

    ``seen``: its files with what was seen of them. ``remark``: of a damaged one.
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
        """Bytes of its files."""
        return sum(file.size for file, _ in self.seen)

    @property
    def after(self) -> int:
        """Bytes of the new ones; 0 where there are none."""
        return self.made[0].packed.total if self.made else 0

    @property
    def freed(self) -> int:
        """Bytes that it has less afterwards."""
        return self.size - self.after if self.made else 0

    @property
    def records(self) -> int:
        """All that are in its files."""
        return sum(found.records for _, found in self.loaded.torn)

    @property
    def live(self) -> int:
        """Those that stay."""
        return len(self.loaded.rows) + sum(len(one.rows) + len(one.deletes) + 1 for one in self.loaded.prepared)


@dataclass(frozen=True, slots=True)
class JournalsPlan:
    """``roots``: the directories of the broker by name. ``sources``: all files, as they were before the plan."""

    roots: dict[str, Path]
    journals: tuple[JournalPlan, ...]
    sources: FileSnapshot

    @property
    def size(self) -> int:
        """Bytes of all journal files."""
        return sum(one.size for one in self.journals)

    @property
    def freed(self) -> int:
        """Bytes that all of it frees."""
        return sum(one.freed for one in self.journals)

    @property
    def needs(self) -> int:
        """Bytes of space that it takes while old and new files are there."""
        return sum(one.after for one in self.journals)

    def needs_in(self, backup: Path) -> int:
        """Bytes of free space that a backup on another file system needs, the reserve included; 0 on the same one."""
        device = device_of(backup)
        apart = [one for one in self.journals if one.made and device_of(one.folder) != device]
        return sum(one.size for one in apart) + SPARE if apart else 0

    @property
    def remarks(self) -> list[str]:
        """What is damaged."""
        return [one.remark for one in self.journals if one.remark is not None]

    @property
    def incomplete(self) -> bool:
        """Something is damaged, and so left alone, or was lost before."""
        return any(one.why or one.remark for one in self.journals)


@dataclass(frozen=True, slots=True)
class JournalFiles:
    """One journal as it was loaded."""

    root: str
    journal: Journal
    folder: Path
    loaded: LoadedJournal

    @property
    def name(self) -> str:
        """Which of the three."""
        return self.journal.name.lower()


def read_journals(place: DataLocation) -> list[JournalFiles]:
    """Those that have files. Raises ``NotAJournal``."""
    roots = roots_of(place)
    every = [
        JournalFiles(root, each, roots[root], load_journal(roots[root], each))
        for root, each in JOURNALS
        if root in roots
    ]
    return [each for each in every if each.loaded.files or (each.loaded.notes and each.journal is not Journal.JMS)]


def listings(place: DataLocation) -> Iterator[JournalListing]:
    """Their files in load order, and what cannot be read of them."""
    roots = roots_of(place)
    for root, journal in JOURNALS:
        if root in roots:
            yield list_files(roots[root], journal)


def freeable(journal: JournalFiles) -> int | None:
    """Bytes that a compaction frees; None where it leaves the journal alone."""
    try:
        plan = _plan(journal.root, journal.journal, journal.folder, journal.loaded)
    except CannotCompact:
        return None
    return None if plan.why else plan.freed


def plan_journals(place: DataLocation) -> JournalsPlan:
    """Reads the journals. Raises ``CannotCompact`` where the message journal is not sound, ``NotAJournal``."""
    roots = roots_of(place)
    if "journal" not in roots and "bindings" not in roots:
        raise CannotCompact(f"{place.given}: no journal and no bindings; name the data directory or the instance")
    sources = take_snapshot(roots.values())
    try:
        plans = [_plan(each.root, each.journal, each.folder, each.loaded) for each in read_journals(place)]
    except CannotCompact as err:
        raise CannotCompact(f"{err}; resolve it first: {place.call('journal verify')}") from err
    return JournalsPlan(roots, tuple(one for one in plans if one.seen or one.why), sources)


def _plan(root: str, journal: Journal, folder: Path, loaded: LoadedJournal) -> JournalPlan:
    seen = tuple((file, fingerprint(file.path)) for file in loaded.files)
    why = _unsound(journal, folder, loaded)
    remark = f"{folder.name}: {loaded.damage.place}" if loaded.damage is not None and why is None else None
    made: tuple[NewJournalFile, ...] = ()
    if why is None and seen:
        made = tuple(_made(folder, packed(loaded)))
        if sum(file.size for file, _ in seen) <= made[0].packed.total:
            made = ()
    return JournalPlan(root, journal, folder, loaded, seen, made, why, remark)


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
    """The name with a place for the number."""
    return _DIGITS.sub("{}", file.name) if BROKERS_NAME.fullmatch(file.name) else None


def _made(folder: Path, new: PackedJournal) -> Iterator[NewJournalFile]:
    """Ids and names that no file has or had: a control file may be carried out twice."""
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
    """Carry it out, with a backup in ``folder``. Raises ``CompactionStopped``, ``BackupError``, ``OSError``."""
    check_journals(plan, folder)
    with disk.below(*plan.roots.values()):
        backup = None if folder is None else _backup(plan, disk, folder)
        with backup.written(disk) if backup else nullcontext():
            for one in plan.journals:
                if one.made:
                    _replace(one, disk, backup, passed)


def check_journals(plan: JournalsPlan, folder: Path | None) -> None:
    """Raise ``CompactionStopped`` or ``BackupError`` if there is no room for it, or for its backup in ``folder``."""
    for one in plan.journals:
        check_room(one.folder, plan.needs + SPARE, COPY_ELSEWHERE)
    if folder is not None:
        if copied := plan.needs_in(folder):
            check_room(folder, copied, BACKUP_ELSEWHERE)
        standing_journal_backup(plan, folder)


def _replace(one: JournalPlan, disk: Disk, backup: Backup | None, passed: Callable[[int], object]) -> None:
    for new in one.made:
        content = ChecksumStream(new.content())
        fresh = one.folder / (new.name + UNFINISHED)
        disk.create(fresh, content, like=new.like)
        disk.check_owner(fresh, new.like)
        if backup is not None:
            backup.made(disk, one.folder / new.name, content.total)
        passed(new.packed.size)
    for file, _ in one.seen if backup is not None else ():
        assert backup is not None
        backup.keep(disk, file.path.absolute(), sum_of(file.path), None)
    for file, seen in one.seen:
        unchanged(file.path, seen)
    switch_journal(disk, one.folder, [file.name for file, _ in one.seen], [new.name for new in one.made])


def standing_journal_backup(plan: JournalsPlan, folder: Path) -> Backup | None:
    """What is there already and may be added to: of a run of this that was stopped. Raises ``BackupStands``."""
    if not os.path.lexists(folder) or (not folder.is_symlink() and folder.is_dir() and emptied(folder)):
        return None
    backup = read_backup(folder, plan.roots)
    changed = {f"{one.root}/{file.name}" for one in plan.journals if one.made for file, _ in one.seen}
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
        kept = [one for one in plan.journals if not one.made]
        sums = {f"{one.root}/{file.name}": sum_of(file.path) for one in kept for file, _ in one.seen}
        return new_backup(disk, folder, plan.roots, sums)
    with backup.written(disk):
        disk.append(folder / LIST, b"\n")  # ends a line that was cut off
    return backup


def copied(plan: JournalsPlan) -> tuple[dict[Path, None], list[tuple[str, NewJournalFile]]]:
    """For a copy: files that it does not have, and by directory those that it gets. Raises ``CannotCompact``."""
    for one in plan.journals:
        if any(note.kind is FileProblem.CONTROL for note in one.loaded.notes):
            raise CannotCompact(
                f"{one.folder}: a compaction was interrupted; --in-place completes it, as a starting broker does"
            )
    changed = [one for one in plan.journals if one.made]
    gone = {file.path.absolute(): None for one in changed for file, _ in one.seen}
    return gone, [(one.root, new) for one in changed for new in one.made]
