"""What stays of a message journal: not what cannot be read or refers to nothing, and what is lost with it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.change.recovery.kept_journal import RetainedJournal, read_kept
from pagefmt.change.recovery.message_outcomes import MessageOutcomes, RecoveryOutcome
from pagefmt.change.recovery.plan import DamagedPart, MessageRange, RecoveryStep
from pagefmt.change.salvage.segments import broker_decodes
from pagefmt.codec.pages.page import open_page
from pagefmt.describe.arrow_schema import Detail
from pagefmt.directory.counters import counters
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.paging import PagingDirectory
from pagefmt.journal.bodies import CursorAck, decode_body
from pagefmt.journal.compaction_files import CONTROL_FILE, UNFINISHED, read_control
from pagefmt.journal.files import Journal, folder_names
from pagefmt.journal.held_messages import NO_TRANSACTION, astray
from pagefmt.journal.load import LoadedJournal, MisplacedRecords, UnreadableRecord
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.record_types import BINDINGS, EVERY, MESSAGES, RecordType
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.loaded_journals import KnownJournals
from pagefmt.outstanding.state import PagingState
from pagefmt.quantities import count_text
from pagefmt.vectors import PageBytes, decode_page

ASIDE: Final = "aside"  # folder of a new directory for files that brokers delete or do not read
_COUNTERS: Final = (
    RecordType.PAGE_CURSOR_COUNTER_VALUE, RecordType.PAGE_CURSOR_COUNTER_INC, RecordType.PAGE_CURSOR_PENDING_COUNTER,
)  # fmt: skip
_REFERENCES: Final = (
    RecordType.ADD_REF, RecordType.ACKNOWLEDGE_REF, RecordType.UPDATE_DELIVERY_COUNT,
    RecordType.SET_SCHEDULED_DELIVERY_TIME,
)  # fmt: skip


def living_queues(journal: MessageJournal) -> Counter[int]:
    """Return the number of journal records for each queue id."""
    records: Counter[int] = Counter()
    for kind in (*_REFERENCES, *_COUNTERS, RecordType.PAGE_CURSOR_COMPLETE):
        for _, body in journal.decoded(kind):
            records[getattr(body, "queue", 0)] += 1
    for index in (journal.ack_index, journal.complete_index):
        records.update(queue for queue, _ in index.pages())
    return records


def knows_pages(journal: MessageJournal) -> bool:
    """Return whether the journal shows that messages are, or were, in pages."""
    indexes = (journal.ack_index, journal.complete_index)
    if journal.page_transactions or any(True for index in indexes for _ in index.pages()):
        return True
    return any(counter.value + counter.increments or counter.pending for counter in counters(journal).values())


def kept_messages(
    place: DataLocation, steps: list[RecoveryStep], outcomes: MessageOutcomes
) -> tuple[RetainedJournal, MessageJournal, JournalParts]:
    """Return what remains of the message journal: without unreadable records, dangling references and counters.

    Appends to ``steps`` and ``outcomes`` what is left out, and what becomes of the messages.
    """
    kept = read_kept(place.journal, Journal.MESSAGES)
    steps += [RecoveryStep(DamagedPart.JOURNAL, entry.file, entry.what, entry.action) for entry in kept.faults]
    steps += _broken_compaction(place)
    parts = _parts(kept)
    bad = set(_unreadable(parts))
    if bad:
        what = f"{count_text(len(bad), 'message')} cannot be read, and a broker may refuse to start"
        references = parts.messages.references
        of_bad = ~references.acked & np.isin(parts.messages.ids, list(bad))[references.message]
        waited = parts.messages.ids[references.message[of_bad]]
        sure = len(np.unique(waited))
        pairs = zip(waited.tolist(), references.queue[of_bad].tolist(), strict=True)
        outcomes.add(RecoveryOutcome.LOST, "messages", "it cannot be read", pairs, sure=True)
        steps.append(RecoveryStep(DamagedPart.JOURNAL, "messages", what, "left out", MessageRange(sure, sure)))
    kept = _without(kept, {(number, kind) for number in bad for kind in MESSAGES})
    misplaced = kept.loaded.misplaced(EVERY - BINDINGS)
    kept = kept.without(misplaced.rows) if misplaced else kept
    parts = _parts(kept)
    journal = parts.state.journal
    wrong = {(entry.record, entry.user_type) for entry in _bad_records(journal)}
    if wrong:
        unsure = MessageRange(0, len(wrong))
        what = f"{count_text(len(wrong), 'record')} cannot be read, and a broker may refuse to start"
        named = sorted(record for record, kind in wrong if kind in _REFERENCES)
        outcomes.add(
            RecoveryOutcome.UNSURE, "records", "a record about it cannot be read", ((entry, None) for entry in named)
        )
        nameless = "records about pages do not show which message they concern"
        steps.append(
            RecoveryStep(
                DamagedPart.JOURNAL,
                "records",
                what,
                "left out",
                unsure=unsure,
                nameless=nameless if len(named) < len(wrong) else None,
            )
        )
    kept = _without(kept, wrong)
    waiting = [pair for pair in _without_message(parts) if pair[0] not in bad]
    missing = {message for message, _ in parts.messages.lost} - bad
    if misplaced:
        steps.append(_misplaced_step(misplaced, {message for message, _ in waiting}, missing, outcomes))
    if missing:
        lost = len({message for message, _ in waiting} - (misplaced.ids if misplaced else frozenset()))
        what = f"{count_text(len(missing), 'message')} that queues refer to are missing"
        outcomes.add(RecoveryOutcome.LOST, "references", "a queue refers to it, but it is missing", waiting, sure=True)
        entry = MessageRange(lost, lost)
        steps.append(RecoveryStep(DamagedPart.JOURNAL, "references", what, "the references are left out", entry))
    bare = np.flatnonzero((np.diff(parts.messages.begins) == 0) & (parts.messages.tx == NO_TRANSACTION))
    if len(bare) and kept.damaged:
        what = f"{count_text(len(bare), 'message')} that no queue refers to any more"
        alone = ((message, None) for message in parts.messages.ids[bare].tolist())
        outcomes.add(RecoveryOutcome.LOST, "messages", "no queue refers to it: the references may be lost", alone)
        steps.append(RecoveryStep(DamagedPart.JOURNAL, "messages", what, "left out", MessageRange(0, len(bare))))
    kept = _without_dangling(kept, parts.messages.ids)
    for dropped in kept.loaded.dropped:
        if not dropped.open:
            what = f"transaction {dropped.tx}: {dropped.reason}"
            most = MessageRange(0, dropped.records)
            action, nameless = "left out, as a broker does", "nothing is kept of an incomplete transaction"
            steps.append(RecoveryStep(DamagedPart.JOURNAL, "transactions", what, action, most, nameless=nameless))
    parts = _parts(kept)
    return kept, parts.state.journal, parts


def _misplaced_step(
    misplaced: MisplacedRecords, waiting: set[int], missing: set[int], outcomes: MessageOutcomes
) -> RecoveryStep:
    """Return the step that leaves out records of types that belong elsewhere; brokers up to 2.44 do not start on them.

    ``missing``: messages that references name and that do not exist; queues still wait for those in ``waiting``. A
    record of an unknown type outside both may have been a message, or an acknowledgement of a whole page.
    """
    unreferenced = sorted(misplaced.ids - missing)
    why = "its record has an unknown type"
    outcomes.add(RecoveryOutcome.LOST, "records", why, [(record, None) for record in unreferenced])
    sure = len(waiting & misplaced.ids)
    return RecoveryStep(
        DamagedPart.JOURNAL,
        "records",
        misplaced.text,
        "left out, because a broker may refuse to start",
        MessageRange(sure, sure + len(unreferenced)),
        unsure=MessageRange(0, None if unreferenced else 0),
        nameless="a record of an unknown type may be an acknowledgement" if unreferenced else None,
    )


def _without_message(parts: JournalParts) -> list[tuple[int, int]]:
    """Message and queue of references to messages that are not there, and that are not acknowledged."""
    acked = {
        pair
        for kind, messages, queues in astray(parts.state.journal.loaded, parts.messages)
        if kind is RecordType.ACKNOWLEDGE_REF
        for pair in zip(messages.tolist(), queues.tolist(), strict=True)
    }
    return [pair for pair in parts.messages.lost if pair not in acked]


def unfinished_files(place: DataLocation) -> list[str]:
    """Return names of files that a broken compaction left; they repeat what others contained and are not needed."""
    names = folder_names(place.journal) if place.journal is not None else {}
    if CONTROL_FILE not in names or read_control(names[CONTROL_FILE]) is not None:
        return []
    return [name for name, path in names.items() if name.endswith(UNFINISHED) and path.is_file()]


def _broken_compaction(place: DataLocation) -> Iterator[RecoveryStep]:
    left = unfinished_files(place)
    if left:
        what = f"contains no valid record, and the files that a compaction wrote are not used: {', '.join(left)}"
        action = f"read without these; they are moved to {ASIDE}, because brokers delete them at start"
        nameless = "they are not read"
        yield RecoveryStep(DamagedPart.JOURNAL, CONTROL_FILE, what, action, MessageRange(0, None), nameless=nameless)


def _parts(kept: RetainedJournal) -> JournalParts:
    nowhere = PagingDirectory(Path(), (), ())
    journal = MessageJournal(kept.loaded)
    return JournalParts(PagingState(nowhere, KnownJournals(journal, None, None, None), {}), None)


def _unreadable(parts: JournalParts) -> Iterator[int]:
    """Yield the ids of messages that cannot be read."""
    for part in parts.parts():
        if not isinstance(part, JournalPart):
            continue
        decoded = decode_page(PageBytes(part.page.content), 0, Detail.PROPERTIES)
        if not decoded.odd and decoded.cut is None:
            continue
        for number in part.origin.numbers:
            for single in parts.parts(np.array([number])):
                if isinstance(single, JournalPart) and not _reads(single):
                    yield int(parts.messages.ids[number])


def _reads(part: JournalPart) -> bool:
    """Return whether a broker reads and delivers the one message of a part."""
    with open_page(part.page) as page:
        readable = [broker_decodes(page.buf, route[1], route[2], page.layout()) for route in page.routes()]
        return readable == [True] and page.damage is None


def _bad_records(journal: MessageJournal) -> list[UnreadableRecord]:
    """Return all records that no broker reads, also those that do not concern pages."""
    for kind in RecordType:
        if kind not in MESSAGES and kind is not RecordType.ACKNOWLEDGE_CURSOR:
            for _ in journal.decoded(kind):
                pass
    return [record for record in journal.bad if not record.longer]


def _without(kept: RetainedJournal, pairs: set[tuple[int, int]]) -> RetainedJournal:
    """Without the records of these ids and types."""
    columns = kept.loaded.columns
    if not pairs:
        return kept
    return kept.of(row for row in kept.loaded.rows if (columns.ids[row], columns.types[row]) not in pairs)


def _without_dangling(kept: RetainedJournal, messages: Ints) -> RetainedJournal:
    """Without references to no message."""
    rows, types, ids = _survivors(kept.loaded)
    return kept.of(rows[~(np.isin(types, _REFERENCES) & ~np.isin(ids, messages))])


def without_counters(kept: RetainedJournal) -> RetainedJournal:
    """Without what is counted anew."""
    rows, types, _ = _survivors(kept.loaded)
    return kept.of(rows[~np.isin(types, _COUNTERS)])


def without_gone_pages(kept: RetainedJournal, is_there: Callable[[int, int], bool]) -> RetainedJournal:
    """Return the journal without acknowledgements of prepared transactions in missing pages.

    HornetQ 2.3 does not start on them (docs/spec/journal.md 7.5). ``is_there`` is asked with queue id and page number.
    """
    columns = kept.loaded.columns

    def stays(row: int) -> bool:
        if columns.types[row] != RecordType.ACKNOWLEDGE_CURSOR:
            return True
        body = decode_body(columns.types[row], columns.body(row))
        return not isinstance(body, CursorAck) or is_there(body.queue, body.page)

    prepared = tuple(branch._replace(rows=array("q", filter(stays, branch.rows))) for branch in kept.loaded.prepared)
    return replace(kept, loaded=replace(kept.loaded, prepared=prepared))


def _survivors(loaded: LoadedJournal) -> tuple[Ints, Ints, Ints]:
    """Return rows, types and ids of the live records."""
    rows = loaded.rows.every()
    return rows, loaded.columns.types.at(rows), loaded.columns.ids.at(rows)
