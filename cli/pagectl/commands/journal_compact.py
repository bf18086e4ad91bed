"""``journal compact``: message journal, bindings and JMS journal in as few files as hold what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    AcceptLostOption,
    BackupDirOption,
    DirArgument,
    DryRunOption,
    InPlaceOption,
    NoBackupOption,
    OutOption,
    TextOrJsonOption,
    check_compact_options,
)
from pagectl.running.backups import backup_folder
from pagectl.running.exits import CallError, Exit
from pagectl.running.locking import brokers_held_off
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json, print_table, warning
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.compaction.journals import JournalPlan, JournalsPlan
    from pagefmt.directory.locate import DataLocation

EXAMPLES = (
    ("What would be freed", "journal compact /var/lib/broker"),
    ("Into a new directory; the old one stays unchanged", "journal compact /var/lib/broker --out compacted"),
    ("In place; pages restore undoes it", "journal compact /var/lib/broker --in-place"),
)


def command(
    given: DirArgument = None,
    dry_run: DryRunOption = False,
    out: OutOption = None,
    in_place: InPlaceOption = False,
    no_backup: NoBackupOption = False,
    backup_dir: BackupDirOption = None,
    accept_lost: AcceptLostOption = False,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Rewrite journals without what brokers ignore when they load them; each journal loads the same as before.

    Without --out or --in-place: the plan, and the bytes it would free. Damaged bindings are left alone. Ends
    with status 1 if something is damaged. 'pagectl pages restore' undoes --in-place.
    """
    from pagectl.files.destination import note_written
    from pagefmt.bytes.writing import Disk
    from pagefmt.compaction.journals import plan_journals, settle

    check_compact_options(out, in_place, backup_dir, no_backup)
    place = located(given, broker)
    changing = (in_place or out is not None) and not dry_run
    with brokers_held_off(place, changing) as held:
        if changing and in_place:
            settle(place, Disk())
        with progress("reading journals", None):
            plan = plan_journals(place)
        _tell(plan, refused=changing and not accept_lost)
        backup = None if no_backup or out is not None else backup_folder(place, backup_dir)
        written = _wrote(place, out) if changing else None
        if written is not None and out is None:
            note(f"writes {written}")
            backup = _replace(plan, backup)
        elif out is not None and changing:
            _copy(plan, out, held)
            note_written(out.absolute(), place.paging)
        shown = backup if changing else None
        if form is TextOrJson.json:
            print_json(_object(plan, written, shown, in_place=in_place))
        else:
            _text(plan, written, out, shown)
    return Exit.FOUND if plan.incomplete else Exit.OK


def _wrote(place: DataLocation, out: Path | None) -> Path:
    found = out or place.journal or place.bindings
    assert found is not None
    return found.absolute()


def _tell(plan: JournalsPlan, *, refused: bool) -> None:
    """What is damaged would be gone afterwards, and with it what a closer look might still find."""
    if plan.remarks and refused:
        raise CallError(f"{'; '.join(plan.remarks)}; --accept-lost-acknowledgements compacts anyway")
    for remark in plan.remarks:
        warning(remark)
    for one in plan.journals:
        if one.why:
            warning(f"{one.folder}: left alone: {one.why}")


def _copy(plan: JournalsPlan, out: Path, held: dict[Path, int]) -> None:
    from pagefmt.compaction.copy_out import copy_journals_out

    with progress("copying", None) as bar:
        copy_journals_out(plan, out, bar.advance, held=held)


def _replace(plan: JournalsPlan, folder: Path | None) -> Path | None:
    """Gives the backup, if there is one now."""
    from pagefmt.bytes.writing import Disk
    from pagefmt.compaction.journals import apply_journals

    if not plan.freed:
        return None
    with progress("compacting", plan.needs) as bar:
        apply_journals(plan, Disk(), folder, bar.advance)
    return folder


def _object(plan: JournalsPlan, written: Path | None, backup: Path | None, *, in_place: bool) -> dict[str, Any]:
    return {
        "done": written is not None,
        "wrote": str(written) if written else None,
        "bytes_before": plan.size,
        "bytes_after": plan.size - plan.freed,
        "freed": plan.freed,
        "freed_now": plan.freed if written and in_place and backup is None else 0,
        "remarks": plan.remarks,
        "needs": {"with_backup": plan.needs, "without_backup": plan.needs},
        "backup": str(backup) if backup else None,
        "journals": [_journal(one) for one in plan.journals],
    }


def _journal(one: JournalPlan) -> dict[str, Any]:
    return {
        "journal": one.journal.name.lower(),
        "folder": str(one.folder),
        "files_before": len(one.seen),
        "files_after": len(one.made) or len(one.seen),
        "bytes_before": one.size,
        "bytes_after": one.size - one.freed,
        "records": one.records,
        "dead_records": one.records - one.live,
        "prepared_transactions": len(one.loaded.prepared),
        "left_alone": one.why,
    }


def _text(plan: JournalsPlan, written: Path | None, out: Path | None, backup: Path | None) -> None:
    rows = [_journal(one) for one in plan.journals]
    right = ("FILES", "THEN", "BEFORE", "AFTER", "RECORDS", "DEAD")
    print_table(
        (*right, "JOURNAL"),
        [
            (
                row["files_before"], row["files_after"], size_text(row["bytes_before"]), size_text(row["bytes_after"]),
                row["records"], row["dead_records"], row["journal"],
            )
            for row in rows
        ],
        right=right,
    )  # fmt: skip
    for row in rows:
        if row["left_alone"]:
            print(f"{row['journal']}: left alone: {one_line(row['left_alone'])}")
        if row["prepared_transactions"]:
            stay = count_text(row["prepared_transactions"], "prepared transaction")
            print(f"{row['journal']}: {stay} kept as found")
    said = f"{size_text(plan.freed)} of {size_text(plan.size)}"
    if not plan.freed:
        print(f"nothing to free of {size_text(plan.size)}")
    elif written is None:
        print(f"would free {said}; --in-place needs {size_text(plan.needs)} of free space while it runs")
    elif backup is not None:
        print(f"{said} will be freed when the backup is dropped: pagectl pages drop-backup")
        print(f"replaced files: {one_line(str(backup))}; to restore them: pagectl pages restore")
    else:
        print(f"{'saved' if out else 'freed'} {said}")
    if written and out is not None:
        print(f"compacted copy: {one_line(str(written))}")
