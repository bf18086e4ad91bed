"""Statistics of journals: the report, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pagectl.options.groups import ListOptions
from pagectl.reports.journal import journal_name
from pagectl.reports.journal_stats import (
    FILES,
    QUEUES,
    RECORDS,
    HeldRecords,
    JournalFileTimes,
    JournalStatistics,
    OldestJournalFile,
    RecordTypeCount,
    WaitingMessages,
)
from pagectl.terminal.streams import say, warning
from pagefmt.findings import some
from pagefmt.journal.files import Journal
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from datetime import tzinfo

    from pagefmt.change.compaction.journals import JournalFiles
    from pagefmt.directory.locate import DataLocation

MOST_HOLDERS = 10  # lines of text about the oldest file


def statistics_of(place: DataLocation, journals: Sequence[JournalFiles], zone: tzinfo | None) -> JournalStatistics:
    """Return the statistics of all journals. ``zone``: of times in file names, None for that of this machine."""
    from pagefmt.directory.bindings import Bindings
    from pagefmt.journal.held_messages import journal_messages
    from pagefmt.journal.statistics import oldest_file, queue_counts, type_counts
    from pagefmt.outstanding.loaded_journals import load_names

    loaded = next((journal.loaded for journal in journals if journal.journal is Journal.BINDINGS), None)
    bindings = load_names(place).bindings if loaded is None else Bindings(loaded)
    names = {} if bindings is None else {number: queue.name for number, queue in bindings.queues.items()}

    def name_of(queue: int) -> str:
        return names.get(queue, str(queue))

    files: list[JournalFileTimes] = []
    records: list[RecordTypeCount] = []
    queues: list[WaitingMessages] = []
    oldest: OldestJournalFile | None = None
    for journal in journals:
        name = journal_name(journal)
        files += _files(journal, zone)
        records += [
            RecordTypeCount(
                journal=name, kind=row.kind.name, type=row.type, records=row.records, bytes=row.bytes, live=row.live
            )
            for row in type_counts(journal.loaded)
        ]
        if journal.journal is Journal.MESSAGES:
            messages = journal_messages(journal.loaded)
            queues = [
                WaitingMessages(queue=name_of(row.queue), id=row.queue, references=row.references, bytes=row.bytes)
                for row in queue_counts(messages)
            ]
            held = oldest_file(journal.loaded, messages)
            oldest = held and OldestJournalFile(
                file=held.file.name,
                live=held.live,
                held_by=[
                    HeldRecords(type=row.type, queues=[*map(name_of, row.queues)], records=row.records, first=row.first)
                    for row in held.holders
                ],
            )
    named = any(row.not_after is not None for row in files)
    return JournalStatistics(
        files=files, records=records, queues=queues, oldest=oldest, timezone=_zone_name(zone) if named else None
    )


def _files(journal: JournalFiles, zone: tzinfo | None) -> Iterator[JournalFileTimes]:
    from pagefmt.history.files import brackets
    from pagefmt.journal.files import FileProblem
    from pagefmt.journal.overview import journal_overview
    from pagefmt.journal.retained import copy_times

    # the records of a copy are in the file that it is a copy of
    rows = [row for row in journal_overview(journal.loaded) if row.conditions != (FileProblem.COPY.value,)]
    times = brackets([row.name for row in rows], copy_times(journal.loaded.files, zone))
    for row, (earliest, latest) in zip(rows, times, strict=True):
        yield JournalFileTimes(
            not_before=None if earliest is None else earliest.isoformat(),
            not_after=None if latest is None else latest.isoformat(),
            file=row.name,
            id=row.id,
            journal=journal_name(journal),
            size=row.size,
            live=row.live,
            records=row.records,
        )


def _zone_name(zone: tzinfo | None) -> str:
    from datetime import datetime

    return str(zone) if zone is not None else f"{datetime.now().astimezone().tzname()}, that of this machine"


def print_statistics(statistics: JournalStatistics) -> None:
    """Print tables of records, messages by queue and retained files, and what keeps the oldest file."""
    RECORDS.view(ListOptions()).show(statistics.records)
    if statistics.queues:
        say("")
        QUEUES.view(ListOptions()).show(statistics.queues)
    if statistics.timezone is not None:
        say("")
        FILES.view(ListOptions()).show(statistics.files)
        say(f"times are those of the copies, from the names of the files, in {statistics.timezone}")
    unread = [row.file for row in statistics.files if row.records is None]
    for file in unread:
        warning(f"{file}: not read; 'pagectl journal verify' says why")
    oldest = statistics.oldest
    if oldest is None:
        return
    say("")
    among = " of those that were read" if unread else ""
    say(f"the oldest file with live records{among} is {oldest.file}, kept by {count_text(oldest.live, 'record')}:")
    for held in oldest.held_by[:MOST_HOLDERS]:
        queues = f", of {some(held.queues)}" if held.queues else ""
        say(f"  {held.records} {held.type}, the first is of {held.first}{queues}")
    if len(oldest.held_by) > MOST_HOLDERS:
        say(f"  and {count_text(len(oldest.held_by) - MOST_HOLDERS, 'other group')}; --format json has all")
