"""Recovery planned, and carried out in a new folder. What it reads is never changed.

Both go the same way; a plan writes nothing. Page stores are salvaged by what is left of journal and bindings, and
what queues will be given is counted in the pages as they will be. Journals are written as a compaction writes them
(docs/spec/journal.md 8.7), with page counters made anew, for brokers up to 2.27 go by these (7.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from pagefmt.bytes.wire import Undecodable
from pagefmt.bytes.writing import Disk, whole_folder
from pagefmt.columns.arrays.schema import Detail
from pagefmt.columns.page import decode_page
from pagefmt.compaction.copy_out import copy_root
from pagefmt.compaction.journals import NewJournalFile
from pagefmt.compaction.planning import roots_of
from pagefmt.cross_checks.of_large import named_by_journal
from pagefmt.directory.bindings import Bindings
from pagefmt.directory.counters import counters
from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.directory.locate import DataLocation
from pagefmt.editions import NEWEST, Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.bodies import CounterValue, PageTransaction, encode_body
from pagefmt.journal.damage import ACKNOWLEDGEMENT
from pagefmt.journal.files import Journal, folder_names
from pagefmt.journal.held_messages import NO_TRANSACTION
from pagefmt.journal.load import LoadedJournal, UnreadableRecord
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.packing import packed
from pagefmt.journal.record_types import MESSAGES, RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.messages.large import SUFFIXES, LargeMessages
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.knowledge import KnownJournals
from pagefmt.outstanding.state import PagingState
from pagefmt.pages.frames import Damage
from pagefmt.pages.gather import Ints, PageBytes
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import PagingDirectory, Store, read_paging, read_store, same_addresses
from pagefmt.pages.record import Layout
from pagefmt.quantities import count_text
from pagefmt.recovery.counting import PageTally
from pagefmt.recovery.evidence import Evidence, gather
from pagefmt.recovery.kept_journal import KeptJournal, read_kept, readable_bindings
from pagefmt.recovery.plan import DamagedPart, MessageRange, QueuePlan, RecoveryPlan, RecoveryStep
from pagefmt.recovery.queues import MadeBindings, NameSource, QueueToName, emptied, foreign, make_queues
from pagefmt.salvage.directory import SalvagedDirectory, salvage_stores
from pagefmt.salvage.store import Loss, SalvagedStore

ASIDE: Final = "aside"
_COUNTERS: Final = (
    RecordType.PAGE_CURSOR_COUNTER_VALUE, RecordType.PAGE_CURSOR_COUNTER_INC, RecordType.PAGE_CURSOR_PENDING_COUNTER,
)  # fmt: skip
_REFERENCES: Final = (
    RecordType.ADD_REF, RecordType.ACKNOWLEDGE_REF, RecordType.UPDATE_DELIVERY_COUNT,
    RecordType.SET_SCHEDULED_DELIVERY_TIME,
)  # fmt: skip
_SMALLEST_MESSAGE: Final = 23 + 61
"""Bytes of the record of a message in a journal, at least."""
_AHEAD: Final = 1 << 16
"""New ids lie so far behind all that were found."""


class NothingLeft(PageFmtError):
    """Neither pages nor journals to recover anything from."""


class _NothingToDo(Exception):
    """Takes the new folder away again."""


@dataclass(slots=True)
class _Recovered:
    """All that is known once the sources were read."""

    place: DataLocation
    edition: Edition
    paging: PagingDirectory
    journal: KeptJournal
    bindings: KeptJournal
    jms: KeptJournal
    made: MadeBindings
    state: PagingState
    evidence: Evidence
    next_id: int
    steps: list[RecoveryStep]

    def rule(self, address: str | None, page: int) -> PageRule:
        """Of the pages that are written."""
        queues = self.made.bindings.queues
        mine = {number: queue for number, queue in queues.items() if queue.address == address}
        return PageRule(self.state.journal, mine, page)


def plan_recovery(
    place: DataLocation, declared: Sequence[QueueToName] = (), edition: Edition | None = None
) -> RecoveryPlan:
    """Reads everything, writes nothing. Raises ``NothingLeft``."""
    found = _read(place, declared, edition)
    tally = PageTally(found.rule, None)
    with TemporaryDirectory() as folder:
        salvaged = _salvage(found, Path(folder), tally)
    return _plan(found, salvaged, tally)


def recover(
    place: DataLocation, out: Path, declared: Sequence[QueueToName] = (), edition: Edition | None = None,
    held: Mapping[Path, int] | None = None, disk: Disk | None = None,
) -> RecoveryPlan:  # fmt: skip
    """Write a data directory below ``out``, whole or not at all. Where nothing is damaged nothing is written.

    ``held``: lock files that are held. Raises ``NothingLeft``, ``TargetRefused``, ``LinkRefused``, ``OSError``.
    """
    roots = roots_of(place)
    found = _read(place, declared, edition)
    try:
        with whole_folder(out, roots.values(), disk, like=next(iter(roots.values())).parent) as (folder, disk):
            tally = PageTally(found.rule, disk)
            disk.make_folder(folder / "paging")
            salvaged = _salvage(found, folder / "paging", tally)
            plan = _plan(found, salvaged, tally)
            if not plan.mends:
                raise _NothingToDo
            _write(found, plan, tally, folder, disk, held or {})
    except _NothingToDo:
        pass
    return plan


def _read(place: DataLocation, declared: Sequence[QueueToName], edition: Edition | None) -> _Recovered:
    if place.journal is None and place.bindings is None and place.paging is None:
        raise NothingLeft(
            f"{place.given}: no paging, journal or bindings folder; name the data directory or the instance"
        )
    steps: list[RecoveryStep] = []
    paging = read_paging(place.paging) if place.paging is not None else PagingDirectory(place.given, (), ())
    kept, journal, parts = _messages(place, steps)
    bindings_kept, bindings = readable_bindings(read_kept(place.bindings, Journal.BINDINGS))
    evidence = gather(_listed(paging), parts)
    largest = max(evidence.largest, _largest(kept.loaded), 0)
    living = _living_queues(journal)
    if not (kept.loaded.files or kept.cut or bindings_kept.loaded.files or evidence.queues or kept.faults):
        raise NothingLeft(f"{place.given}: no journal file, no bindings, no message in pages: nothing to recover from")
    if place.paging is None and _knows_pages(journal):
        what = "there are no pages, though the journal has records about some"
        lost = MessageRange(0, None)
        steps.append(RecoveryStep(DamagedPart.PAGES, "paging", what, "a folder without pages is made", lost))
    why = _bindings_fault(place, bindings_kept, bindings, evidence, largest, bool(living))
    edition = edition or _edition(place, bindings, journal, evidence)
    next_id = max(largest, _largest(bindings.loaded), bindings.id_counter or 0) + _AHEAD
    made = MadeBindings(bindings)
    if why is not None:
        if why[2]:
            bindings = emptied(bindings)
        sure = Counter[int]() if kept.damaged or kept.gone else living
        made = make_queues(bindings, evidence, sure, declared, edition, next_id)
        next_id += len(made.addresses)
        bindings.queues |= {each.binding.id: each.binding for each in made.made}
        bindings.addresses |= {each.id: each for each in made.addresses}
        steps.append(_made_step(why, made, evidence))
    if kept.gone and evidence.transactions:
        journal.page_transactions |= evidence.transactions
    state = PagingState(paging, KnownJournals(journal, bindings, None, None), same_addresses(paging))
    jms = read_kept(place.bindings, Journal.JMS)
    return _Recovered(place, edition, paging, kept, bindings_kept, jms, made, state, evidence, next_id, steps)


def _listed(paging: PagingDirectory) -> Iterator[Store]:
    return (store for store in paging.stores() if store.problem is None) if paging.listing else iter(())


def _largest(loaded: LoadedJournal) -> int:
    ids = loaded.columns.ids
    return max(max(ids, default=0), *(branch.tx for branch in loaded.prepared), 0)


def _edition(place: DataLocation, bindings: Bindings, journal: MessageJournal, evidence: Evidence) -> Edition:
    """By what was written; of two old ones by the names of files."""
    if evidence.layouts[Layout.OLD] > evidence.layouts[Layout.NEW] or (
        not evidence.layouts and next(journal.of_type(RecordType.ADD_MESSAGE), None) is not None
    ):
        return Edition.HORNETQ_2_4 if _prefix(place) == "hornetq" else Edition.ARTEMIS_1_5
    return likely_writer(bindings, journal) or NEWEST


def _prefix(place: DataLocation) -> str:
    folders = [folder for folder in (place.journal, place.bindings) if folder is not None]
    names = [name for folder in folders for name in folder_names(folder)]
    return "hornetq" if any(name.startswith("hornetq-") for name in names) else "activemq"


def _living_queues(journal: MessageJournal) -> Counter[int]:
    """Queue ids that records of the journal begin with."""
    found: Counter[int] = Counter()
    for kind in (*_REFERENCES, *_COUNTERS, RecordType.PAGE_CURSOR_COMPLETE):
        for _, body in journal.decoded(kind):
            found[getattr(body, "queue", 0)] += 1
    for index in (journal.ack_index, journal.complete_index):
        found.update(queue for queue, _ in index.pages())
    return found


def _knows_pages(journal: MessageJournal) -> bool:
    """It says of messages that they are, or were, in pages."""
    indexes = (journal.ack_index, journal.complete_index)
    if journal.page_transactions or any(True for index in indexes for _ in index.pages()):
        return True
    return any(counter.value + counter.increments or counter.pending for counter in counters(journal).values())


# --- the message journal


def _messages(place: DataLocation, steps: list[RecoveryStep]) -> tuple[KeptJournal, MessageJournal, JournalParts]:
    """What stays of it: not what cannot be read, or refers to nothing, and no counters."""
    kept = read_kept(place.journal, Journal.MESSAGES)
    steps += [RecoveryStep(DamagedPart.JOURNAL, each.file, each.what, each.action) for each in kept.faults]
    parts = _parts(kept)
    bad = set(_unreadable(parts))
    if bad:
        what = f"{count_text(len(bad), 'message')} cannot be read, and a broker may refuse to start"
        references = parts.messages.references
        waited = parts.messages.ids[references.message[~references.acked]]
        sure = len(bad & set(waited.tolist()))
        steps.append(RecoveryStep(DamagedPart.JOURNAL, "messages", what, "left out", MessageRange(sure, sure)))
    kept = _without(kept, {(number, kind) for number in bad for kind in MESSAGES})
    parts = _parts(kept)
    journal = parts.state.journal
    wrong = {(each.record, each.user_type) for each in _bad_records(journal)}
    if wrong:
        unsure = MessageRange(0, len(wrong))
        what = f"{count_text(len(wrong), 'record')} cannot be read, and a broker may refuse to start"
        steps.append(RecoveryStep(DamagedPart.JOURNAL, "records", what, "left out", unsure=unsure))
    kept = _without(kept, wrong)
    lost = {message for message, _ in parts.messages.lost} - bad
    if lost:
        what = f"{count_text(len(lost), 'message')} that queues refer to are not there"
        each = MessageRange(len(lost), len(lost))
        steps.append(RecoveryStep(DamagedPart.JOURNAL, "references", what, "the references are left out", each))
    bare = np.flatnonzero((np.diff(parts.messages.begins) == 0) & (parts.messages.tx == NO_TRANSACTION))
    if len(bare) and kept.damaged:
        what = f"{count_text(len(bare), 'message')} that no queue refers to any more"
        steps.append(RecoveryStep(DamagedPart.JOURNAL, "messages", what, "left out", MessageRange(0, len(bare))))
    kept = _without_dangling(kept, parts.messages.ids)
    for dropped in kept.loaded.dropped:
        if not dropped.open:
            what = f"transaction {dropped.tx}: {dropped.reason}"
            most = MessageRange(0, dropped.records)
            steps.append(RecoveryStep(DamagedPart.JOURNAL, "transactions", what, "left out, as a broker does", most))
    parts = _parts(kept)
    return kept, parts.state.journal, parts


def _parts(kept: KeptJournal) -> JournalParts:
    nowhere = PagingDirectory(Path(), (), ())
    journal = MessageJournal(kept.loaded)
    return JournalParts(PagingState(nowhere, KnownJournals(journal, None, None, None), {}), None)


def _unreadable(parts: JournalParts) -> Iterator[int]:
    """Ids of messages that cannot be read."""
    for part in parts.parts():
        if not isinstance(part, JournalPart):
            continue
        found = decode_page(PageBytes(part.page.content), 0, Detail.PROPERTIES)
        if not found.odd and found.cut is None:
            continue
        for number in part.origin.numbers:
            for one in parts.parts(np.array([number])):
                if isinstance(one, JournalPart) and not _reads(one):
                    yield int(parts.messages.ids[number])


def _reads(part: JournalPart) -> bool:
    with open_page(part.page) as page:
        for _, record in page.records():
            if isinstance(record, Damage):
                return False
            try:
                record.message.check()
            except Undecodable:
                return False
        return page.count == 1


def _bad_records(journal: MessageJournal) -> list[UnreadableRecord]:
    """All that have no sense, not those alone that matter to pages."""
    for kind in RecordType:
        if kind not in MESSAGES and kind is not RecordType.ACKNOWLEDGE_CURSOR:
            for _ in journal.decoded(kind):
                pass
    return list(journal.bad)


def _without(kept: KeptJournal, pairs: set[tuple[int, int]]) -> KeptJournal:
    """Without the records of these ids and types."""
    columns = kept.loaded.columns
    if not pairs:
        return kept
    return kept.of(row for row in kept.loaded.rows if (columns.ids[row], columns.types[row]) not in pairs)


def _without_dangling(kept: KeptJournal, messages: Ints) -> KeptJournal:
    """Without references to no message."""
    rows, types, ids = _survivors(kept.loaded)
    return kept.of(rows[~(np.isin(types, _REFERENCES) & ~np.isin(ids, messages))])


def _without_counters(kept: KeptJournal) -> KeptJournal:
    rows, types, _ = _survivors(kept.loaded)
    return kept.of(rows[~np.isin(types, _COUNTERS)])


def _survivors(loaded: LoadedJournal) -> tuple[Ints, Ints, Ints]:
    """Rows, types and ids."""
    rows = np.array(loaded.rows, np.int64)
    return rows, np.array(loaded.columns.types, np.int64)[rows], np.array(loaded.columns.ids, np.int64)[rows]


# --- bindings


def _bindings_fault(
    place: DataLocation, kept: KeptJournal, bindings: Bindings, evidence: Evidence, largest: int, living: bool
) -> tuple[str, str, bool] | None:
    """(file, what is wrong, whether nothing of it is of this broker). ``living``: the journal names queues."""
    waiting = living or any(each.address is not None for each in evidence.queues.values())
    if place.bindings is None:
        return ("bindings", "there are none", False) if waiting else None
    if foreign(bindings, evidence, largest):
        return "bindings", "they are of another broker: no queue that messages wait for is theirs", True
    if kept.faults:
        return kept.faults[0].file, kept.faults[0].what, False
    for stretch in (*kept.stretches, *kept.cut):
        return stretch.file, stretch.why, False
    if kept.gone and waiting:
        return "bindings", "there is no record in them", False
    return None


def _made_step(why: tuple[str, str, bool], made: MadeBindings, evidence: Evidence) -> RecoveryStep:
    action = (
        f"written anew: {count_text(len(made.bindings.queues) - len(made.made), 'queue')} as they were, "
        f"{count_text(len(made.made), 'queue')} from messages"
    )
    unsure = sum(evidence.queues[each].messages for each in made.passed_over)
    return RecoveryStep(DamagedPart.BINDINGS, why[0], why[1], action, unsure=MessageRange(0, unsure))


# --- pages, and what comes of it all


def _salvage(found: _Recovered, out: Path, disk: Disk) -> SalvagedDirectory:
    if found.place.paging is None:
        return SalvagedDirectory([], 0)
    return salvage_stores(found.place._replace(store=None, page=None), found.state, out, disk)


def _plan(found: _Recovered, salvaged: SalvagedDirectory, tally: PageTally) -> RecoveryPlan:
    steps = [_page_step(found, each) for each in salvaged.stores]
    steps += [
        RecoveryStep(DamagedPart.PAGES, "paging", remark, "stays as it is", mends=False) for remark in salvaged.remarks
    ]
    steps += _empty_steps(found.paging)
    due = _due(found)
    waiting = tally.outstanding.total() + due.total()
    steps += [*found.steps, *_journal_steps(found, tally, waiting), *_large_steps(found, tally)]
    order = list(DamagedPart)
    steps.sort(key=lambda step: order.index(step.part))
    sources = {each.binding.id: each for each in found.made.made}
    queues = tuple(
        QueuePlan(
            queue.address, queue.name, number, queue.routing, due[number], tally.outstanding[number],
            tally.in_doubt[number], sources[number].source if number in sources else NameSource.BINDINGS,
            sources[number].routing_known if number in sources else True,
        )
        for number, queue in sorted(found.made.bindings.queues.items())
    )  # fmt: skip
    aside = tuple(sorted(_orphans(found, tally)))
    return RecoveryPlan(found.edition, roots_of(found.place), tuple(steps), queues, found.made.passed_over, aside)


def _page_step(found: _Recovered, each: SalvagedStore) -> RecoveryStep:
    what = [f"damaged: {', '.join(each.damaged)}"] if each.damaged else []
    what += ["its address.txt names no address, or one that its messages are not for"] if each.readdressed else []
    what += [f"other folders have the same address: {', '.join(each.merged)}"] if each.merged else []
    action = f"{count_text(each.kept, 'message')} stay where they were, {each.rescued} go into new pages"
    fewest, most = each.lost
    cut = _cut_pages(read_store(found.paging.path / each.folder), each.losses)
    what += [f"how much was cut off of {', '.join(cut)} is not known"] if cut else []
    again = MessageRange(0, each.delivered_again)
    command = f"pagectl pages salvage {found.place.given} --out NEW"
    name = f"{each.folder} ({each.address})" if each.address is not None else each.folder
    return RecoveryStep(
        DamagedPart.PAGES,
        name,
        "; ".join([*what, *each.remarks]),
        action,
        MessageRange(fewest, None if cut else most),
        again,
        command=command,
    )


def _cut_pages(store: Store, losses: Sequence[Loss]) -> list[str]:
    """Pages that end in damage although brokers have written to others since: no crash has torn them."""
    sizes = {page.name: page.size for page in store.pages[:-1]}
    return sorted({loss.file for loss in losses if sizes.get(loss.file) == loss.end})


def _empty_steps(paging: PagingDirectory) -> Iterator[RecoveryStep]:
    for store in _listed(paging):
        empty = [page.name for page in store.pages[:-1] if not page.size]
        if empty:
            what = f"{', '.join(empty)}: nothing is in it, though pages were written behind it"
            yield RecoveryStep(
                DamagedPart.PAGES, store.name, what, "what was in it is not known", MessageRange(0, None), mends=False
            )


def _due(found: _Recovered) -> Counter[int]:
    """Messages of the journal by queue."""
    parts = JournalParts(found.state, None)
    references = parts.messages.references
    waiting = ~references.acked & ~references.held & (parts.messages.tx[references.message] == NO_TRANSACTION)
    queues, counts = np.unique(references.queue[waiting], return_counts=True)
    bound = found.made.bindings.queues
    return Counter({n: count for n, count in zip(queues.tolist(), counts.tolist(), strict=True) if n in bound})


def _journal_steps(found: _Recovered, tally: PageTally, waiting: int) -> Iterator[RecoveryStep]:
    kept, place = found.journal, found.place
    paged = tally.outstanding.total()
    if kept.gone and (paged or kept.damaged or not kept.loaded.files):
        what = "there is no journal" if not kept.loaded.files else "there is no record in it"
        action = "a new one is made, and all messages of pages are delivered, acknowledged or not, committed or not"
        yield RecoveryStep(
            DamagedPart.JOURNAL, "journal", what, action, MessageRange(0, None), unsure=MessageRange(0, paged)
        )
        return
    for stretch in (*kept.stretches, *kept.cut):
        size = stretch.end - stretch.start
        most = min(waiting, -(-size // ACKNOWLEDGEMENT) * max(tally.largest, 1))
        lost = None if stretch in kept.cut else size // _SMALLEST_MESSAGE
        yield RecoveryStep(
            DamagedPart.JOURNAL, stretch.file, stretch.why, "written anew without it",
            MessageRange(0, lost), unsure=MessageRange(0, most + tally.ignored),
            command=f"pagectl journal compact {place.given} --out NEW",
        )  # fmt: skip


def _named_large(found: _Recovered, tally: PageTally) -> dict[int, bool]:
    """Large messages → whether someone waits for them."""
    return {**tally.large, **dict.fromkeys(named_by_journal(found.state.journal), True)}


def _large_steps(found: _Recovered, tally: PageTally) -> Iterator[RecoveryStep]:
    named = _named_large(found, tally)
    folder = found.place.large_messages
    bodies = LargeMessages(folder) if folder is not None else None
    missing = sorted(number for number, waits in named.items() if waits and (bodies is None or not bodies.find(number)))
    if missing:
        first = f", the first is message {missing[0]}"
        yield RecoveryStep(
            DamagedPart.LARGE, "large-messages", f"{count_text(len(missing), 'body', 'bodies')} are not there{first}",
            "the messages are delivered without their bodies", mends=False,
        )  # fmt: skip


def _orphans(found: _Recovered, tally: PageTally) -> Iterator[str]:
    if found.place.large_messages is not None:
        named = _named_large(found, tally)
        for file in LargeMessages(found.place.large_messages).unsorted():
            if file.id is not None and file.id not in named and file.name.endswith(SUFFIXES):
                yield file.name


# --- writing


def _write(
    found: _Recovered, plan: RecoveryPlan, tally: PageTally, out: Path, disk: Disk, held: Mapping[Path, int]
) -> None:
    place, prefix = found.place, _prefix(found.place)
    if found.edition is Edition.HORNETQ_2_4 and place.journal is None:
        prefix = "hornetq"
    name = f"{prefix}-data-{{}}.{'hq' if prefix == 'hornetq' else 'amq'}"
    messages = list(_packed_files(_without_counters(found.journal).loaded, name))
    jms = list(_packed_files(found.jms.loaded, f"{prefix}-jms-{{}}.jms")) if found.jms.damaged else []
    records = list(_new_records(found, tally))
    counter = found.next_id + len(records) + _AHEAD
    _folder(place.journal, out / "journal", Journal.MESSAGES.value, messages, disk, held)
    write_journal(out / "journal", name, records, disk, first=len(messages) + 1)
    endings = Journal.BINDINGS.value + (Journal.JMS.value if jms else ())
    _folder(place.bindings, out / "bindings", endings, jms, disk, held)
    like = next((file.path for file in found.bindings.loaded.files), None)
    write_journal(out / "bindings", f"{prefix}-bindings-{{}}.bindings", found.made.records(counter), disk, like=like)
    _large(place, plan, out, disk, held)


def _packed_files(loaded: LoadedJournal, name: str) -> Iterator[NewJournalFile]:
    if loaded.files:
        new, like = packed(loaded), loaded.files[0].path
        for number in range(len(new.files)):
            yield NewJournalFile(name.format(number + 1), number + 1, like, number, new)


def _new_records(found: _Recovered, tally: PageTally) -> Iterator[JournalRecord]:
    """Page transactions where the journal is gone, and page counters."""
    bodies: list[tuple[RecordType, bytes]] = []
    if found.journal.gone:
        for tx, references in sorted(found.evidence.transactions.items()):
            bodies.append((RecordType.PAGE_TRANSACTION, encode_body(PageTransaction(tx, references))))
    for number in sorted(found.made.bindings.queues):
        count = tally.counted[number]
        if count or (number in found.evidence.queues and found.evidence.queues[number].stores):
            size = None if found.edition <= Edition.ARTEMIS_2_4 else tally.bytes[number]
            bodies.append((RecordType.PAGE_CURSOR_COUNTER_VALUE, encode_body(CounterValue(number, count, size))))
    for n, (kind, body) in enumerate(bodies):
        yield JournalRecord(RecordKind.ADD, found.next_id + n, 0, int(kind), body)


def _folder(
    root: Path | None,
    to: Path,
    endings: tuple[str, ...],
    made: Sequence[NewJournalFile],
    disk: Disk,
    held: Mapping[Path, int],
) -> None:
    """A journal folder: its other files as they are, without what compactions left."""
    if root is None:
        disk.make_folder(to)
        return
    left = (*endings, ".ctr", ".cmp", ".tmp", ".bkp")
    gone = {path.absolute(): None for path in root.iterdir() if path.name.endswith(left)}
    copy_root(root.absolute(), to, gone, made, disk, held)


def _large(place: DataLocation, plan: RecoveryPlan, out: Path, disk: Disk, held: Mapping[Path, int]) -> None:
    root = place.large_messages
    if root is None:
        disk.make_folder(out / "large-messages")
        return
    names = set(plan.aside)
    aside = {path.absolute(): None for path in root.iterdir() if path.name in names}
    copy_root(root.absolute(), out / "large-messages", aside, (), disk, held)
    if aside:
        rest = {path.absolute(): None for path in root.iterdir() if path.name not in names}
        copy_root(root.absolute(), out / ASIDE / "large-messages", rest, (), disk, held)
