"""``journal ls``: one row per file of the journals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.opening.broker import Alone, located
from pagectl.options.groups import BrokerOptions, ListOptions
from pagectl.options.shared import DirArgument
from pagectl.reports.journal import FILES, JournalFileContent, JournalSums
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import say
from pagefmt.quantities import size_text

if TYPE_CHECKING:
    from pagefmt.directory.locate import DataLocation

EXAMPLES = (
    ("What is in the journal files, and how much of it is live", "journal ls /var/lib/broker"),
    ("The files with the most dead bytes", "journal ls /var/lib/broker --sort dead_bytes --limit 10"),
)


def command(
    directory: DirArgument = None, listed: ListOptions = ListOptions(), broker: BrokerOptions = BrokerOptions()
) -> int:
    """List the files of message journal, bindings and JMS journal: records, live records, condition.

    JSON also has the sums of each journal; JSON Lines do not if --columns chooses columns of the files. Ends with
    status 1 if a condition is worse than a remark.
    """
    from pagefmt.change.compaction.journals import freeable, read_journals
    from pagefmt.directory.locks import running_broker
    from pagefmt.journal.overview import journal_overview

    view = FILES.view(listed)
    place = located(directory, broker, alone=Alone.ALL)
    live = running_broker(place.journal) is not None
    journals = [(journal, list(journal_overview(journal.loaded, live=live))) for journal in read_journals(place)]
    if not journals:
        raise CallError(f"{place.given}: no journal and no bindings; name the data directory or the instance")
    alone = place.kind.is_journal  # no compaction replaces journal files by themselves
    sums = [JournalSums.of(journal, rows, None if alone else freeable(journal)) for journal, rows in journals]
    files = list(view.chosen(JournalFileContent.of(journal, row) for journal, rows in journals for row in rows))
    view.write(files, {"journals": sums})
    if view.as_text:
        _closing_lines(files, sums, place)
    return Exit.OK if all(row.sound for _, rows in journals for row in rows) else Exit.FOUND


def _closing_lines(files: list[JournalFileContent], sums: list[JournalSums], place: DataLocation) -> None:
    for journal in sums:
        free = "?" if journal.freeable is None else size_text(journal.freeable)
        records = f"{journal.live_records} of {journal.records} records are live"
        frees = "" if place.kind.is_journal else f"; {place.call('journal compact')} frees {free}"
        say(f"{journal.journal}: {size_text(journal.bytes)}, {records}{frees}")
    for file in files:
        for remark in file.remarks:
            say(f"{file.file}: {remark}")
