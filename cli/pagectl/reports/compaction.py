"""Compactions of pages and of journals: what is freed, what stays and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from pagectl.reports.form import Count, Report
from pagectl.reports.journal import JournalName

if TYPE_CHECKING:
    from pagefmt.change.compaction.journals import JournalPlan, JournalsPlan
    from pagefmt.change.compaction.plan import CompactionPlan, Step, StorePlan
    from pagefmt.change.compaction.retention import RetentionPlan


class NeededSpace(Report):
    """Bytes of free space that ``--in-place`` needs, the reserve included."""

    with_backup: Count
    """Beside the pages or journals, while the backup exists."""
    without_backup: Count
    """Beside the pages or journals with ``--no-backup``."""
    in_backup: Count
    """In the folder of the backup; 0 if that is on the same file system."""

    @classmethod
    def of_pages(cls, plan: CompactionPlan, backup: Path) -> NeededSpace:
        """Return what a compaction of pages needs whose backup is, or would be, in this folder."""
        from pagefmt.change.compaction.apply import space_needed

        needed = space_needed(plan, backup)
        without = space_needed(plan, None).pages
        return cls(with_backup=needed.pages, without_backup=without, in_backup=needed.backup)

    @classmethod
    def of_journals(cls, plan: JournalsPlan, backup: Path) -> NeededSpace:
        """Return what a compaction of journals needs whose backup is, or would be, in this folder."""
        from pagefmt.change.compaction.apply import SPARE

        beside = plan.needs + SPARE
        return cls(with_backup=beside, without_backup=beside, in_backup=plan.needs_in(backup))


class CompactionStep(Report):
    """A page that is rewritten, or removed because no queue needs it."""

    file: str
    do: Literal["rewrite", "remove"]
    bytes_before: Count
    bytes_after: Count

    @classmethod
    def of(cls, step: Step) -> CompactionStep:
        """Return the report of a step."""
        from pagefmt.change.compaction.plan import RewritePage

        after = step.after if isinstance(step, RewritePage) else 0
        return cls(
            file=step.path.name,
            do="rewrite" if isinstance(step, RewritePage) else "remove",
            bytes_before=step.freed + after,
            bytes_after=after,
        )


class UnchangedPage(Report):
    """A page that stays as it is although it has dead records, or because it is damaged."""

    page: Count
    size: Count
    dead_records: Count
    why: str


class KeepingQueue(Report):
    """A queue for which records stay, those in doubt included."""

    queue: str
    id: int
    messages: Count
    bytes: Count
    pages: Count


class CompactedStore(Report):
    """The pages of an address. Counts are null if the store cannot be judged."""

    address: str | None
    folder: str
    bytes_before: Count
    bytes_after: Count
    records: Count
    dead_records: Count | None
    dead_bytes: Count | None
    """Bytes that belong to no live record."""
    unknown_transaction_records: Count
    """Dead records that are dead only because the journal does not know their transaction."""
    left_alone: str | None
    """Why the whole store stays as it is; null if it does not."""
    steps: list[CompactionStep]
    kept: list[UnchangedPage]
    held_by: list[KeepingQueue]

    @classmethod
    def of(cls, store: StorePlan) -> CompactedStore:
        """Return the report of a store."""
        return cls(
            address=store.address,
            folder=store.folder.name,
            bytes_before=store.size,
            bytes_after=store.size - store.freed,
            records=store.records,
            dead_records=store.dead,
            dead_bytes=store.bound,
            unknown_transaction_records=store.unknown,
            left_alone=store.why,
            steps=[CompactionStep.of(step) for step in store.steps],
            kept=[
                UnchangedPage(page=page.page, size=page.size, dead_records=page.dead, why=page.why.value)
                for page in store.kept
            ],
            held_by=[
                KeepingQueue(
                    queue=queue.name, id=queue.queue, messages=queue.messages, bytes=queue.bytes, pages=queue.pages
                )
                for queue in store.holders
            ],
        )


class UnreferencedBody(Report):
    """A large-message file that no message refers to."""

    file: str
    size: Count


class PagesCompaction(Report):
    """``pages compact --format json``: the plan, and whether it was carried out."""

    done: bool
    wrote: str | None
    """The directory that was written; null if nothing was changed."""
    bytes_before: Count
    bytes_after: Count
    freed: Count
    """Bytes that all steps free, large-message files included."""
    freed_now: Count
    """Bytes that the file system has more now: 0 for a plan, for a copy, and while a backup exists."""
    remarks: list[str]
    dead_bytes: Count | None
    """Bytes that no live record needs; null if that is not known of a store."""
    needs: NeededSpace
    backup: str | None
    """The folder with the replaced files; null if there is none."""
    stores: list[CompactedStore]
    large_messages: list[UnreferencedBody]
    large_messages_kept: str | None
    """Why large-message files that no message refers to stay; null if they do not."""

    @classmethod
    def of(
        cls, plan: CompactionPlan, *, wrote: Path | None, backup: Path | None, remark: str | None, needs: NeededSpace
    ) -> PagesCompaction:
        """Return the report of a plan. ``wrote`` and ``backup``: folders that were written."""
        return cls(
            done=wrote is not None,
            wrote=str(wrote) if wrote else None,
            bytes_before=plan.size,
            bytes_after=plan.size - sum(store.freed for store in plan.stores),
            freed=plan.freed,
            freed_now=plan.freed if wrote == plan.paging.absolute() and backup is None else 0,
            remarks=[*plan.remarks, *([remark] if remark else [])],
            dead_bytes=plan.bound,
            needs=needs,
            backup=str(backup) if backup else None,
            stores=[CompactedStore.of(store) for store in plan.stores],
            large_messages=[UnreferencedBody(file=body.path.name, size=body.size) for body in plan.bodies],
            large_messages_kept=plan.bodies_kept,
        )


class CompactedJournal(Report):
    """A journal before and after its compaction."""

    journal: JournalName
    folder: str
    files_before: Count
    files_after: Count
    bytes_before: Count
    bytes_after: Count
    records: Count
    dead_records: Count
    prepared_transactions: Count
    left_alone: str | None
    """Why the journal stays as it is; null if it does not."""

    @classmethod
    def of(cls, plan: JournalPlan) -> CompactedJournal:
        """Return the report of a journal."""
        return cls(
            journal=cast("JournalName", plan.journal.name.lower()),
            folder=str(plan.folder),
            files_before=len(plan.seen),
            files_after=len(plan.made) or len(plan.seen),
            bytes_before=plan.size,
            bytes_after=plan.size - plan.freed,
            records=plan.records,
            dead_records=plan.records - plan.live,
            prepared_transactions=len(plan.loaded.prepared),
            left_alone=plan.why,
        )


class RetentionCopies(Report):
    """The replaced files that the folder of the journal retention lacks, and that are copied there first."""

    folder: str
    missing: list[str]
    bytes: int
    problem: str | None
    """Why they cannot be copied; null if they can."""

    @classmethod
    def of(cls, plan: RetentionPlan) -> RetentionCopies:
        """Return the report of what is copied to the retention."""
        missing = [file.name for file in plan.missing]
        return cls(folder=str(plan.folder), missing=missing, bytes=plan.size, problem=plan.problem)


class JournalsCompaction(Report):
    """``journal compact --format json``: the plan, and whether it was carried out."""

    done: bool
    wrote: str | None
    """The directory that was written; null if nothing was changed."""
    bytes_before: Count
    bytes_after: Count
    freed: Count
    freed_now: Count
    """Bytes that the file system has more now: 0 for a plan, for a copy, and while a backup exists."""
    remarks: list[str]
    needs: NeededSpace
    backup: str | None
    """The folder with the replaced files; null if there is none."""
    retention: RetentionCopies | None
    """Null if the configuration has no journal retention."""
    journals: list[CompactedJournal]

    @classmethod
    def of(
        cls,
        plan: JournalsPlan,
        *,
        wrote: Path | None,
        in_place: bool,
        backup: Path | None,
        needs: NeededSpace,
        retention: RetentionPlan | None,
    ) -> JournalsCompaction:
        """Return the report of a plan. ``wrote`` and ``backup``: folders that were written."""
        return cls(
            done=wrote is not None,
            wrote=str(wrote) if wrote else None,
            bytes_before=plan.size,
            bytes_after=plan.size - plan.freed,
            freed=plan.freed,
            freed_now=plan.freed if wrote and in_place and backup is None else 0,
            remarks=plan.remarks,
            needs=needs,
            backup=str(backup) if backup else None,
            retention=None if retention is None else RetentionCopies.of(retention),
            journals=[CompactedJournal.of(journal) for journal in plan.journals],
        )


ANSWERS = {"pages-compact": PagesCompaction, "journal-compact": JournalsCompaction}
