"""What ``pages compact`` and ``journal compact`` report, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.outputs.in_place import print_steps
from pagectl.reports.compaction import CompactedStore, JournalsCompaction, PagesCompaction
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.change.compaction.journals import JournalsPlan
    from pagefmt.change.compaction.plan import CompactionPlan

QUEUES_SHOWN = 5  # of one store, those that hold the most bytes


def print_pages_compaction(plan: CompactionPlan, report: PagesCompaction, out: Path | None, again: str) -> None:
    """Print the stores, why pages stay, and what is freed.

    ``plan``: its own remarks were warnings. ``out``: the new directory, None without one. ``again``: what names the
    directory and its backup in another command.
    """
    print_table(
        ("BEFORE", "AFTER", "DEAD", "RECORDS", "ADDRESS"),
        [
            (
                size_text(store.bytes_before),
                size_text(store.bytes_after),
                "?" if store.dead_records is None else store.dead_records,
                store.records,
                store.address or "(none)",
            )
            for store in report.stores
            if store.bytes_before
        ],
        right=("BEFORE", "AFTER", "DEAD", "RECORDS"),
    )
    for store in report.stores:
        _print_kept(store)
    if report.large_messages:
        size = size_text(sum(body.size for body in report.large_messages))
        print(f"large-message files that nothing refers to: {count_text(len(report.large_messages), 'file')}, {size}")
    if report.large_messages_kept:
        print(one_line(report.large_messages_kept))
    unknown = sum(store.unknown_transaction_records for store in report.stores)
    if unknown:
        print(
            f"{unknown} of the dead records are dead only because the journal does not know their transaction "
            "(--keep-unknown-transactions keeps them)"
        )
    for remark in report.remarks[len(plan.remarks) :]:
        print(one_line(remark))
    _print_freed_pages(report, copied=out is not None, again=again)
    if out is not None and report.done:
        _print_copy(plan.roots, out.absolute())


def _print_kept(store: CompactedStore) -> None:
    from pagefmt.change.compaction.plan import KeepReason

    name = one_line(store.address or store.folder)
    if store.left_alone and store.bytes_before:
        print(f"{name}: left alone: {one_line(store.left_alone)}")
    for why, count in Counter(page.why for page in store.kept if page.why != KeepReason.SMALL.value).items():
        print(f"{name}: {count_text(count, 'page')} kept: {why}")
    for queue in sorted(store.held_by, key=lambda queue: -queue.bytes)[:QUEUES_SHOWN]:
        size = f"{size_text(queue.bytes)} in {count_text(queue.pages, 'page')}"
        print(f"{name}: {size} kept for {count_text(queue.messages, 'message')} of {one_line(queue.queue)}")


def _print_freed_pages(report: PagesCompaction, *, copied: bool, again: str) -> None:
    dead = "how much does not belong to any message is not known"
    if report.dead_bytes is not None:
        dead = f"{size_text(report.dead_bytes)} do not belong to any message"
    freed, of_all = size_text(report.freed), f"of {size_text(report.bytes_before)} ({dead})"
    if not report.freed:
        print(f"nothing to free {of_all}")
    elif not report.done:
        needs = report.needs
        apart = f" beside the pages and {size_text(needs.in_backup)} in --backup-dir" if needs.in_backup else ""
        print(f"would free {freed} {of_all}")
        print(
            f"--in-place needs {size_text(needs.with_backup)} of free space{apart} while the backup exists, "
            f"{size_text(needs.without_backup)} with --no-backup"
        )
    elif copied:
        print(f"saved {freed} {of_all}")
    elif report.backup is not None:
        print(f"{freed} {of_all} will be freed when the backup is dropped:")
        _print_backup(report.backup, again)
    else:
        print(f"freed {freed} {of_all}")


def _print_backup(backup: str, again: str) -> None:
    print(f"pagectl pages drop-backup {again}")
    print(f"replaced files: {one_line(backup)}; to restore them: pagectl pages restore {again}")


def _print_copy(roots: Mapping[str, Path], copy: Path) -> None:
    print(f"compacted copy: {one_line(str(copy))}")
    print_steps(roots, copy)


def print_journals_compaction(plan: JournalsPlan, report: JournalsCompaction, out: Path | None, again: str) -> None:
    """Print the journals and what is freed. ``out`` and ``again``: as for ``print_pages_compaction``."""
    right = ("FILES", "THEN", "BEFORE", "AFTER", "RECORDS", "DEAD")
    print_table(
        (*right, "JOURNAL"),
        [
            (
                journal.files_before,
                journal.files_after,
                size_text(journal.bytes_before),
                size_text(journal.bytes_after),
                journal.records,
                journal.dead_records,
                journal.journal,
            )
            for journal in report.journals
        ],
        right=right,
    )
    for journal in report.journals:
        if journal.left_alone:
            print(f"{journal.journal}: left alone: {one_line(journal.left_alone)}")
        if journal.prepared_transactions:
            stay = count_text(journal.prepared_transactions, "prepared transaction")
            print(f"{journal.journal}: {stay} kept as found")
    retention = report.retention
    if retention is not None and retention.missing and retention.problem is None and out is None:
        files = f"{count_text(len(retention.missing), 'replaced file')}, {size_text(retention.bytes)}"
        print(f"{'copied' if report.done else 'would copy'} to {one_line(retention.folder)}: {files}")
    freed = f"{size_text(report.freed)} of {size_text(report.bytes_before)}"
    if not report.freed:
        print(f"nothing to free of {size_text(report.bytes_before)}")
    elif not report.done:
        needs = report.needs
        apart = f" beside the journals and {size_text(needs.in_backup)} in --backup-dir" if needs.in_backup else ""
        print(f"would free {freed}; --in-place needs {size_text(needs.with_backup)} of free space{apart} while it runs")
    elif report.backup is not None:
        print(f"{freed} will be freed when the backup is dropped:")
        _print_backup(report.backup, again)
    else:
        print(f"{'freed' if out is None else 'saved'} {freed}")
    if out is not None and report.done:
        _print_copy(plan.roots, out.absolute())
