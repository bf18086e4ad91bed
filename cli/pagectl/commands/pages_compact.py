"""``pages compact``: disk space back, without losing or repeating a message."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import (
    AcceptLostOption,
    BackupDirOption,
    DirArgument,
    DryRunOption,
    EditionOption,
    InPlaceOption,
    JobsOption,
    NoBackupOption,
    OutOption,
    TextOrJsonOption,
    check_compact_options,
    edition_of,
    processes,
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
    from pagefmt.compaction.plan import CompactionPlan, StorePlan
    from pagefmt.directory.locate import DataLocation


EXAMPLES = (
    ("What would be freed, and which queues hold the rest", "pages compact /var/lib/broker"),
    ("Into a new directory; the old one stays unchanged", "pages compact /var/lib/broker --out compacted"),
    ("In place; pages restore undoes it", "pages compact /var/lib/broker --in-place"),
)


def command(
    given: DirArgument = None,
    out: OutOption = None,
    in_place: InPlaceOption = False,
    backup_dir: BackupDirOption = None,
    no_backup: NoBackupOption = False,
    dry_run: DryRunOption = False,
    keep_unknown: Annotated[
        bool,
        typer.Option(
            "--keep-unknown-transactions", help="Keep records whose transaction the journal does not know."
        ),
    ] = False,
    accept_lost: AcceptLostOption = False,
    form: TextOrJsonOption = TextOrJson.text,
    edition: EditionOption = None,
    jobs: JobsOption = 0,
    broker: BrokerOptions = BrokerOptions(),
) -> int:  # fmt: skip
    """Remove records that no queue will ever read again; a broker still delivers exactly the same messages.

    The broker must be stopped for --out and --in-place. Without them: the plan, the bytes it would free, and which
    queues hold the rest. Ends with status 1 if something was left alone because it is damaged or not known.
    """
    from pagectl.files.destination import note_written

    check_compact_options(out, in_place, backup_dir, no_backup)
    place = located(given, broker)
    changing = (in_place or out is not None) and not dry_run
    refuse_closed(place)
    with brokers_held_off(place, changing, out) as held:
        plan = _plan(place, edition, keep_unknown, processes(jobs), locked=bool(held))
        _tell(plan, refused=changing and not accept_lost)
        backup = None if no_backup or out is not None else backup_folder(place, backup_dir)
        needs = _needs(plan, backup_folder(place, backup_dir))
        written = (out or plan.paging).absolute() if changing else None
        remark = None
        if changing and out is not None:
            _copy(plan, out, held)
            note_written(out.absolute(), place.paging)
        elif changing:
            with ways_out(place, backup_dir):
                backup = _replace(plan, backup)
        elif backup is not None:
            remark = _in_the_way(plan, place, backup_dir)
        if form is TextOrJson.json:
            print_json(_object(plan, written, backup if changing else None, remark, needs))
        else:
            _text(plan, changing, out, backup, remark)
            _last_lines(plan, changing, out, backup, needs, again(place, backup_dir))
    return Exit.FOUND if plan.incomplete else Exit.OK


def _tell(plan: CompactionPlan, *, refused: bool) -> None:
    """What is missing from the journals: what looks unacknowledged stays, and is delivered again."""
    if plan.remarks and refused:
        raise CallError(f"{'; '.join(plan.remarks)}; --accept-lost-acknowledgements compacts anyway")
    for remark in (*plan.remarks, *plan.damaged()):
        warning(remark)


def _plan(place: DataLocation, edition: Any, keep_unknown: bool, jobs: int, *, locked: bool) -> CompactionPlan:
    from pagefmt.compaction.planning import make_plan

    with progress("reading pages", None):
        return make_plan(place, edition_of(edition), keep_unknown=keep_unknown, locked=locked, jobs=jobs)


def _copy(plan: CompactionPlan, out: Path, held: dict[Path, int]) -> None:
    from pagefmt.compaction.copy_out import copy_out

    with progress("copying", None) as bar:
        copy_out(plan, out, bar.advance, held=held)


def _replace(plan: CompactionPlan, folder: Path | None) -> Path | None:
    """Gives the backup, if there is one now."""
    from pagefmt.bytes.writing import Disk, refuse_links
    from pagefmt.compaction.apply import apply, check_space, open_backup

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


def _in_the_way(plan: CompactionPlan, place: DataLocation, named: Path | None) -> str | None:
    """What keeps --in-place from a new backup there."""
    from pagefmt.compaction.apply import standing_backup
    from pagefmt.errors import PageFmtError

    try:
        with ways_out(place, named):
            standing_backup(backup_folder(place, named), plan)
    except (PageFmtError, CallError) as err:
        return str(err)
    return None


def _needs(plan: CompactionPlan, folder: Path) -> dict[str, int]:
    """Bytes of free space that --in-place needs. ``in_backup``: in ``folder``, if that is on another file system."""
    from pagefmt.compaction.apply import space_needed

    kept = space_needed(plan, folder)
    return {"with_backup": kept.pages, "without_backup": space_needed(plan, None).pages, "in_backup": kept.backup}


def _object(
    plan: CompactionPlan, written: Path | None, backup: Path | None, remark: str | None, needs: dict[str, int]
) -> dict[str, Any]:
    return {
        "done": written is not None,
        "wrote": str(written) if written else None,
        "bytes_before": plan.size,
        "bytes_after": plan.size - sum(store.freed for store in plan.stores),
        "freed": plan.freed,
        "freed_now": plan.freed if written == plan.paging.absolute() and backup is None else 0,
        "remarks": [*plan.remarks, *([remark] if remark else [])],
        "dead_bytes": plan.bound,
        "needs": needs,
        "backup": str(backup) if backup else None,
        "stores": [_store(store) for store in plan.stores],
        "large_messages": [{"file": body.path.name, "size": body.size} for body in plan.bodies],
        "large_messages_kept": plan.bodies_kept,
    }


def _store(store: StorePlan) -> dict[str, Any]:
    from pagefmt.compaction.plan import RewritePage

    return {
        "address": store.address,
        "folder": store.folder.name,
        "bytes_before": store.size,
        "bytes_after": store.size - store.freed,
        "records": store.records,
        "dead_records": store.dead,
        "dead_bytes": store.bound,
        "unknown_transaction_records": store.unknown,
        "left_alone": store.why,
        "steps": [
            {
                "file": step.path.name,
                "do": "rewrite" if isinstance(step, RewritePage) else "remove",
                "bytes_before": step.freed + (step.after if isinstance(step, RewritePage) else 0),
                "bytes_after": step.after if isinstance(step, RewritePage) else 0,
            }
            for step in store.steps
        ],
        "kept": [
            {"page": kept.page, "size": kept.size, "dead_records": kept.dead, "why": kept.why.value}
            for kept in store.kept
        ],
        "held_by": [
            {"queue": holder.name, "id": holder.queue, "messages": holder.messages, "bytes": holder.bytes,
             "pages": holder.pages}
            for holder in store.holders
        ],
    }  # fmt: skip


def _text(plan: CompactionPlan, done: bool, out: Path | None, backup: Path | None, remark: str | None) -> None:
    print_table(
        ("BEFORE", "AFTER", "DEAD", "RECORDS", "ADDRESS"),
        [
            (
                size_text(store.size),
                size_text(store.size - store.freed),
                "?" if store.dead is None else store.dead,
                store.records,
                store.address or "(none)",
            )
            for store in plan.stores
            if store.size
        ],
        right=("BEFORE", "AFTER", "DEAD", "RECORDS"),
    )
    for store in plan.stores:
        _why(store)
    if plan.bodies:
        print(f"large-message files that nothing refers to: {count_text(len(plan.bodies), 'file')}, "
              f"{size_text(sum(body.size for body in plan.bodies))}")  # fmt: skip
    if plan.bodies_kept:
        print(one_line(plan.bodies_kept))
    unknown = sum(store.unknown for store in plan.stores)
    if unknown:
        print(f"{unknown} of the dead records are dead only because the journal does not know their transaction "
              "(--keep-unknown-transactions keeps them)")  # fmt: skip
    if remark:
        print(one_line(remark))


def _why(store: StorePlan) -> None:
    from pagefmt.compaction.plan import KeepReason

    name = one_line(store.address or store.folder.name)
    if store.why and store.size:
        print(f"{name}: left alone: {one_line(store.why)}")
    for why, count in Counter(kept.why for kept in store.kept if kept.why is not KeepReason.SMALL).items():
        print(f"{name}: {count_text(count, 'page')} kept: {why.value}")
    for holder in sorted(store.holders, key=lambda holder: -holder.bytes)[:5]:
        where = f"{size_text(holder.bytes)} in {count_text(holder.pages, 'page')}"
        print(f"{name}: {where} kept for {count_text(holder.messages, 'message')} of {one_line(holder.name)}")


def _last_lines(
    plan: CompactionPlan, done: bool, out: Path | None, backup: Path | None, needs: dict[str, int], again: str
) -> None:
    """What is, or would be, freed. ``again``: what names the directory and its backup in another command."""
    dead = "how much does not belong to any message is not known"
    if plan.bound is not None:
        dead = f"{size_text(plan.bound)} do not belong to any message"
    rest = f"of {size_text(plan.size)} ({dead})"
    if not plan.freed:
        print(f"nothing to free {rest}")
    elif not done:
        print(f"would free {size_text(plan.freed)} {rest}")
        apart = f" beside the pages and {size_text(needs['in_backup'])} in --backup-dir" if needs["in_backup"] else ""
        print(f"--in-place needs {size_text(needs['with_backup'])} of free space{apart} while the backup exists, "
              f"{size_text(needs['without_backup'])} with --no-backup")  # fmt: skip
    elif out is not None:
        print(f"saved {size_text(plan.freed)} {rest}")
    elif backup is not None:
        print(f"{size_text(plan.freed)} {rest} will be freed when the backup is dropped:")
        print(f"pagectl pages drop-backup {again}")
        print(f"replaced files: {one_line(str(backup))}; to restore them: pagectl pages restore {again}")
    else:
        print(f"freed {size_text(plan.freed)} {rest}")
    if done and out is not None:
        print(f"compacted copy: {one_line(str(out.absolute()))}")
        print_steps(plan.roots, out.absolute())
