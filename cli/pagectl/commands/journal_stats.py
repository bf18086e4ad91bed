"""``journal stats``: what the journals consist of, and what keeps their oldest file."""

from __future__ import annotations

from pagectl.opening.broker import Alone, located
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.journal_records import ZoneOption, zone_of
from pagectl.options.shared import DirArgument, TextOrJsonOption
from pagectl.outputs.journal_statistics import print_statistics, statistics_of
from pagectl.running.exits import CallError, Exit
from pagectl.terminal.streams import print_json

EXAMPLES = (
    ("What fills the journal, and which queue keeps its oldest file", "journal stats /var/lib/broker"),
    ("The records of a retention folder", "journal stats /var/lib/broker/history --timezone Europe/Berlin"),
)


def command(
    directory: DirArgument = None,
    timezone: ZoneOption = None,
    form: TextOrJsonOption = TextOrJson.text,
    broker: BrokerOptions = BrokerOptions(),
) -> int:
    """Count the records of the journals by type, and messages by queue, and say what keeps the oldest file.

    A broker cannot reuse a journal file while a record in it is live, nor any later file. Records have no time: the
    files of a retention folder are named by the time of their copy, so their records are older than that, and newer
    than the copy before unless a transaction or compaction kept them. Ends with status 1 if a file is damaged or cannot
    be read.
    """
    from pagefmt.change.compaction.journals import read_journals

    place = located(directory, broker, alone=Alone.ALL)
    journals = read_journals(place)
    if not journals:
        raise CallError(f"{place.given}: no journal and no bindings; name the data directory or the instance")
    statistics = statistics_of(place, journals, zone_of(timezone))
    if form is TextOrJson.json:
        print_json(statistics)
    else:
        print_statistics(statistics)
    return Exit.FOUND if any(journal.loaded.damage for journal in journals) else Exit.OK
