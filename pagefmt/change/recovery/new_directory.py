"""Journals, bindings and large messages of the new directory (docs/spec/journal.md 8.7).

Page counters are written anew, because brokers up to 2.27 rely on them (7.4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from pagefmt.change.compaction.copy_out import copy_root
from pagefmt.change.compaction.journals import NewJournalFile
from pagefmt.change.recovery.counting import PageTally
from pagefmt.change.recovery.kept_messages import ASIDE, unfinished_files, without_counters, without_gone_pages
from pagefmt.change.recovery.plan import RecoveryPlan
from pagefmt.change.recovery.sources import AHEAD, RecoverySources, name_prefix
from pagefmt.directory.locate import DataLocation
from pagefmt.editions import Edition
from pagefmt.journal.bodies import CounterValue, PageTransaction, encode_body
from pagefmt.journal.files import Journal
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.packing import packed
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import write_journal
from pagefmt.storage.writing import Disk


def write_rest(
    sources: RecoverySources,
    plan: RecoveryPlan,
    tally: PageTally,
    new: Mapping[str, Path],
    disk: Disk,
    held: Mapping[Path, int],
) -> None:
    """Write everything except the pages. ``tally`` has counted them; ``new`` maps names to the new directories."""
    place, prefix = sources.place, name_prefix(sources.place, sources.edition)
    name = f"{prefix}-data-{{}}.{'hq' if prefix == 'hornetq' else 'amq'}"
    kept, queues = without_counters(sources.journal), sources.made.bindings.queues
    if sources.edition <= Edition.HORNETQ_2_4:
        kept = without_gone_pages(
            kept, lambda queue, page: queue not in queues or (queues[queue].address, page) in tally.pages
        )
    messages = list(_packed_files(kept.loaded, name))
    jms = list(_packed_files(sources.jms.loaded, f"{prefix}-jms-{{}}.jms")) if sources.jms.damaged else []
    records = list(_new_records(sources, tally))
    counter = sources.next_id + len(records) + AHEAD
    _folder(place.journal, new["journal"], Journal.MESSAGES.value, messages, disk, held)
    write_journal(new["journal"], name, records, disk, first=len(messages) + 1)
    endings = Journal.BINDINGS.value + (Journal.JMS.value if jms else ())
    _folder(place.bindings, new["bindings"], endings, jms, disk, held)
    like = next((file.path for file in sources.bindings.loaded.files), None)
    write_journal(new["bindings"], f"{prefix}-bindings-{{}}.bindings", sources.made.records(counter), disk, like=like)
    _large(place, plan, new["large-messages"], disk, held)
    if place.journal is not None:
        _aside(place.journal, unfinished_files(place), new["journal"], disk, held)


def _packed_files(loaded: LoadedJournal, name: str) -> Iterator[NewJournalFile]:
    if loaded.files:
        new, like = packed(loaded), loaded.files[0].path
        for number in range(len(new.files)):
            yield NewJournalFile(name.format(number + 1), number + 1, like, number, new)


def _new_records(sources: RecoverySources, tally: PageTally) -> Iterator[JournalRecord]:
    """Yield page transactions if the journal is gone, and page counters."""
    bodies: list[tuple[RecordType, bytes]] = []
    if sources.journal.gone:
        for tx, references in sorted(sources.evidence.transactions.items()):
            bodies.append((RecordType.PAGE_TRANSACTION, encode_body(PageTransaction(tx, references))))
    for number in sorted(sources.made.bindings.queues):
        count = tally.counted[number]
        if count or (number in sources.evidence.queues and sources.evidence.queues[number].stores):
            size = None if sources.edition <= Edition.ARTEMIS_2_4 else tally.bytes[number]
            bodies.append((RecordType.PAGE_CURSOR_COUNTER_VALUE, encode_body(CounterValue(number, count, size))))
    for n, (kind, body) in enumerate(bodies):
        yield JournalRecord(RecordKind.ADD, sources.next_id + n, 0, int(kind), body)


def _folder(
    root: Path | None,
    to: Path,
    endings: tuple[str, ...],
    new_files: Sequence[NewJournalFile],
    disk: Disk,
    held: Mapping[Path, int],
) -> None:
    """Copy a journal folder with ``new_files`` in place of its journal files and of what compactions left."""
    if root is None:
        disk.make_folder(to)
        return
    endings_left_out = (*endings, ".ctr", ".cmp", ".tmp", ".bkp")
    gone = {path.absolute(): None for path in root.iterdir() if path.name.endswith(endings_left_out)}
    copy_root(root.absolute(), to, gone, new_files, disk, held)


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
