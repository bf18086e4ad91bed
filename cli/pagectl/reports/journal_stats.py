"""The answer of ``journal stats``."""

from __future__ import annotations

from pagectl.reports.form import Count, Report
from pagectl.reports.journal import JournalName
from pagectl.reports.listing import COUNT, SIZE, RowListing, TableColumn


class JournalFileTimes(Report):
    """A file of a journal with its records. Counts are null if it cannot be read."""

    journal: JournalName
    file: str
    id: int | None
    size: Count
    records: Count | None
    live: Count | None
    not_before: str | None
    """A second before the time of the copy before, from its name: all records are newer."""
    not_after: str | None
    """Time of the copy in a retention folder, from the name of the file, to the next second: all records are older."""


class RecordTypeCount(Report):
    """Records of one kind and type in all files of a journal."""

    journal: JournalName
    kind: str
    type: str | None
    """Null for kinds that have none, such as COMMIT."""
    records: Count
    bytes: Count
    live: Count
    """How many of them a broker loads at its start."""


class WaitingMessages(Report):
    """Messages in the journal that wait for a queue."""

    queue: str
    """Its id if there are no bindings."""
    id: int
    references: Count
    bytes: Count


class HeldRecords(Report):
    """Live records of one type, about the same queues, in the oldest file."""

    type: str
    queues: list[str]
    records: Count
    first: int
    """Id of the first record, which is that of the message for records about messages."""


class OldestJournalFile(Report):
    """The oldest file with live records, which a broker therefore cannot reuse."""

    file: str
    live: Count
    held_by: list[HeldRecords]


class JournalStatistics(Report):
    """``journal stats --format json``."""

    files: list[JournalFileTimes]
    records: list[RecordTypeCount]
    queues: list[WaitingMessages]
    oldest: OldestJournalFile | None
    """Of the message journal; null if it has no live record or is not there."""
    timezone: str | None
    """The zone in which times in file names were read; null if no name has one."""


RECORDS = RowListing(
    "records",
    RecordTypeCount,
    (
        TableColumn("journal", "JOURNAL", only_if_varied=True),
        TableColumn("kind", "KIND"),
        TableColumn("type", "TYPE", null=""),
        TableColumn("records", "RECORDS", COUNT),
        TableColumn("live", "LIVE", COUNT),
        TableColumn("bytes", "BYTES", SIZE),
    ),
)
FILES = RowListing(
    "files",
    JournalFileTimes,
    (
        TableColumn("file", "FILE"),
        TableColumn("records", "RECORDS", COUNT),
        TableColumn("live", "LIVE", COUNT),
        TableColumn("not_before", "NOT BEFORE"),
        TableColumn("not_after", "NOT AFTER"),
    ),
)
QUEUES = RowListing(
    "queues",
    WaitingMessages,
    (TableColumn("queue", "QUEUE"), TableColumn("references", "MESSAGES", COUNT), TableColumn("bytes", "BYTES", SIZE)),
)
ANSWERS = {"journal-stats": JournalStatistics}
