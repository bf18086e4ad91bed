"""Compactions of pages and journals, planned and carried out as the options say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.files.destination import note_written
from pagectl.options.groups import CompactionOptions
from pagectl.reports.compaction import JournalsCompaction, NeededSpace, PagesCompaction
from pagectl.running.backups import backup_folder, ways_out
from pagectl.running.exits import CallError
from pagectl.running.locking import brokers_held_off
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note, warning
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.change.compaction.journals import JournalsPlan
    from pagefmt.change.compaction.plan import CompactionPlan
    from pagefmt.change.compaction.retention import RetentionPlan
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition


def compact_pages(
    place: DataLocation, options: CompactionOptions, edition: Edition | None, jobs: int, *, keep_unknown: bool
) -> tuple[CompactionPlan, PagesCompaction]:
    """Plan a compaction, and carry it out if the options say so.

    ``edition``: the broker that will be started; None for any. ``keep_unknown``: records whose transaction the journal
    does not know stay. Raise ``CallError`` if journals are damaged and that is not accepted, and what the plan raises.
    """
    from pagefmt.change.compaction.planning import make_plan

    with brokers_held_off(place, options.changing, options.out) as lock_files:
        with progress("reading pages", None):
            plan = make_plan(place, edition, keep_unknown=keep_unknown, locked=bool(lock_files), jobs=jobs)
        _report_damage([*plan.remarks], [*plan.damaged()], options)
        backup = backup_folder(place, options.backup_dir) if options.keeps_backup else None
        needs = NeededSpace.of_pages(plan, backup_folder(place, options.backup_dir))
        wrote, remark = None, None
        if not options.changing:
            remark = None if backup is None else _backup_in_the_way(plan, place, options.backup_dir)
            backup = None
        elif options.out is not None:
            _copy_pages(plan, options.out, lock_files)
            note_written(options.out.absolute(), place.paging)
            wrote = options.out.absolute()
        else:
            with ways_out(place, options.backup_dir):
                backup = _replace_pages(plan, backup)
            wrote = plan.paging.absolute()
        return plan, PagesCompaction.of(plan, wrote=wrote, backup=backup, remark=remark, needs=needs)


def compact_journals(
    place: DataLocation, options: CompactionOptions, retention_folder: Path | None, *, lose_history: bool
) -> tuple[JournalsPlan, JournalsCompaction]:
    """Plan a compaction of the journals, and carry it out if the options say so.

    ``retention_folder``: that of the configuration. ``lose_history``: go on if replaced files cannot be copied there.
    Raise ``CallError`` if something is damaged, or cannot be copied, and that is not accepted.
    """
    from pagefmt.change.compaction.journals import plan_journals, settle
    from pagefmt.change.compaction.retention import plan_retention
    from pagefmt.storage.writing import Disk

    with brokers_held_off(place, options.changing, options.out) as lock_files:
        if options.replacing:
            settle(place, Disk())
        with progress("reading journals", None):
            plan = plan_journals(place)
        alone = [f"{journal.folder}: left alone: {journal.why}" for journal in plan.journals if journal.why]
        _report_damage(plan.remarks, alone, options)
        retention = plan_retention(plan, retention_folder) if retention_folder is not None else None
        _report_history(retention, options, lose_history=lose_history)
        backup = backup_folder(place, options.backup_dir) if options.keeps_backup else None
        needs = NeededSpace.of_journals(plan, backup_folder(place, options.backup_dir))
        wrote = None
        if not options.changing:
            backup = None
        elif options.out is not None:
            wrote = options.out.absolute()
            _copy_journals(plan, options.out, lock_files)
            note_written(wrote, place.paging)
        else:
            folder = place.journal or place.bindings
            assert folder is not None
            wrote = folder.absolute()
            with ways_out(place, options.backup_dir):
                backup = _replace_journals(plan, wrote, backup, retention)
        return plan, JournalsCompaction.of(
            plan, wrote=wrote, in_place=options.in_place, backup=backup, needs=needs, retention=retention
        )


def _report_damage(lost: list[str], unread: list[str], options: CompactionOptions) -> None:
    """Warn of what is damaged. Raise ``CallError`` if acknowledgements are ``lost`` and that is not accepted.

    What such a record would have acknowledged stays, and is delivered again; a compaction removes what a closer look
    might still find.
    """
    if lost and options.changing and not options.accept_lost:
        raise CallError(f"{'; '.join(lost)}; --accept-lost-acknowledgements compacts anyway")
    for remark in (*lost, *unread):
        warning(remark)


def _copy_pages(plan: CompactionPlan, out: Path, lock_files: dict[Path, int]) -> None:
    from pagefmt.change.compaction.copy_out import copy_out

    with progress("copying", None) as bar:
        copy_out(plan, out, bar.advance, held=lock_files)


def _copy_journals(plan: JournalsPlan, out: Path, lock_files: dict[Path, int]) -> None:
    from pagefmt.change.compaction.copy_out import copy_journals_out

    with progress("copying", None) as bar:
        copy_journals_out(plan, out, bar.advance, held=lock_files)


def _replace_pages(plan: CompactionPlan, folder: Path | None) -> Path | None:
    """Carry out the plan in place. Return the folder of the backup if there is one now."""
    from pagefmt.change.compaction.apply import apply, check_space, open_backup
    from pagefmt.storage.writing import Disk, refuse_links

    refuse_links(plan.paging.resolve())
    steps = list(plan.steps())
    if not steps:
        return None
    check_space(plan, folder)
    disk = Disk()
    backup = open_backup(disk, folder, plan) if folder is not None else None
    note(f"writes {plan.paging.absolute()}")
    with progress("compacting", sum(step.freed for step in steps)) as bar:
        apply(plan, disk, backup, bar.advance)
    return folder


def _replace_journals(
    plan: JournalsPlan, journal: Path, folder: Path | None, retention: RetentionPlan | None
) -> Path | None:
    """Carry out the plan in place. Return the folder of the backup if there is one now."""
    from pagefmt.change.compaction.journals import apply_journals, check_journals
    from pagefmt.change.compaction.retention import keep_history
    from pagefmt.storage.writing import Disk

    if not plan.freed:
        return None
    check_journals(plan, folder)
    note(f"writes {journal}")
    if retention is not None and retention.missing and retention.problem is None:
        note(f"writes {retention.folder}")
        keep_history(retention, Disk())
    with progress("compacting", plan.needs) as bar:
        apply_journals(plan, Disk(), folder, bar.advance)
    return folder


def _backup_in_the_way(plan: CompactionPlan, place: DataLocation, named: Path | None) -> str | None:
    """Return what keeps ``--in-place`` from a new backup; None if nothing does."""
    from pagefmt.change.compaction.apply import standing_backup
    from pagefmt.errors import PageFmtError

    try:
        with ways_out(place, named):
            standing_backup(backup_folder(place, named), plan)
    except (PageFmtError, CallError) as err:
        return str(err)
    return None


def _report_history(retention: RetentionPlan | None, options: CompactionOptions, *, lose_history: bool) -> None:
    """Report replaced files that the journal retention will lack. Raise ``CallError`` if that is not accepted."""
    if retention is None or not retention.missing:
        return
    files = f"{count_text(len(retention.missing), 'journal file')} that it lacks"
    if retention.problem is not None and options.replacing and not lose_history:
        raise CallError(
            f"{retention.folder}: {retention.problem}, so the journal retention cannot take {files}; make it writable, "
            "or lose that history with --accept-lost-history"
        )
    if options.out is not None:
        note(
            f"{retention.folder}: the journal retention lacks {count_text(len(retention.missing), 'journal file')} "
            "that NEW does not have; keep the old journal"
        )
    elif retention.problem is not None:
        warning(f"{retention.folder}: {retention.problem}: the journal retention does not get {files}")
