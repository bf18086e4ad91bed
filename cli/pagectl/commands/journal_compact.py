"""``journal compact``: message journal, bindings and JMS journal in as few files as hold what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import open_broker
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
from pagectl.outputs.in_place import print_steps
from pagectl.running.backups import again, backup_folder, ways_out
from pagectl.running.exits import CallError, Exit
from pagectl.running.locking import brokers_held_off
from pagectl.running.permissions import refuse_closed
from pagectl.terminal.progress import progress
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note, print_json, print_table, warning
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.compaction.journals import JournalPlan, JournalsPlan
    from pagefmt.compaction.retention import RetentionPlan
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
    accept_lost_history: Annotated[
        bool,
        typer.Option(
            "--accept-lost-history",
            help="Continue although the folder of the journal retention cannot take the replaced files that it lacks.",
        ),
    ] = False,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Rewrite journals without what brokers ignore when they load them; each journal loads the same as before.

    The broker must be stopped for --out and --in-place. Without them: the plan, and the bytes it would free. Damaged
    bindings are left alone. Ends with status 1 if something is damaged. 'pagectl pages restore' undoes --in-place. With
    journal-retention-directory in the configuration, --in-place first copies the replaced files there that it lacks.
    """
    from pagectl.files.destination import note_written
    from pagefmt.bytes.writing import Disk
    from pagefmt.compaction.journals import plan_journals, settle
    from pagefmt.compaction.retention import plan_retention

    check_compact_options(out, in_place, backup_dir, no_backup)
    opened = open_broker(given, broker.broker_xml, broker.reading())
    place = opened.place
    changing = (in_place or out is not None) and not dry_run
    refuse_closed(place)
    with brokers_held_off(place, changing, out) as held:
        if changing and in_place:
            settle(place, Disk())
        with progress("reading journals", None):
            plan = plan_journals(place)
        _tell(plan, refused=changing and not accept_lost)
        directory = opened.configuration.directories.retention if opened.configuration else None
        retention = plan_retention(plan, directory) if directory is not None else None
        _tell_history(retention, out, refused=changing and in_place and not accept_lost_history)
        backup = None if no_backup or out is not None else backup_folder(place, backup_dir)
        kept = plan.needs_in(backup_folder(place, backup_dir))
        written = _wrote(place, out) if changing else None
        if written is not None and out is None:
            with ways_out(place, backup_dir):
                backup = _replace(plan, written, backup, retention)
        elif out is not None and changing:
            _copy(plan, out, held)
            note_written(out.absolute(), place.paging)
        shown = backup if changing else None
        if form is TextOrJson.json:
            print_json(_object(plan, written, shown, retention, kept, in_place=in_place))
        else:
            _text(plan, written, out, shown, retention, kept, again(place, backup_dir))
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


def _tell_history(retention: RetentionPlan | None, out: Path | None, *, refused: bool) -> None:
    """Report replaced files that will be missing from the journal retention. Raises ``CallError`` if ``refused``."""
    if retention is None or not retention.missing:
        return
    files = f"{count_text(len(retention.missing), 'journal file')} that it lacks"
    if retention.problem is not None and refused:
        raise CallError(
            f"{retention.folder}: {retention.problem}, so the journal retention cannot take {files}; make it writable, "
            "or lose that history with --accept-lost-history"
        )
    if out is not None:
        note(f"{retention.folder}: the journal retention lacks {count_text(len(retention.missing), 'journal file')} "
             "that NEW does not have; keep the old journal")  # fmt: skip
    elif retention.problem is not None:
        warning(f"{retention.folder}: {retention.problem}: the journal retention does not get {files}")


def _copy(plan: JournalsPlan, out: Path, held: dict[Path, int]) -> None:
    from pagefmt.compaction.copy_out import copy_journals_out

    with progress("copying", None) as bar:
        copy_journals_out(plan, out, bar.advance, held=held)


def _replace(plan: JournalsPlan, written: Path, folder: Path | None, retention: RetentionPlan | None) -> Path | None:
    """Gives the backup, if there is one now."""
    from pagefmt.bytes.writing import Disk
    from pagefmt.compaction.journals import apply_journals, check_journals
    from pagefmt.compaction.retention import keep_history

    if not plan.freed:
        return None
    check_journals(plan, folder)
    note(f"writes {written}")
    if retention is not None and retention.missing and retention.problem is None:
        note(f"writes {retention.folder}")
        keep_history(retention, Disk())
    with progress("compacting", plan.needs) as bar:
        apply_journals(plan, Disk(), folder, bar.advance)
    return folder


def _object(
    plan: JournalsPlan,
    written: Path | None,
    backup: Path | None,
    retention: RetentionPlan | None,
    kept: int,
    *,
    in_place: bool,
) -> dict[str, Any]:
    from pagefmt.compaction.apply import SPARE

    return {
        "done": written is not None,
        "wrote": str(written) if written else None,
        "bytes_before": plan.size,
        "bytes_after": plan.size - plan.freed,
        "freed": plan.freed,
        "freed_now": plan.freed if written and in_place and backup is None else 0,
        "remarks": plan.remarks,
        "needs": {"with_backup": plan.needs + SPARE, "without_backup": plan.needs + SPARE, "in_backup": kept},
        "backup": str(backup) if backup else None,
        "retention": _retention(retention),
        "journals": [_journal(one) for one in plan.journals],
    }


def _retention(retention: RetentionPlan | None) -> dict[str, Any] | None:
    if retention is None:
        return None
    return {
        "folder": str(retention.folder),
        "missing": [file.name for file in retention.missing],
        "bytes": retention.size,
        "problem": retention.problem,
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


def _text(
    plan: JournalsPlan,
    written: Path | None,
    out: Path | None,
    backup: Path | None,
    retention: RetentionPlan | None,
    kept: int,
    again: str,
) -> None:
    from pagefmt.compaction.apply import SPARE

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
    if retention is not None and retention.missing and retention.problem is None and out is None:
        copied = f"{count_text(len(retention.missing), 'replaced file')}, {size_text(retention.size)}"
        print(f"{'copied' if written else 'would copy'} to {one_line(str(retention.folder))}: {copied}")
    said = f"{size_text(plan.freed)} of {size_text(plan.size)}"
    apart = f" beside the journals and {size_text(kept)} in --backup-dir" if kept else ""
    if not plan.freed:
        print(f"nothing to free of {size_text(plan.size)}")
    elif written is None:
        print(f"would free {said}; --in-place needs {size_text(plan.needs + SPARE)} of free space{apart} while it runs")
    elif backup is not None:
        print(f"{said} will be freed when the backup is dropped:")
        print(f"pagectl pages drop-backup {again}")
        print(f"replaced files: {one_line(str(backup))}; to restore them: pagectl pages restore {again}")
    else:
        print(f"{'saved' if out else 'freed'} {said}")
    if written and out is not None:
        print(f"compacted copy: {one_line(str(written))}")
        print_steps(plan.roots, written)
