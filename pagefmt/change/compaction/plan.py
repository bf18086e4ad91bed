"""The plan of a compaction, and why other data must stay (docs/spec/journal.md 8). No file is changed here.

There are two ways to free space; both leave the journal unchanged:

* a page is rewritten: each dead record becomes a stub, live ones are copied byte for byte, so all ordinals stay;
* a page that no queue needs is removed, if the broker that will be started allows it (8.2): never the last page;
  up to 2.23 only from the first page on; 2.24 to 2.44 keep ack records of a missing page, so it must have none; up
  to 2.27 no page that a pending counter record names may be touched at all.

Without an edition, a step is planned only if every edition of the layout allows it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout
from pagefmt.editions import Edition
from pagefmt.storage.file_snapshot import FileSnapshot, Fingerprint


class KeepReason(StrEnum):
    """Why a page or a store is left as it is, apart from live records."""

    DAMAGED = "damaged: compacting it would lose what 'pages salvage' can recover after the damage"
    MOVING = "a broker is writing to it"
    PENDING = "a pending counter record names it: brokers up to 2.27 count its records again"
    LAYOUT = "its layout does not match the bindings"
    SMALL = "its dead records are no larger than their replacement"
    DUPLICATE = "several folders name this address; a broker reads only one of them"
    NO_QUEUE = "no queue has this address: is it the right one?"
    NAMES = "the name of a file in the folder keeps a broker from starting, or counts as a page without being read"
    FAR = "a page number is far beyond the others: 'pagectl pages salvage' gives it a closer one"
    REMOVAL = "no queue needs it, but some editions with this layout cannot handle its removal (give --edition)"


@dataclass(frozen=True, slots=True)
class RewritePage:
    """A step that rewrites a page with stubs in place of dead records.

    ``offsets`` and ``ids`` are those of the dead records; ``after`` is the new size of the page in bytes.
    """

    folder: Path
    page: PageFile
    seen: Fingerprint
    layout: Layout
    offsets: array[int]
    ids: array[int]
    after: int

    @property
    def path(self) -> Path:
        return self.page.path

    @property
    def freed(self) -> int:
        """Return the bytes that the step frees."""
        return self.page.size - self.after


@dataclass(frozen=True, slots=True)
class RemoveFile:
    """A page, or a large-message file, that nothing needs."""

    path: Path
    size: int
    seen: Fingerprint

    @property
    def freed(self) -> int:
        """Return the bytes that the step frees."""
        return self.size


Step: TypeAlias = RewritePage | RemoveFile


@dataclass(frozen=True, slots=True)
class RetainedPage:
    """A page that stays as it is although it has dead records, or because of ``damage``."""

    path: Path
    page: int
    size: int
    dead: int
    why: KeepReason
    damage: Damage | None = None


@dataclass(frozen=True, slots=True)
class QueueHolding:
    """A queue for which records stay: ``messages`` of ``bytes`` in ``pages`` pages, in doubt included."""

    queue: int
    name: str
    messages: int
    bytes: int
    pages: int


@dataclass(frozen=True, slots=True)
class StorePlan:
    """What the compaction does with the pages of one store.

    ``bound``: bytes of this store that belong to no live record. ``unknown``: records that are dead because their
    transaction is unknown. ``why``: set if the whole store is left alone; ``dead`` and ``bound`` are None if the reason
    is that its records cannot be judged. ``problem``: why the folder cannot be listed.
    """

    address: str | None
    folder: Path
    size: int
    bound: int | None
    steps: tuple[Step, ...]
    kept: tuple[RetainedPage, ...]
    holders: tuple[QueueHolding, ...]
    records: int
    dead: int | None
    unknown: int
    why: str | None
    problem: str | None = None

    @property
    def freed(self) -> int:
        """Return the bytes that all steps of the store free."""
        return sum(step.freed for step in self.steps)


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """All steps, in the order in which they are carried out: store by store, then large-message files.

    ``roots``: the four directories by name. ``witnesses``: directory, path and fingerprint of journal files, which must
    not change during the run. ``sources``: all files, as they were before the plan. ``remarks``: what is missing from
    the journals.
    """

    roots: dict[str, Path]
    stores: tuple[StorePlan, ...]
    bodies: tuple[RemoveFile, ...]
    bodies_kept: str | None
    witnesses: tuple[tuple[str, Path, Fingerprint], ...]
    sources: FileSnapshot
    remarks: tuple[str, ...] = ()

    def steps(self) -> Iterator[Step]:
        """Yield all steps in the order in which they are carried out."""
        for store in self.stores:
            yield from store.steps
        yield from self.bodies

    @property
    def incomplete(self) -> bool:
        """Something was found to be damaged or wrong, or cannot be judged."""
        alone = (store.problem or (store.why and store.size) for store in self.stores)
        return bool(self.remarks) or any(alone) or any(self.damaged())

    def damaged(self) -> Iterator[str]:
        """Yield a description of each store or page that cannot be read and therefore stays as it is."""
        for store in self.stores:
            if store.problem is not None:
                yield store.problem
            for kept in store.kept:
                if kept.why is KeepReason.DAMAGED and kept.damage is not None:
                    yield f"{kept.path}: offset {kept.damage.offset}: {kept.damage.kind}: {kept.damage.detail}"

    @property
    def freed(self) -> int:
        """Return the bytes that all steps free."""
        return sum(step.freed for step in self.steps())

    @property
    def size(self) -> int:
        """Return the bytes of all page files."""
        return sum(store.size for store in self.stores)

    @property
    def bound(self) -> int | None:
        """Return the bytes that no live record needs, whether or not a step frees them; None if unknown for a store."""
        sizes = [store.bound for store in self.stores if store.bound is not None]
        return sum(sizes) + sum(body.size for body in self.bodies) if len(sizes) == len(self.stores) else None

    @property
    def paging(self) -> Path:
        return self.roots["paging"]

    @property
    def needs_with_backup(self) -> int:
        """Return the bytes of free space that ``--in-place`` needs while the backup exists."""
        return sum(step.after for step in self.steps() if isinstance(step, RewritePage))

    @property
    def needs_without_backup(self) -> int:
        """Return the bytes of free space needed if each page is replaced at once, without a backup."""
        return max((step.after for step in self.steps() if isinstance(step, RewritePage)), default=0)


@dataclass(slots=True)
class ExaminedPage:
    """One page as the walk saw it. ``offsets`` and ``ids``: of the dead records that are larger than a stub.

    ``saved``: what stubs in their place save. ``bodies``: (id, live) of large records. ``acked``: some queue has ack
    records for the page; ``pending``: some queue has a pending counter record for it;
    ``moving``: a broker writes to it.
    """

    page: PageFile
    seen: Fingerprint
    layout: Layout | None = None
    records: int = 0
    dead: int = 0
    dead_bytes: int = 0
    unknown: int = 0
    saved: int = 0
    acked: bool = False
    pending: bool = False
    damage: Damage | None = None
    moving: bool = False
    offsets: array[int] = field(default_factory=lambda: array("q"))
    ids: array[int] = field(default_factory=lambda: array("q"))
    bodies: list[tuple[int, bool]] = field(default_factory=list)
    held: Counter[int] = field(default_factory=Counter)
    held_bytes: Counter[int] = field(default_factory=Counter)

    def hold(self, queue: int, size: int) -> None:
        """Count a record of ``size`` bytes that the queue still needs."""
        self.held[queue] += 1
        self.held_bytes[queue] += size

    def die(self, offset: int, message: int, size: int, stub_size: int, unknown: bool) -> None:
        """Count a record that no queue needs, and note it for replacement if a stub is smaller.

        ``unknown``: it is dead because its transaction is not known.
        """
        self.dead += 1
        self.dead_bytes += size
        self.unknown += unknown
        if size > stub_size:
            self.offsets.append(offset)
            self.ids.append(message)
            self.saved += size - stub_size

    @property
    def all_dead(self) -> bool:
        """Return whether the page is sound and none of its records is live."""
        return self.dead == self.records and self.damage is None


@dataclass(frozen=True, slots=True)
class EditionRules:
    """What may be done for the broker that will be started; ``edition`` ``None``: every one of the layout."""

    layout: Layout
    edition: Edition | None

    @property
    def minds_pending(self) -> bool:
        """Return whether a page that a pending counter record names must stay as it is (brokers before 2.28)."""
        return self.edition is None or self.edition < Edition.ARTEMIS_2_28

    @property
    def prefix_only(self) -> bool:
        """Return whether pages may only be removed from the first one on (up to 2.23)."""
        return self.edition is None or self.edition < Edition.ARTEMIS_2_28

    @property
    def minds_acks(self) -> bool:
        """Ack records of a missing page are kept, and would fall on messages if its number were given again."""
        if self.edition is None:
            return self.layout is Layout.NEW
        return Edition.ARTEMIS_2_28 <= self.edition <= Edition.ARTEMIS_2_44


def decide(folder: Path, pages: list[ExaminedPage], rules: EditionRules) -> tuple[list[Step], list[RetainedPage]]:
    """Return the steps for the pages of one store, and the pages that stay although they contain dead records.

    ``pages`` are in ascending order; the last is the current page, which is never removed.
    """
    steps: list[Step] = []
    kept: list[RetainedPage] = []
    from_first = True
    for page in pages:
        last = page is pages[-1]
        if page.all_dead and not last and _removable(page, rules, from_first):
            steps.append(RemoveFile(page.page.path, page.page.size, page.seen))
            continue
        from_first = False
        rewrite = _rewrite(folder, page, rules)
        if isinstance(rewrite, RewritePage):
            steps.append(rewrite)
        elif page.dead or page.damage:
            kept.append(RetainedPage(page.page.path, page.page.number, page.page.size, page.dead, rewrite, page.damage))
        elif page.all_dead and not last:
            kept.append(RetainedPage(page.page.path, page.page.number, page.page.size, 0, KeepReason.REMOVAL))
    return steps, kept


def _removable(page: ExaminedPage, rules: EditionRules, from_first: bool) -> bool:
    if page.pending and rules.minds_pending:
        return False
    return (from_first or not rules.prefix_only) and not (page.acked and rules.minds_acks)


def _rewrite(folder: Path, page: ExaminedPage, rules: EditionRules) -> RewritePage | KeepReason:
    if page.damage is not None:
        return KeepReason.MOVING if page.moving else KeepReason.DAMAGED
    if page.pending and rules.minds_pending:
        return KeepReason.PENDING
    if page.layout not in (None, rules.layout):
        return KeepReason.LAYOUT
    if not page.saved:
        return KeepReason.SMALL
    return RewritePage(folder, page.page, page.seen, rules.layout, page.offsets, page.ids, page.page.size - page.saved)
