"""The walk over a data directory that makes the plan of a compaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pagefmt.change.compaction.plan import (
    CompactionPlan,
    EditionRules,
    ExaminedPage,
    KeepReason,
    QueueHolding,
    RemoveFile,
    RetainedPage,
    Step,
    StorePlan,
    decide,
)
from pagefmt.check.cross.of_large import named_by_journal
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME, Layout
from pagefmt.codec.pages.stubs import STUB_SIZE
from pagefmt.directory.bindings import Bindings
from pagefmt.directory.counters import counters, pending_pages
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.paging import EntryKind
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.bodies import LargePending
from pagefmt.journal.files import FileProblem
from pagefmt.journal.positions import BOOKMARK, PositionIndex
from pagefmt.journal.record_types import RecordType
from pagefmt.outstanding.ack_state import LIVE, AckState
from pagefmt.outstanding.state import PageLook, PagingState, StoreState, looking_ahead
from pagefmt.storage.file_snapshot import FileSnapshot, Fingerprint, fingerprint, take_snapshot
from pagefmt.vectors import load_place


def deleted_meanwhile(live: bool) -> AbstractContextManager[None]:
    """Beside a running broker a file that was listed may not be there any more."""
    return suppress(FileNotFoundError) if live else nullcontext()


class CannotCompact(PageFmtError):
    """A directory that no compaction is sound for."""


@dataclass(slots=True)
class _LargeBodies:
    """Ids of large messages: named by records that stay, and by records that go."""

    stay: set[int] = field(default_factory=set)
    go: set[int] = field(default_factory=set)
    unsure: str | None = None


class DroppedQueue(NamedTuple):
    """A queue that is taken out of the directory: only pages of its ``address`` are changed.

    All of them go if the address has no other queue. ``messages``: of the journal, which go as well.
    """

    address: str
    messages: Collection[int]


def make_plan(
    place: DataLocation,
    edition: Edition | None = None,
    *,
    keep_unknown: bool = False,
    locked: bool = False,
    jobs: int = 1,
) -> CompactionPlan:
    """Read the journals and, with ``jobs`` processes, the pages, and return the plan. Raise ``CannotCompact``.

    ``keep_unknown``: records of unknown transactions stay. ``locked``: this process holds the broker's locks.
    """
    sources = take_snapshot(roots_of(place).values())
    return plan_of(sure_state(place, locked=locked), place, edition, sources, keep_unknown=keep_unknown, jobs=jobs)


def sure_state(place: DataLocation, *, locked: bool) -> PagingState:
    """Return the state if journals and bindings are known for certain. Raise ``CannotCompact`` otherwise.

    ``locked``: this process holds the broker's locks.
    """
    if place.paging is None:
        raise CannotCompact(f"{place.given}: no paging directory; name the data directory or the instance")
    if place.kind.is_part:
        raise CannotCompact(f"{place.given}: {place.kind.value}; name the whole data directory or the instance")
    state = load_place(place, locked=locked)
    _checked(state)
    return state


def plan_of(
    state: PagingState,
    place: DataLocation,
    edition: Edition | None,
    sources: FileSnapshot,
    *,
    keep_unknown: bool = False,
    dropped: DroppedQueue | None = None,
    acknowledged: PositionIndex | None = None,
    jobs: int = 1,
) -> CompactionPlan:
    """Return the plan for a state of the broker.

    Args:
        state: of journal, bindings and paging directory, without the queue ``dropped``.
        place: the directories.
        edition: of the broker that will be started; None if unknown.
        sources: the files as they were before the state was read.
        keep_unknown: records of unknown transactions stay.
        dropped: a queue that is being removed.
        acknowledged: positions that the journal has records for, if fewer than the state says.
        jobs: number of processes.

    Raises:
        CannotCompact: the state is not certain enough, or the edition cannot read the pages.
    """
    bindings = _checked(state)
    witnesses = _witnesses(state, bindings)
    rules = EditionRules(layout_of_bindings(bindings), edition)
    if edition is not None and edition.old_layout != (rules.layout is Layout.OLD):
        raise CannotCompact(
            f"{state.paging.path}: {edition.value} cannot read what was written here (layout {rules.layout.value}); "
            "name the edition of the broker that will be started"
        )
    index = acknowledged or state.journal.ack_index
    walk = _PlanWalk(rules, keep_unknown, pending_pages(counters(state.journal).values()), dropped, index)
    store_states = list(state.stores())
    with looking_ahead(walk.page, store_states, jobs) as page_look:
        stores = tuple(walk.store(store, page_look) for store in store_states)
    bodies, kept = _bodies(state, place.large_messages, walk.bodies, dropped)
    return CompactionPlan(roots_of(place), stores, bodies, kept, witnesses, sources, tuple(state.known.lost()))


def roots_of(place: DataLocation) -> dict[str, Path]:
    """Return the absolute paths of the directories, by name."""
    named = {
        "paging": place.paging,
        "journal": place.journal,
        "bindings": place.bindings,
        "large-messages": place.large_messages,
    }
    return {name: path.absolute() for name, path in named.items() if path is not None}


def _checked(state: PagingState) -> Bindings:
    """Return the bindings. Raise ``CannotCompact`` if bindings or journal are not known for certain.

    A missed acknowledgement loses nothing, but a missed queue loses its messages.
    """
    where = state.paging.path
    unknown = state.known.unknown_journal or state.known.unknown_bindings
    if unknown is not None or state.bindings is None:
        raise CannotCompact(f"{where}: {unknown.reason if unknown else 'no bindings'}; name the instance")
    unsettled = {FileProblem.SAME_ID} if state.live else {FileProblem.SAME_ID, FileProblem.CONTROL}
    for loaded in (state.journal.loaded, state.bindings.loaded):
        for note in loaded.notes:
            if note.kind in unsettled:
                raise CannotCompact(
                    f"{where}: journal file {note.file}: {note.kind.value}: {note.detail}; resolve it first"
                )
    if state.journal.bad or state.bindings.bad:
        bad = (state.journal.bad or state.bindings.bad)[0]
        raise CannotCompact(f"{where}: journal record {bad.record}: {bad.detail}; its meaning is not known")
    return state.bindings


def _witnesses(state: PagingState, bindings: Bindings) -> tuple[tuple[str, Path, Fingerprint], ...]:
    """Return name, path and fingerprint of the journal files that must not change during the compaction.

    Empty beside a running broker, which removes journal files at any time.
    """
    return (
        ()
        if state.live
        else tuple(
            (root, file.path, fingerprint(file.path))
            for root, loaded in (("journal", state.journal.loaded), ("bindings", bindings.loaded))
            for file in loaded.files
        )
    )


def layout_of_bindings(bindings: Bindings) -> Layout:
    """Return the layout of the broker's pages, judged by the fields of its queue bindings.

    Queue records of Artemis 2.x have more fields than those of 1.x and HornetQ (6). Large records are equal in both
    layouts, so a page alone cannot always show its own.
    """
    newer = any("max_consumers" in queue.fields for queue in bindings.queues.values())
    return Layout.NEW if newer or bindings.addresses else Layout.OLD


class _PlanWalk:
    def __init__(
        self,
        rules: EditionRules,
        keep_unknown: bool,
        pending: set[tuple[int, int]],
        dropped: DroppedQueue | None,
        acknowledged: PositionIndex,
    ) -> None:
        self.rules = rules
        self.dropped = dropped
        self.live = LIVE | {AckState.IGNORED} if keep_unknown else LIVE
        self.pending = pending
        self.acknowledged = acknowledged
        self.bodies = _LargeBodies()

    def store(self, store: StoreState, page_look: PageLook[ExaminedPage]) -> StorePlan:
        pages = list(self.pages(store, page_look))
        why = store.unknown.reason if store.unknown else self.untouchable(store)
        steps, kept = self.steps(store, pages, why)
        if self.dropped is not None and why is KeepReason.NO_QUEUE:
            why = KeepReason.DAMAGED if self.empties(store) and not steps and pages else None
        changed = {step.path for step in steps}
        for page in pages:
            self.note_bodies(store, page, page.page.path in changed)
        if any(entry.kind in (EntryKind.PUT_ASIDE, EntryKind.OVERLOOKED) for entry in store.store.others):
            self.bodies.unsure = f"{store.store.name}: pages that were set aside or overlooked may refer to them"
        return StorePlan(
            address=store.store.address,
            folder=store.store.folder,
            size=sum(page.page.size for page in pages),
            bound=None if store.unknown else sum(page.dead_bytes for page in pages),
            steps=tuple(steps),
            kept=tuple(kept),
            holders=() if store.unknown else _holders(store, pages),
            records=sum(page.records for page in pages),
            dead=None if store.unknown else sum(page.dead for page in pages),
            unknown=sum(page.unknown for page in pages),
            why=why,
            problem=store.store.problem,
        )

    def steps(
        self, store: StoreState, pages: list[ExaminedPage], why: str | None
    ) -> tuple[list[Step], list[RetainedPage]]:
        if self.dropped is not None and store.store.address != self.dropped.address:
            return [], []
        if why is KeepReason.NO_QUEUE and self.empties(store) and not any(page.damage for page in pages):
            return [RemoveFile(page.page.path, page.page.size, page.seen) for page in pages], []
        return decide(store.store.folder, [] if why else pages, self.rules)

    def empties(self, store: StoreState) -> bool:
        return self.dropped is not None and store.store.address == self.dropped.address

    def untouchable(self, store: StoreState) -> KeepReason | None:
        if store.same_address:
            return KeepReason.DUPLICATE
        if any(
            entry.kind in (EntryKind.BAD_NAME, EntryKind.OVERLOOKED, EntryKind.SPECIAL) for entry in store.store.others
        ):
            return KeepReason.NAMES
        if store.store.out_of_reach:
            return KeepReason.FAR
        return None if store.queues else KeepReason.NO_QUEUE

    def pages(self, store: StoreState, page_look: PageLook[ExaminedPage]) -> Iterator[ExaminedPage]:
        """Yield the examined pages of a store, without those that a running broker deletes in between."""
        for page in store.store.pages:
            with deleted_meanwhile(store.live):
                yield page_look(store, page)

    def page(self, store: StoreState, page: PageFile) -> ExaminedPage:
        """Return an examined page, by the fast decoder, or record by record if the page is irregular."""
        from pagefmt.vectors import IrregularPage

        seen = fingerprint(page.path)
        try:
            examined = self.at_once(store, ExaminedPage(page, seen))
        except IrregularPage:
            examined = ExaminedPage(page, seen)
            with open_page(page) as opened:
                self.careful(store, examined, opened)
        self.note_journal(store, examined)
        examined.moving = examined.damage is not None and store.motion(page, examined.damage) is not None
        return examined

    def at_once(self, store: StoreState, examined: ExaminedPage) -> ExaminedPage:
        from pagefmt.change.compaction.page_walk import examine
        from pagefmt.vectors import routed

        rule = store.sure_rule(examined.page.number)
        examine(examined, routed(examined.page), rule, self.live, STUB_SIZE[self.rules.layout])
        return examined

    def careful(self, store: StoreState, examined: ExaminedPage, opened: Page) -> None:
        """Examine each record of a page by itself, as brokers read it."""
        ack_state, live_states, stub_size = (
            store.sure_rule(examined.page.number).ack_state,
            self.live,
            STUB_SIZE[self.rules.layout],
        )
        examined.layout = opened.layout()
        for number, offset, length, tx, large, message, queues in opened.routes():
            size, live, ignored = length + FRAME, False, False
            for queue in queues:
                its = ack_state(queue, number, tx)
                if its in live_states:
                    live = True
                    examined.hold(queue, size)
                elif its is AckState.IGNORED:
                    ignored = True
            if large:
                examined.bodies.append((message, live))
            if not live:
                examined.die(offset, message, size, stub_size, ignored)
        examined.records, examined.damage = opened.count, opened.damage or opened.odd

    def note_journal(self, store: StoreState, examined: ExaminedPage) -> None:
        number = examined.page.number
        for queue in store.queues or ():
            acks = self.acknowledged.numbers(queue, number)
            examined.acked |= bool(acks) and acks[-1] != BOOKMARK
            examined.pending |= (queue, number) in self.pending

    def note_bodies(self, store: StoreState, page: ExaminedPage, changed: bool) -> None:
        for message, live in page.bodies:
            (self.bodies.go if changed and not live else self.bodies.stay).add(message)
        if page.damage is not None:
            self.bodies.unsure = f"{store.store.name} page {page.page.number} is damaged and may refer to them"


def _holders(store: StoreState, pages: list[ExaminedPage]) -> tuple[QueueHolding, ...]:
    messages, sizes, where = Counter[int](), Counter[int](), Counter[int]()
    for page in pages:
        messages.update(page.held)
        sizes.update(page.held_bytes)
        where.update(page.held.keys())
    return tuple(
        QueueHolding(
            queue, store.queues[queue].name if store.queues else str(queue), messages[queue], sizes[queue], where[queue]
        )
        for queue in sorted(messages)
    )


def _bodies(
    state: PagingState, large_messages: Path | None, bodies: _LargeBodies, dropped: DroppedQueue | None
) -> tuple[tuple[RemoveFile, ...], str | None]:
    """Body files that nothing will name. ``.tmp`` files are the broker's: it deletes them at each start."""
    if large_messages is None:
        return (), None
    pending = {
        body.message
        for _, body in state.journal.decoded(RecordType.ADD_LARGE_MESSAGE_PENDING)
        if isinstance(body, LargePending)
    }
    before = state.snapshot.bodies if state.snapshot is not None else None
    named = named_by_journal(state.journal, before).keys() | pending
    needed = bodies.stay | (named if dropped is None else named - set(dropped.messages))
    wanted = None if dropped is None else bodies.go.union(dropped.messages)
    free: list[RemoveFile] = []
    for file in LargeMessages(large_messages).files():
        if file.id is None or file.name != f"{file.id}.msg" or (wanted is not None and file.id not in wanted):
            continue
        if file.id not in needed and (before is None or file.id in before):
            with deleted_meanwhile(state.live):
                free.append(RemoveFile(file.path, file.size, fingerprint(file.path)))
    if free and bodies.unsure:
        return (), f"{len(free)} large-message files that nothing refers to are kept: {bodies.unsure}"
    return tuple(free), None
