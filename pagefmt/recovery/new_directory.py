"""Journals, bindings and large messages of the new directory (docs/spec/journal.md 8.7).

Page counters are made anew: brokers up to 2.27 go by them (7.4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from pagefmt.bytes.writing import Disk
from pagefmt.compaction.copy_out import copy_root
from pagefmt.compaction.journals import NewJournalFile
from pagefmt.directory.locate import DataLocation
from pagefmt.editions import Edition
from pagefmt.journal.bodies import CounterValue, PageTransaction, encode_body
from pagefmt.journal.files import Journal
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.packing import packed
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.recovery.counting import PageTally
from pagefmt.recovery.kept_messages import ASIDE, unfinished_files, without_counters, without_gone_pages
from pagefmt.recovery.plan import RecoveryPlan
from pagefmt.recovery.sources import AHEAD, RecoverySources, name_prefix


def write_rest(
    found: RecoverySources,
    plan: RecoveryPlan,
    tally: PageTally,
    new: Mapping[str, Path],
    disk: Disk,
    held: Mapping[Path, int],
) -> None:
    """Write all but the pages, which ``tally`` has counted. ``new``: the directories."""
    place, prefix = found.place, name_prefix(found.place, found.edition)
    name = f"{prefix}-data-{{}}.{'hq' if prefix == 'hornetq' else 'amq'}"
    kept, queues = without_counters(found.journal), found.made.bindings.queues
    if found.edition <= Edition.HORNETQ_2_4:
        kept = without_gone_pages(
            kept, lambda queue, page: queue not in queues or (queues[queue].address, page) in tally.pages
        )
    messages = list(_packed_files(kept.loaded, name))
    jms = list(_packed_files(found.jms.loaded, f"{prefix}-jms-{{}}.jms")) if found.jms.damaged else []
    records = list(_new_records(found, tally))
    counter = found.next_id + len(records) + AHEAD
    _folder(place.journal, new["journal"], Journal.MESSAGES.value, messages, disk, held)
    write_journal(new["journal"], name, records, disk, first=len(messages) + 1)
    endings = Journal.BINDINGS.value + (Journal.JMS.value if jms else ())
    _folder(place.bindings, new["bindings"], endings, jms, disk, held)
    like = next((file.path for file in found.bindings.loaded.files), None)
    write_journal(new["bindings"], f"{prefix}-bindings-{{}}.bindings", found.made.records(counter), disk, like=like)
    _large(place, plan, new["large-messages"], disk, held)
    if place.journal is not None:
        _aside(place.journal, unfinished_files(place), new["journal"], disk, held)


def _packed_files(loaded: LoadedJournal, name: str) -> Iterator[NewJournalFile]:
    if loaded.files:
        new, like = packed(loaded), loaded.files[0].path
        for number in range(len(new.files)):
            yield NewJournalFile(name.format(number + 1), number + 1, like, number, new)


def _new_records(found: RecoverySources, tally: PageTally) -> Iterator[JournalRecord]:
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


def _large(place: DataLocation, plan: RecoveryPlan, to: Path, disk: Disk, held: Mapping[Path, int]) -> None:
    root = place.large_messages
    if root is None:
        disk.make_folder(to)
        return
    names = set(plan.aside)
    copy_root(root.absolute(), to, _left_out(root, {*names, *plan.unreadable}), (), disk, held)
    _aside(root, names, to, disk, held)


def _left_out(root: Path, names: Collection[str]) -> dict[Path, None]:
    return {path.absolute(): None for path in root.iterdir() if path.name in names}


def _aside(root: Path, names: Collection[str], to: Path, disk: Disk, held: Mapping[Path, int]) -> None:
    """Beside the new directory ``to``."""
    if names:
        to = to.parent / ASIDE / to.name
        others = {path.name for path in root.iterdir()} - set(names)
        copy_root(root.absolute(), to, _left_out(root, others), (), disk, held)
